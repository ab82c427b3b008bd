//! The values of an expression. Each is an operand, a constant or a function of earlier values, and no two
//! are the same: common subexpressions are found when they are added.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::Order;
use crate::inline_capacity::{VALUES, filled};
use broadcheck_spec::{DType, Expression, Function, Node};
use smallvec::SmallVec;
use std::collections::HashMap;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueKind {
    /// The operand with this index.
    Operand(u32),
    /// A number, as the bits of an f64.
    Constant(u64),
    /// A function of the values with these indices, computed in the dtype of its argument.
    Call { function: Function, arguments: [u32; 3] },
    /// A derivative of the values with these indices.
    Slope { slope: Slope, arguments: [u32; 3] },
}

impl ValueKind {
    /// The values that it is computed from.
    pub(crate) fn arguments(&self) -> &[u32] {
        match self {
            ValueKind::Operand(_) | ValueKind::Constant(_) => &[],
            ValueKind::Call { function, arguments } => &arguments[..function.arity()],
            ValueKind::Slope { slope, arguments } => &arguments[..slope.arity()],
        }
    }
}

/// A derivative that is one loop, where functions would take many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slope {
    /// Of x^y by x, of x and y.
    PowerByBase,
    /// Of x^y by y, of x and y.
    PowerByExponent,
    /// Of larger, smaller and f: f times the derivative of the maximum by `larger`, which is that of the
    /// minimum by `smaller`. It is f if `larger` is larger, half of f if both are equal, 0 whatever f is if
    /// it is smaller, and a NaN if one of them is.
    Winner,
}

impl Slope {
    fn arity(self) -> usize {
        match self {
            Slope::PowerByBase | Slope::PowerByExponent => 2,
            Slope::Winner => 3,
        }
    }
}

/// A value and its dtype. f16 and bf16 are computed in f32, and a value whose dtype is f32 may be computed
/// from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) kind: ValueKind,
    pub(crate) dtype: DType,
}

/// Up to this many values are searched one by one, more are looked up by hash.
const LINEAR_SEARCH: usize = 24;

/// Values, arguments before the functions that use them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) values: SmallVec<[Value; VALUES]>,
    /// Whether values of dtype u16 are the bits of halves.
    halves_in_bits: bool,
    /// The index of each value, once there are many.
    places: Option<HashMap<Value, u32>>,
}

impl Graph {
    /// No values. `halves_in_bits` says whether those of dtype u16 will be the bits of halves.
    pub(crate) fn new(halves_in_bits: bool) -> Graph {
        Graph { halves_in_bits, ..Graph::default() }
    }

    /// Adds an expression. Returns the value of each of its nodes, with the root last.
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

    /// How often each value is an argument of the values that `root` needs, including the root. 0 for a value
    /// that is not needed.
    pub(crate) fn readers(&self, root: u32) -> SmallVec<[u32; VALUES]> {
        let mut readers: SmallVec<[u32; VALUES]> = filled(0, root as usize + 1);
        readers[root as usize] = 1;
        for at in (0..=root as usize).rev() {
            if readers[at] != 0 {
                for &argument in self.values[at].kind.arguments() {
                    readers[argument as usize] += 1;
                }
            }
        }
        readers
    }

    /// The values up to `root`. Those that it does not need are constants, which nobody reads.
    pub(crate) fn only(&self, root: u32) -> Graph {
        let mut values: SmallVec<[Value; VALUES]> = self.values[..=root as usize].into();
        for (value, readers) in values.iter_mut().zip(self.readers(root)) {
            if readers == 0 {
                value.kind = ValueKind::Constant(0);
            }
        }
        Graph { values, places: None, ..*self }
    }

    /// The dtype of a value.
    pub(crate) fn dtype(&self, value: u32) -> DType {
        self.values[value as usize].dtype
    }

    /// The function and the arguments of a value that is a call. Arguments that the function does not have
    /// are the first value.
    pub(crate) fn call(&self, value: u32) -> Option<(Function, [u32; 3])> {
        match self.values[value as usize].kind {
            ValueKind::Call { function, arguments } => Some((function, arguments)),
            ValueKind::Operand(_) | ValueKind::Constant(_) | ValueKind::Slope { .. } => None,
        }
    }

    /// An operand.
    pub(crate) fn operand(&mut self, place: usize, dtype: DType) -> u32 {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.value(Value { kind: ValueKind::Operand(place), dtype })
    }

    /// A number.
    pub(crate) fn constant(&mut self, number: f64, dtype: DType) -> u32 {
        self.value(Value { kind: ValueKind::Constant(number.to_bits()), dtype })
    }

    /// A function of values, computed in a dtype that may be wider than that of the values.
    pub(crate) fn call_in(&mut self, dtype: DType, function: Function, arguments: &[u32]) -> u32 {
        let argument = |which: usize| arguments.get(which).copied().unwrap_or(0);
        self.put_call(dtype, function, [argument(0), argument(1), argument(2)])
    }

