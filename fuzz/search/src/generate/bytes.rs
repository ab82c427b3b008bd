//! Decodes bytes as requests, and encodes requests as bytes.
//!
//! The first byte says how to read the others. If it is even, the request is encoded *literally*, so that any
//! case can be a seed of a corpus and a small change of the bytes is a small change of the request. If it is
//! odd, the request is *drawn*: each choice of [`request`] takes as many bytes as it needs. With a remainder
//! of 3 by 4, it may have a cotangent or a destination, which a literal request has not. Every input is a
//! request: zeros follow the last byte, and what would be malformed is always corrected in the same way.
//!
//! A literal request, after its first byte:
//!
//! | field | bytes |
//! |---|---|
//! | rule set and operation | one: an index into the list of rule sets with their operations |
//! | operands | one: below 192 a number from 1 to 4, by the remainder; from 192 on any number; absent for `broadcast` |
//! | `axis`, under pdpd with two operands or more | one: 0 if absent; otherwise followed by an integer |
//! | `broadcast_dimensions`, under xla with two operands or more, or with a target | one: 0 if absent, or their number plus 1; the integers |
//! | `target_shape` of `broadcast` | a shape |
//! | `expression` | root first: one byte for a leaf, its operand; for a function 128 + its index in the table, then its arguments |
//! | `wrt` of `gradient` | one: the operand's index |
//! | each operand | one for the dtype: its index in the list, or from 128 on the dtype of the operand before; one of bits: 1 a view, 2 flags, 4 an explicit name; the name; a shape; the flags, eight per byte; for a view the strides, the offset and the length of the buffer |
//! | the values of each operand | little-endian |
//!
//! A shape is one byte for the rank (below 192 a rank up to 5, by the remainder; from 192 on any) and a
//! length for each axis. Lengths are unsigned LEB128, integers zigzag LEB128. A signalling NaN is made quiet,
//! because no case file can contain one.
//!
//! [`decode`] returns what [`encode`] was given within these bounds: [`MAX_OPERANDS`], [`MAX_RANK`],
//! [`MAX_VALUES`] per operand, [`MAX_NAME`] bytes per name, [`MAX_CALLS`] functions nested no deeper than
//! case files allow, and [`MAX_WORK`] function results in all (or so many elements that nothing is computed).

mod reader;
mod work;
mod writer;

use super::choices::Bytes;
use super::draw::request;
use super::profile::{Profile, RuleOperation};
use super::signatures::signature;
use broadcheck_spec::{Capabilities, OperationKind, Request, RuleSet, Signature, Unknown};
use std::sync::LazyLock;

/// The most operands of a literal request.
pub const MAX_OPERANDS: usize = 64;
/// The highest rank in a literal request.
pub const MAX_RANK: usize = 63;
/// The most values of an operand of a literal request.
pub const MAX_VALUES: usize = 1 << 13;
/// The longest name in a literal request.
pub const MAX_NAME: usize = 32;
/// The most functions of a literal request.
pub const MAX_CALLS: usize = 256;
/// The most elements of a literal request's result, multiplied by the nodes of its expression.
pub const MAX_WORK: usize = 1 << 18;

/// The most elements of a result that is drawn from bytes: with some functions, enough work for several
/// threads.
const MAX_DRAWN: usize = 1 << 16;

/// From this byte on, a number of operands or axes is encoded literally. Below it, the remainder gives a
/// small number, so that random bytes are not mostly large.
const LITERAL: u8 = 192;

/// From this byte on, a dtype is that of the operand before, so that one byte changes it for all.
const SAME: u8 = 128;

/// Every rule set with each of its operations. The order never changes: the bytes of a corpus contain
/// positions.
const RULE_OPERATIONS: [RuleOperation; 19] = [
    (RuleSet::Numpy, OperationKind::Elementwise),
    (RuleSet::Numpy, OperationKind::Broadcast),
    (RuleSet::Numpy, OperationKind::Gradient),
    (RuleSet::None, OperationKind::Elementwise),
    (RuleSet::None, OperationKind::Gradient),
    (RuleSet::Pdpd, OperationKind::Elementwise),
    (RuleSet::Pdpd, OperationKind::Gradient),
    (RuleSet::Bidirectional, OperationKind::Broadcast),
    (RuleSet::Xla, OperationKind::Elementwise),
    (RuleSet::Xla, OperationKind::Gradient),
    (RuleSet::Theano, OperationKind::Elementwise),
    (RuleSet::Theano, OperationKind::Gradient),
    (RuleSet::Xla, OperationKind::Broadcast),
    (RuleSet::Leading, OperationKind::Elementwise),
    (RuleSet::Leading, OperationKind::Gradient),
    (RuleSet::Leading, OperationKind::Broadcast),
    (RuleSet::Repeat, OperationKind::Elementwise),
    (RuleSet::Repeat, OperationKind::Gradient),
    (RuleSet::Repeat, OperationKind::Broadcast),
];

/// The request that these bytes encode.
pub fn decode(bytes: &[u8]) -> Request {
    decode_prefix(bytes).0
}

/// The request that these bytes begin with, and how many bytes it took.
pub fn decode_prefix(bytes: &[u8]) -> (Request, usize) {
    static PLAIN: LazyLock<Profile> = LazyLock::new(|| Profile::all().with_max_elements(MAX_DRAWN));
    static WHOLE: LazyLock<Profile> = LazyLock::new(|| {
        let capabilities = Capabilities {
            broadcast_in_dim: true,
            permuted: true,
            cotangent: true,
            into: true,
            ..Capabilities::all()
        };
        Profile::within(&capabilities).with_max_elements(MAX_DRAWN)
    });
    let mut source = Bytes::new(bytes);
    let request = match source.number(1) % 4 {
        1 => request(&mut source, &PLAIN),
        3 => request(&mut source, &WHOLE),
        _ => reader::read(&mut source),
    };
    (request, bytes.len() - source.left().len())
}

/// The signature of the operation `infer` that these bytes draw: each choice of
/// [`signature`] takes as many bytes as it needs. `None` for bytes that draw nothing but
/// what is malformed.
pub fn decode_signature(bytes: &[u8]) -> Option<Signature> {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
        Profile::within(&Capabilities { infer: true, unknown: Unknown::ALL.to_vec(), ..Capabilities::all() })
    });
    signature(&mut Bytes::new(bytes), &PROFILE)
}

/// Bytes that [`decode`] to this request if it is within the bounds; otherwise to a similar one.
pub fn encode(request: &Request) -> Vec<u8> {
    writer::write(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_set_with_each_of_its_operations_has_a_byte() {
        assert_eq!(RuleSet::with_operations().count(), RULE_OPERATIONS.len());
        assert!(RuleSet::with_operations().all(|pair| RULE_OPERATIONS.contains(&pair)));
    }
}
