//! The values of an expression: each is an operand, a constant or a function of earlier values, and no two are
//! the same (common subexpressions are found as they are made).

use crate::few::{VALUES, filled};
use broadcheck_spec::{DType, Expression, Function, Node};
use smallvec::SmallVec;
use std::collections::HashMap;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The operand at this place.
    Operand(u32),
    /// A number, by its bits as f64.
    Constant(u64),
    /// A function of the values at these places, computed in the argument's dtype.
    Call { function: Function, arguments: [u32; 3] },
}

/// A value and the dtype it has. The arithmetic of f16 and bf16 is done in f32; a value whose dtype is f32 may
/// be computed from those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) dtype: DType,
}

/// Above this many values they are looked up by hash.
const FEW: usize = 24;

/// Values in an order in which arguments come first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) values: SmallVec<[Value; VALUES]>,
    /// Where each value stands, once there are many.
    places: Option<HashMap<Value, u32>>,
}

impl Graph {
    /// Adds an expression: for each of its nodes the value, the root's last.
    pub(crate) fn add(
        &mut self,
        expression: &Expression,
        dtype_of: impl Fn(usize) -> DType,
    ) -> SmallVec<[u32; VALUES]> {
        let mut values: SmallVec<[u32; VALUES]> = SmallVec::new();
        for node in expression.nodes() {
            let value = match node {
                Node::Operand(place) => self.operand(*place, dtype_of(*place)),
                Node::Call(call) => {
                    let dtype = call.arguments().last().map_or(DType::Bool, |&last| self.dtype(values[last]));
                    let argument =
                        |which: usize| call.arguments().get(which).map_or(0, |&place| values[place]);
                    self.put_call(dtype, call.function(), [argument(0), argument(1), argument(2)])
                }
            };
            values.push(value);
        }
        values
    }

    /// How often each value is an argument of those that `root` needs, itself among them; 0 for one that it does
    /// not need.
    pub(crate) fn readers(&self, root: u32) -> SmallVec<[u32; VALUES]> {
        let mut readers: SmallVec<[u32; VALUES]> = filled(0, root as usize + 1);
        readers[root as usize] = 1;
        for at in (0..=root as usize).rev() {
            if let (1.., Kind::Call { function, arguments }) = (readers[at], self.values[at].kind) {
                for &argument in &arguments[..function.arity()] {
                    readers[argument as usize] += 1;
                }
            }
        }
        readers
    }

    /// The dtype of a value.
    pub(crate) fn dtype(&self, value: u32) -> DType {
        self.values[value as usize].dtype
    }

    /// An operand.
    pub(crate) fn operand(&mut self, place: usize, dtype: DType) -> u32 {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.value(Value { kind: Kind::Operand(place), dtype })
    }

    /// A number.
    pub(crate) fn constant(&mut self, number: f64, dtype: DType) -> u32 {
        self.value(Value { kind: Kind::Constant(number.to_bits()), dtype })
    }

    /// A function of values, computed in a dtype that may be wider than theirs.
    pub(crate) fn call_in(&mut self, dtype: DType, function: Function, arguments: &[u32]) -> u32 {
        let argument = |which: usize| arguments.get(which).copied().unwrap_or(0);
        self.put_call(dtype, function, [argument(0), argument(1), argument(2)])
    }

    fn put_call(&mut self, dtype: DType, function: Function, mut places: [u32; 3]) -> u32 {
        // a + b and b + a are one value: their bits are.
        if is_commutative(function) && places[0] > places[1] {
            places.swap(0, 1);
        }
        let dtype = if is_comparison(function) { DType::Bool } else { dtype };
        self.value(Value { kind: Kind::Call { function, arguments: places }, dtype })
    }

    #[inline]
    fn value(&mut self, value: Value) -> u32 {
        let found = match &self.places {
            None => {
                self.values.iter().position(|&other| other == value).and_then(|at| u32::try_from(at).ok())
            }
            Some(places) => places.get(&value).copied(),
        };
        if let Some(found) = found {
            return found;
        }
        let place = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value);
        match &mut self.places {
            Some(places) => {
                places.insert(value, place);
            }
            None if self.values.len() > FEW => {
                self.places = Some(self.values.iter().copied().zip(0..).collect());
            }
            None => {}
        }
        place
    }
}

/// Whether a function gives truth values for numbers.
pub(crate) fn is_comparison(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

/// Whether a function takes several times as long as an addition.
pub(crate) fn is_slow(function: Function) -> bool {
    matches!(function, Function::Exp | Function::Log | Function::Tanh | Function::Power)
}

fn is_commutative(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::Add
            | F::Multiply
            | F::Maximum
            | F::Minimum
            | F::Equal
            | F::NotEqual
            | F::LogicalAnd
            | F::LogicalOr
    )
}
