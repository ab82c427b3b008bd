//! The requests of one expression: all pairs of special values, in several arrangements.

use super::super::arithmetic::evaluate;
use super::values::{LEAST_ROW, ONE, PAIRS, constants, least_length, values};
use super::{Asked, Turn, call};
use broadcheck_spec::{DType, Data, Expression, Function, Node, Operand, Scalar, Tensor};

/// The number of requests of a row in which all operands are scalars.
const SCALARS: usize = 3;

/// An expression with the names of its operands, in alphabetical order.
pub(super) struct Row {
    pub(super) text: &'static str,
    pub(super) expression: Expression,
    pub(super) names: Vec<&'static str>,
}

/// A value for each operand, with the place of each in [`values`], and the result.
pub(super) struct Tuple {
    pub(super) picks: Vec<usize>,
    pub(super) operands: Vec<Scalar>,
    pub(super) result: Scalar,
}

impl Row {
    pub(super) fn new(text: &'static str) -> Row {
        let words = || text.split(['[', ']', ',', ' ']).filter(|word| !word.is_empty());
        let mut names: Vec<&str> = words().filter(|word| word.len() == 1).collect();
        names.sort_unstable();
        names.dedup();
        let spaced = text.replace('[', "[ ").replace(']', " ]").replace(',', " ");
        let expression = parsed(&mut spaced.split_whitespace(), &names);
        Row { text, expression, names }
    }

    /// `subtract-a-a`.
    fn name(&self) -> String {
        self.text.replace(['[', ']', ','], "").replace([' ', '_'], "-")
    }

    fn dtype_of(&self, operand: usize, dtype: DType) -> DType {
        if matches!(self.names[operand], "p" | "q" | "r") { DType::Bool } else { dtype }
    }

    /// The number of requests in a dtype.
    pub(super) fn count(&self, dtype: DType, turn: Turn) -> usize {
        let operands = 0..self.names.len();
        let per_operand = |operand| 1 + constants(self.dtype_of(operand, dtype)).len();
        let parts: usize = if operands.len() > 1 { operands.clone().map(per_operand).sum() } else { 0 };
        let alone = if operands.len() > 2 { operands.len() * PAIRS.len() } else { 0 };
        1 + (0..parts + alone + SCALARS).filter(|&number| turn.takes(number)).count()
    }

    /// The requests in a dtype: `dense`, and the other arrangements whose turn it is.
    pub(super) fn asked(&self, dtype: DType, turn: Turn) -> Vec<Asked> {
        let tuples = self.tuples(dtype);
        let (name, least) = (self.name(), least_length(dtype));
        let asked = |what: String, rows: usize, tuples: &[&Tuple], at: &dyn Fn(usize) -> Form| {
            self.arranged(format!("{dtype}-{name}-{what}"), dtype, rows, tuples, at)
        };
        let mut number = 0;
        let mut is_next = || {
            number += 1;
            turn.takes(number - 1)
        };
        let all: Vec<&Tuple> = tuples.iter().cycle().take(tuples.len().max(least)).collect();
        let mut found = vec![asked("dense".into(), 1, &all, &|_| Form::Dense)];
        let operands = if self.names.len() > 1 { self.names.len() } else { 0 };
        for operand in 0..operands {
            let letter = self.names[operand];
            let of = self.dtype_of(operand, dtype);
            let of_pick = |pick| tuples.iter().filter(move |tuple| tuple.picks[operand] == pick);
            let row =
                |pick: usize, length: usize| -> Vec<&Tuple> { of_pick(pick).cycle().take(length).collect() };
            if is_next() {
                let count = values(of).len();
                let width = (0..count).map(|pick| of_pick(pick).count()).max().unwrap_or(0).max(LEAST_ROW);
                let rows: Vec<&Tuple> = (0..count).flat_map(|pick| row(pick, width)).collect();
                found.push(asked(format!("stretched-{letter}"), rows.len() / width, &rows, &|place| {
                    if place == operand { Form::Column } else { Form::Matrix }
                }));
            }
            for (number, &pick) in constants(of).iter().enumerate().filter(|_| is_next()) {
                found.push(asked(format!("scalar-{letter}-{number}"), 1, &row(pick, least), &|place| {
                    if place == operand { Form::Scalar } else { Form::Dense }
                }));
            }
        }
        for operand in if operands > 2 { 0..operands } else { 0..0 } {
            for (number, pair) in PAIRS.into_iter().enumerate().filter(|_| is_next()) {
                let alone = self.vector_of(operand, dtype, pair(dtype));
                let row: Vec<&Tuple> = alone.iter().cycle().take(alone.len().max(least)).collect();
                let letter = self.names[operand];
                found.push(asked(format!("vector-{letter}-{number}"), 1, &row, &|place| {
                    if place == operand { Form::Dense } else { Form::Scalar }
                }));
            }
        }
        for number in (0..SCALARS).filter(|_| is_next()) {
            // Spread over the tuples: 7 is not a factor of any number of values.
            let tuple = &tuples[(number * (tuples.len() / SCALARS).max(1) + 7 * number) % tuples.len()];
            found.push(asked(format!("scalars-{number}"), 0, &[tuple], &|_| Form::Scalar));
        }
        found
    }

