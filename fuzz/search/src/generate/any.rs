//! Requests and signatures for fuzz targets and property tests that use `arbitrary`.

use super::bytes::{decode, decode_prefix, decode_signature};
use arbitrary::{Arbitrary, Error, Result, Unstructured};
use broadcheck_spec::{Request, Signature, write};
use std::fmt;

/// A request decoded from bytes as [`decode`] does. `Debug` shows it as YAML.
#[derive(Clone, PartialEq, Eq)]
pub struct AnyRequest(pub Request);

impl fmt::Debug for AnyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::request_to_yaml(&self.0))
    }
}

impl<'a> Arbitrary<'a> for AnyRequest {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<AnyRequest> {
        let (request, used) = decode_prefix(u.peek_bytes(u.len()).unwrap_or_default());
        u.bytes(used)?;
        Ok(AnyRequest(request))
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> Result<AnyRequest> {
        Ok(AnyRequest(decode(u.take_rest())))
    }

    /// Zeros follow the last byte, so no byte is required, and how many are used depends on them.
    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (0, None)
    }
}

/// A signature of the operation `infer`, drawn from all of the bytes. `Debug` shows it as YAML.
#[derive(Clone, PartialEq, Eq)]
pub struct AnySignature(pub Signature);

impl fmt::Debug for AnySignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::signature_to_yaml(&self.0))
    }
}

impl<'a> Arbitrary<'a> for AnySignature {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<AnySignature> {
        let length = u.len();
        decode_signature(u.bytes(length)?).map(AnySignature).ok_or(Error::IncorrectFormat)
    }

    /// Zeros follow the last byte, so no byte is required.
    fn size_hint(_: usize) -> (usize, Option<usize>) {
        (0, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Profile, Seeded, encode, request};

    #[test]
    fn several_requests_can_be_read_from_the_bytes() {
        let mut choices = Seeded::new(1);
        let profile = Profile::all().with_max_elements(64);
        let [one, other] = [(); 2].map(|()| request(&mut choices, &profile));
        let bytes = [encode(&one), encode(&other)].concat();
        let mut unstructured = Unstructured::new(&bytes);
        assert_eq!(unstructured.arbitrary::<AnyRequest>(), Ok(AnyRequest(one.clone())));
        assert_eq!(unstructured.arbitrary::<AnyRequest>(), Ok(AnyRequest(other)));
        assert!(unstructured.is_empty());
        assert!(unstructured.arbitrary::<AnyRequest>().is_ok(), "zeros follow the last byte");
        assert_eq!(AnyRequest::arbitrary_take_rest(Unstructured::new(&bytes)), Ok(AnyRequest(one)));
    }

    #[test]
    fn a_signature_can_be_read_from_any_bytes() {
        let signature = AnySignature::arbitrary_take_rest(Unstructured::new(&[])).unwrap();
        let text = format!("{signature:?}");
        assert!(text.contains("operation: infer") && text.contains("operands:\n"), "{text}");
    }

    #[test]
    fn debug_shows_yaml() {
        let text = format!("{:#?}", AnyRequest(decode(&[])));
        assert!(
            text.starts_with("rules: numpy\nexpression: a\noperands:\n  - {name: a, dtype: f64"),
            "{text}"
        );
    }
}
