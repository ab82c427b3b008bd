//! The values of an expression: each is an operand, a constant or a function of earlier values, and no two are
//! the same (common subexpressions are found as they are made).

use broadcheck_spec::{DType, Expression, Function, Node};
use smallvec::SmallVec;
use std::collections::HashMap;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The operand at this place.
    Operand(usize),
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
    pub(crate) values: SmallVec<[Value; 8]>,
    places: HashMap<Value, u32>,
}

impl Graph {
    /// The graph of an expression, its root, and for each node of the expression its value.
    pub(crate) fn of(
        expression: &Expression,
        dtype_of: impl Fn(usize) -> DType,
    ) -> (Graph, u32, SmallVec<[u32; 16]>) {
        let mut graph = Graph::default();
        let mut values: SmallVec<[u32; 16]> = SmallVec::new();
        for node in expression.nodes() {
            let value = match node {
                Node::Operand(place) => graph.operand(*place, dtype_of(*place)),
                Node::Call(call) => {
                    let mut arguments = [0; 3];
                    for (argument, &place) in arguments.iter_mut().zip(call.arguments()) {
                        *argument = values[place];
                    }
                    graph.call(call.function(), &arguments[..call.arguments().len()])
                }
            };
            values.push(value);
        }
        let root = values[values.len() - 1];
        (graph, root, values)
    }

    /// The dtype of a value.
    pub(crate) fn dtype(&self, value: u32) -> DType {
        self.values[value as usize].dtype
    }

    /// An operand.
    pub(crate) fn operand(&mut self, place: usize, dtype: DType) -> u32 {
        self.value(Value { kind: Kind::Operand(place), dtype })
    }

    /// A number.
    pub(crate) fn constant(&mut self, number: f64, dtype: DType) -> u32 {
        self.value(Value { kind: Kind::Constant(number.to_bits()), dtype })
    }

    /// A function of values, in their own dtype.
    pub(crate) fn call(&mut self, function: Function, arguments: &[u32]) -> u32 {
        let last = arguments[arguments.len() - 1];
        self.call_in(self.dtype(last), function, arguments)
    }

    /// A function of values, computed in a dtype that may be wider than theirs.
    pub(crate) fn call_in(&mut self, dtype: DType, function: Function, arguments: &[u32]) -> u32 {
        let mut places = [0; 3];
        places[..arguments.len()].copy_from_slice(arguments);
        // a + b and b + a are one value: their bits are.
        if is_commutative(function) && places[0] > places[1] {
            places.swap(0, 1);
        }
        let dtype = if is_comparison(function) { DType::Bool } else { dtype };
        self.value(Value { kind: Kind::Call { function, arguments: places }, dtype })
    }

    fn value(&mut self, value: Value) -> u32 {
        let found = if self.values.len() <= FEW {
            self.values.iter().position(|&other| other == value).and_then(|at| u32::try_from(at).ok())
        } else {
            self.places.get(&value).copied()
        };
        if let Some(found) = found {
            return found;
        }
        let place = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value);
        if self.values.len() == FEW + 1 {
            self.places = self.values.iter().copied().zip(0..).collect();
        } else if self.values.len() > FEW {
            self.places.insert(value, place);
        }
        place
    }
}

/// Whether a function gives truth values for numbers.
pub(crate) fn is_comparison(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
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