    /// All values of one operand, with the values of a pair, in turn, for the others: those that make a
    /// result certain. If that is no value of the operand, the others are 1.
    fn vector_of(&self, operand: usize, dtype: DType, pair: [usize; 2]) -> Vec<Tuple> {
        let with = |pair: [usize; 2]| -> Vec<Tuple> {
            let tuple = |pick: usize| {
                let pick_of = |place: usize| match place.cmp(&operand) {
                    std::cmp::Ordering::Less => pair[place % 2],
                    std::cmp::Ordering::Equal => pick,
                    std::cmp::Ordering::Greater => pair[(place - 1) % 2],
                };
                self.tuple(dtype, (0..self.names.len()).map(pick_of).collect())
            };
            (0..values(self.dtype_of(operand, dtype)).len()).filter_map(tuple).collect()
        };
        let found = with(pair);
        if found.is_empty() { with([ONE, ONE]) } else { found }
    }

    /// The request for these tuples, in this many rows; none at all for a scalar.
    fn arranged(
        &self,
        name: String,
        dtype: DType,
        rows: usize,
        tuples: &[&Tuple],
        form: &dyn Fn(usize) -> Form,
    ) -> Asked {
        let width = tuples.len() / rows.max(1);
        let operand = |place: usize| {
            let of = self.dtype_of(place, dtype);
            let all = tuples.iter().map(|tuple| tuple.operands[place]);
            let (shape, values): (Vec<usize>, Vec<Scalar>) = match form(place) {
                Form::Dense => (vec![width], all.collect()),
                Form::Matrix => (vec![rows, width], all.collect()),
                Form::Column => (vec![rows, 1], all.step_by(width.max(1)).collect()),
                Form::Scalar => (vec![], all.take(1).collect()),
            };
            Operand::dense(self.names[place], shape, buffer(of, values)).expect("one value per element")
        };
        let operands: Vec<Operand> = (0..self.names.len()).map(operand).collect();
        let results: Vec<Scalar> = tuples.iter().map(|tuple| tuple.result).collect();
        let shape = match (0..self.names.len()).map(form).find(|form| *form != Form::Scalar) {
            None => vec![],
            Some(Form::Dense | Form::Scalar) => vec![width],
            Some(Form::Matrix | Form::Column) => vec![rows, width],
        };
        let values = buffer(results[0].dtype(), results);
        let result = Tensor::new(shape, values).expect("one value per element");
        Asked { name, expression: self.expression.clone(), operands, result }
    }

    /// All pairs of values of the first two numbers, with values of the other operands such that each of them
    /// has every value beside every other; all values, if there is only one number.
    pub(super) fn tuples(&self, dtype: DType) -> Vec<Tuple> {
        let count = values(dtype).len();
        let is_number = |&place: &usize| self.dtype_of(place, dtype) != DType::Bool;
        let first_bool = (0..self.names.len()).take_while(is_number).count();
        let bools = self.names.len() - first_bool;
        let pairs = match (first_bool, dtype) {
            (0, _) => 1 << bools,
            (1, _) => count << bools,
            _ => count * count,
        };
        let tuple = |pair: usize| {
            let (i, j) = (pair % count, pair / count);
            let pick = |place: usize| match place {
                _ if first_bool == 0 => pair >> place & 1,
                _ if place >= first_bool => ((i & j) ^ (i >> 1) ^ j) >> (place - first_bool) & 1,
                0 => i,
                1 => j,
                2 => (i + j) % count,
                _ => (i + 2 * j) % count,
            };
            self.tuple(dtype, (0..self.names.len()).map(pick).collect())
        };
        (0..pairs).filter_map(tuple).collect()
    }

    /// The values at these places of [`values`], if the result is certain. A bool is true at odd places.
    fn tuple(&self, dtype: DType, mut picks: Vec<usize>) -> Option<Tuple> {
        let numbers = values(dtype);
        for (place, pick) in picks.iter_mut().enumerate() {
            if self.dtype_of(place, dtype) == DType::Bool {
                *pick %= 2;
            }
        }
        let value = |(place, &pick): (usize, &usize)| match self.dtype_of(place, dtype) {
            DType::Bool => Scalar::Bool(pick == 1),
            _ => numbers[pick],
        };
        let operands: Vec<Scalar> = picks.iter().enumerate().map(value).collect();
        let steps = evaluate(&self.expression, &operands);
        let result = *steps.last().expect("a root");
        is_certain(&self.expression, &steps).then_some(Tuple { picks, operands, result })
    }
}

/// The shape of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// (n).
    Dense,
    /// (k,n).
    Matrix,
    /// (k,1).
    Column,
    /// ().
    Scalar,
}

/// Whether no step is subnormal, and none is the maximum or minimum of zeros of both signs.
pub(super) fn is_certain(expression: &Expression, steps: &[Scalar]) -> bool {
    let mixes_zeros = |node: &Node| match node {
        Node::Call(call) if matches!(call.function(), Function::Maximum | Function::Minimum) => {
            let [one, other] = [0, 1].map(|argument| steps[call.arguments()[argument]]);
            one.as_f64() == Some(0.0) && other.as_f64() == Some(0.0) && one != other
        }
        Node::Call(_) | Node::Operand(_) => false,
    };
    !steps.iter().any(|step| step.is_subnormal()) && !expression.nodes().iter().any(mixes_zeros)
}

pub(super) fn buffer(dtype: DType, values: Vec<Scalar>) -> Data {
    Data::from_scalars(dtype, values).expect("values of the dtype")
}

/// An expression in the notation of case files, as words.
fn parsed<'a>(words: &mut impl Iterator<Item = &'a str>, names: &[&str]) -> Expression {
    let word = words.next().expect("a complete expression");
    if word != "[" {
        let place = names.iter().position(|name| *name == word).expect("an operand's name");
        return Expression::operand(place);
    }
    let function: Function = words.next().expect("a function").parse().expect("a function's name");
    let arguments: Vec<Expression> = (0..function.arity()).map(|_| parsed(words, names)).collect();
    assert_eq!(words.next(), Some("]"), "the end of {function}");
    call(function, arguments)
}