    /// A derivative of values.
    pub(crate) fn slope(&mut self, dtype: DType, slope: Slope, arguments: [u32; 3]) -> u32 {
        self.value(Value { kind: ValueKind::Slope { slope, arguments }, dtype })
    }

    fn put_call(&mut self, dtype: DType, function: Function, mut places: [u32; 3]) -> u32 {
        // a + b and b + a have the same bits, so they are one value.
        if is_commutative(function) && places[0] > places[1] {
            places.swap(0, 1);
        }
        let dtype = if is_comparison(function) { DType::Bool } else { dtype };
        let (function, places) = self.shorter(function, places).unwrap_or((function, places));
        self.value(Value { kind: ValueKind::Call { function, arguments: places }, dtype })
    }

    /// A call of fewer values with the same bits: the larger or smaller of two integers, written as a choice,
    /// or the opposite of a comparison.
    fn shorter(&self, function: Function, arguments: [u32; 3]) -> Option<(Function, [u32; 3])> {
        if !matches!(function, Function::Select | Function::LogicalNot) {
            return None;
        }
        let [condition, chosen, other] = arguments;
        let (compare, [x, y, _]) = self.call(condition)?;
        if function == Function::LogicalNot && matches!(compare, Function::Equal | Function::NotEqual) {
            let is_equal = compare == Function::Equal;
            return Some((if is_equal { Function::NotEqual } else { Function::Equal }, [x, y, 0]));
        }
        // Floats are not ordered if there is a NaN, and zeros of both signs are equal.
        let order = order(compare).filter(|_| self.are_integers(x))?;
        if function == Function::LogicalNot {
            return Some((opposite(order), [x, y, 0]));
        }
        let smaller_first = matches!(order, Order::Less | Order::LessEqual);
        let is_exchanged = [chosen, other] == [y, x];
        if !is_exchanged && [chosen, other] != [x, y] {
            return None;
        }
        let is_minimum = smaller_first != is_exchanged;
        let extreme = if is_minimum { Function::Minimum } else { Function::Maximum };
        Some((extreme, [x.min(y), x.max(y), 0]))
    }

    /// Whether a value has integers.
    pub(super) fn are_integers(&self, value: u32) -> bool {
        let dtype = self.dtype(value);
        dtype.is_integer() && !(self.halves_in_bits && dtype == DType::U16)
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
            None if self.values.len() > LINEAR_SEARCH => {
                self.places = Some(self.values.iter().copied().zip(0..).collect());
            }
            None => {}
        }
        place
    }
}

/// Whether a function compares its arguments: its result is a truth value, whatever their type.
pub(crate) fn is_comparison(function: Function) -> bool {
    use Function as F;
    match function {
        F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual => true,
        F::Add
        | F::Subtract
        | F::Multiply
        | F::Divide
        | F::Power
        | F::Maximum
        | F::Minimum
        | F::Negate
        | F::Abs
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Tanh
        | F::LogicalAnd
        | F::LogicalOr
        | F::LogicalNot
        | F::Select => false,
    }
}

/// The order that a comparison is of, if it is of one.
pub(super) fn order(function: Function) -> Option<Order> {
    use Function as F;
    match function {
        F::Less => Some(Order::Less),
        F::LessEqual => Some(Order::LessEqual),
        F::Greater => Some(Order::Greater),
        F::GreaterEqual => Some(Order::GreaterEqual),
        F::Equal
        | F::NotEqual
        | F::Add
        | F::Subtract
        | F::Multiply
        | F::Divide
        | F::Power
        | F::Maximum
        | F::Minimum
        | F::Negate
        | F::Abs
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Tanh
        | F::LogicalAnd
        | F::LogicalOr
        | F::LogicalNot
        | F::Select => None,
    }
}

/// The comparison that holds where one of ordered values does not.
fn opposite(order: Order) -> Function {
    match order {
        Order::Less => Function::GreaterEqual,
        Order::LessEqual => Function::Greater,
        Order::Greater => Function::LessEqual,
        Order::GreaterEqual => Function::Less,
    }
}

/// Whether exchanging the arguments of a function gives the same bits.
fn is_commutative(function: Function) -> bool {
    use Function as F;
    match function {
        F::Add
        | F::Multiply
        | F::Maximum
        | F::Minimum
        | F::Equal
        | F::NotEqual
        | F::LogicalAnd
        | F::LogicalOr => true,
        F::Subtract
        | F::Divide
        | F::Power
        | F::Negate
        | F::Abs
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Tanh
        | F::Less
        | F::LessEqual
        | F::Greater
        | F::GreaterEqual
        | F::LogicalNot
        | F::Select => false,
    }
}
