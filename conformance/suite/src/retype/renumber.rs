//! Smaller numbers for a case whose own do not fit into a dtype: negative ones, or hundreds.
//!
//! The numbers of most cases are labels: `a` has 1 to 6 and `b` has 100, 200 and 300, so that each element of
//! a + b shows which elements were read. Such a case can be *renumbered*. The expected result is read as
//! labels: 203 can only be 3 + 200, so it is the third number of `a` and the second of `b`. Then both
//! operands get other numbers, small and in the same order, and the expected result is added up again from
//! those. No implementation takes part in this. A case is left as it is where its expected result does not
//! say unmistakably which numbers were read.

use super::{is_read, numbers, positions, with_values};
use broadcheck_spec::{
    Case, DType, Data, Expectation, ExpectedResult, Expression, Function, Node, Operation, Request, Tensor,
};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The case with other numbers, in f64, in the order in which they should be tried. At first the results of
/// any two sets of numbers differ, as if they were digits; in later ones this holds only for sets that differ
/// in one operand, and in the last ones only for neighbours. The numbers begin at 1 where there is room,
/// because a 0 could come from memory that was never written.
pub(super) fn variants<'a>(case: &'a Case, to: DType) -> impl Iterator<Item = Case> + use<'a> {
    let (lowest, highest) = numbers::integers(to);
    // Only where there is little room.
    let lowest = lowest.max(-0x8000);
    let spacings = [Spacing::Digits, Spacing::Narrow, Spacing::Repeating];
    let choices = spacings.into_iter().flat_map(move |spacing| [1, 0, lowest].map(|least| (spacing, least)));
    let labels = Labels::new(case);
    choices.filter_map(move |(spacing, least)| labels.as_ref()?.case(case, spacing, least..=highest))
}

/// How far apart the numbers of an operand are.
#[derive(Clone, Copy)]
enum Spacing {
    /// As far as the results of the operands before it need: no two sets of labels have the same result.
    Digits,
    /// As far as the dtype has room for.
    Narrow,
    /// The same, and after [`PERIOD`] labels the numbers begin again: for long runs.
    Repeating,
}

/// The number of different labels if they repeat. It is a prime, so that elements at the distance of a block,
/// a vector or a page have different numbers.
const PERIOD: i64 = 61;

impl Spacing {
    /// The number of different labels.
    fn period(self) -> i64 {
        match self {
            Spacing::Digits | Spacing::Narrow => i64::MAX,
            Spacing::Repeating => PERIOD,
        }
    }
}

/// The expected result is compared with at most this many sets of labels.
const MOST_SETS: usize = 1 << 14;

/// What the numbers of a case stand for.
struct Labels {
    /// Per operand, in the order of the request.
    operands: Vec<Label>,
    /// The operand that the expression begins with. It is never subtracted.
    first: usize,
    /// For each element of the expected result, the label of each operand that was read.
    read: Vec<Vec<usize>>,
}

struct Label {
    /// Whether the operand is added (1) or subtracted (-1); 0 if the expression does not use it.
    sign: i64,
    /// The numbers that are read, in ascending order. Their positions are the labels.
    numbers: Vec<i64>,
    /// The positions of the buffer that are read, in ascending order.
    positions: Vec<usize>,
}

impl Labels {
    fn new(case: &Case) -> Option<Labels> {
        let Expectation::Result(expected) = &case.expectation else { return None };
        let request = &case.request;
        let (first, signs) = signs(request)?;
        let mut operands = Vec::new();
        let mut sets = 1usize;
        for (place, (operand, sign)) in request.operands().iter().zip(signs).enumerate() {
            let is_read = is_read(request, &case.expectation, place);
            let positions = if is_read { positions(operand)? } else { Vec::new() };
            let mut numbers = Vec::new();
            for &position in &positions {
                numbers.push(integer(operand.values(), position)?);
            }
            numbers.sort_unstable();
            numbers.dedup();
            if sign != 0 {
                sets = sets.checked_mul(numbers.len()).filter(|&sets| sets <= MOST_SETS)?;
            }
            operands.push(Label { sign, numbers, positions });
        }
        let read = read(&operands, expected)?;
        Some(Labels { operands, first, read })
    }

    /// The case in f64, with numbers within these limits.
    fn case(&self, case: &Case, spacing: Spacing, limits: RangeInclusive<i64>) -> Option<Case> {
        let Expectation::Result(expected) = &case.expectation else { return None };
        let tables = self.tables(spacing, limits)?;
        let request = self.request(&case.request, &tables)?;
        let values = self.read.iter().map(|labels| {
            let terms = labels.iter().zip(&self.operands).zip(&tables);
            let used = terms.filter(|((_, operand), _)| operand.sign != 0);
            float(used.map(|((&label, operand), table)| operand.sign * table[label]).sum())
        });
        let tensor = Tensor::new(expected.tensor.shape().clone(), values.collect::<Vec<f64>>()).ok()?;
        let intermediate = match &expected.intermediate {
            Some(tensor) => Some(self.intermediate(&case.request, tensor, &tables)?),
            None => None,
        };
        let expectation = Expectation::Result(ExpectedResult { tensor, intermediate, ..expected.clone() });
        let renumbered = match spacing {
            Spacing::Digits | Spacing::Narrow => {
                "The numbers are smaller than in the case as written, and in the same order."
            }
            Spacing::Repeating => "The numbers are smaller than in the case as written, and repeat.",
        };
        let note = match &case.note {
            Some(note) => format!("{note} {renumbered}"),
            None => renumbered.to_owned(),
        };
        Some(Case { request, expectation, note: Some(note), ..case.clone() })
    }

    /// For each operand, the new number of each label.
    fn tables(&self, spacing: Spacing, limits: RangeInclusive<i64>) -> Option<Vec<Vec<i64>>> {
        let (least, highest) = limits.into_inner();
        // Every operand begins here, but the first is larger by all that is subtracted, and alone may be
        // negative.
        let start = least.max(0);
        let used = self.operands.iter().filter(|operand| operand.sign != 0);
        let starts = used.fold(0, |sum, _| sum + start);
        let steps = self.steps(spacing, highest - starts - least.min(0))?;
        let period = spacing.period();
        let last = |place: usize| self.operands[place].last(period).map(|last| last * steps[place]);
        let mut base = least.min(0);
        for (place, operand) in self.operands.iter().enumerate() {
            if operand.sign == -1 {
                base += start + last(place)?;
            }
        }
        let number = |place: usize, label: i64| {
            let first = if place == self.first { base } else { 0 };
            first + start + label % period * steps[place]
        };
        let table = |(place, operand): (usize, &Label)| {
            Some((0..=operand.last(i64::MAX)?).map(|label| number(place, label)).collect())
        };
        self.operands.iter().enumerate().map(table).collect()
    }

    /// For each operand, the distance of its numbers, so that the largest result is at most `room` above the
    /// least.
    fn steps(&self, spacing: Spacing, mut room: i64) -> Option<Vec<i64>> {
        let mut steps = vec![1; self.operands.len()];
        let mut order: Vec<usize> = (0..self.operands.len()).collect();
        order.retain(|&place| self.operands[place].sign != 0);
        order.sort_by_key(|&place| std::cmp::Reverse(self.operands[place].numbers.len()));
        let mut digit = 1;
        for (done, &place) in order.iter().enumerate() {
            let last = self.operands[place].last(spacing.period())?;
            steps[place] = match spacing {
                Spacing::Digits => digit,
                Spacing::Narrow | Spacing::Repeating if done == 0 => 1,
                Spacing::Narrow | Spacing::Repeating => {
                    room / i64::try_from(order.len() - done).ok()? / last.max(1)
                }
            };
            room -= last * steps[place];
            if steps[place] == 0 || room < 0 {
                return None;
            }
            digit *= last + 1;
        }
        Some(steps)
    }

    fn request(&self, request: &Request, tables: &[Vec<i64>]) -> Option<Request> {
        let operands = request.operands().iter().zip(&self.operands).zip(tables);
        let renumbered = operands.map(|((operand, label), table)| {
            if operand.dtype() == DType::Bool {
                return Some(operand.clone());
            }
            // Conversion replaces what is not read.
            let mut values = vec![f64::NAN; operand.values().len()];
            for &position in &label.positions {
                let number = integer(operand.values(), position)?;
                values[position] = float(table[label.numbers.binary_search(&number).ok()?]);
            }
            with_values(operand, values)
        });
        let operands = renumbered.collect::<Option<Vec<_>>>()?;
        Request::new(request.rules().clone(), request.operation().clone(), operands).ok()
    }

    /// XLA-8: the elements of the operand of the lower rank.
    fn intermediate(&self, request: &Request, tensor: &Tensor, tables: &[Vec<i64>]) -> Option<Tensor> {
        let place = (0..request.operands().len()).min_by_key(|&place| request.operands()[place].rank())?;
        let number = |position: usize| {
            let number = integer(tensor.values(), position)?;
            Some(float(tables[place][self.operands[place].numbers.binary_search(&number).ok()?]))
        };
        let values = (0..tensor.values().len()).map(number).collect::<Option<Vec<f64>>>()?;
        Tensor::new(tensor.shape().clone(), values).ok()
    }
}

impl Label {
    /// The last label, if this number of labels repeat.
    fn last(&self, period: i64) -> Option<i64> {
        Some(i64::try_from(self.numbers.len().saturating_sub(1)).ok()?.min(period - 1))
    }
}

/// The operand that the expression begins with, and for each operand whether it is added (1), subtracted (-1)
/// or not used (0). `None` unless the expression is made of `add` and `subtract` and uses no operand twice.
fn signs(request: &Request) -> Option<(usize, Vec<i64>)> {
    let mut signs = vec![0; request.operands().len()];
    let expression = match request.operation() {
        Operation::Broadcast { .. } => return Some((0, vec![1])),
        Operation::Gradient { .. } | Operation::Vjp { .. } | Operation::Into { .. } => return None,
        Operation::Elementwise { expression } => expression,
    };
    let found = signed_operands(expression)?;
    for &(operand, sign) in &found {
        if std::mem::replace(&mut signs[operand], sign) != 0 {
            return None;
        }
    }
    Some((found.last()?.0, signs))
}

/// The operands from right to left, with 1 if they are added and -1 if they are subtracted.
fn signed_operands(expression: &Expression) -> Option<Vec<(usize, i64)>> {
    let nodes = expression.nodes();
    let mut signs = vec![1; nodes.len()];
    let mut found = Vec::new();
    // In reverse order, a call comes before its arguments.
    for (place, node) in nodes.iter().enumerate().rev() {
        match node {
            Node::Operand(operand) => found.push((*operand, signs[place])),
            Node::Call(call) => {
                let &[left, right] = call.arguments() else { return None };
                signs[left] = signs[place];
                signs[right] = match call.function() {
                    Function::Add => signs[place],
                    Function::Subtract => -signs[place],
                    _ => return None,
                };
            }
        }
    }
    Some(found)
}

/// Which labels each element of the expected result consists of; `None` if it is not clear everywhere.
fn read(operands: &[Label], expected: &ExpectedResult) -> Option<Vec<Vec<usize>>> {
    let mut sums: HashMap<i64, Option<Vec<usize>>> = HashMap::from([(0, Some(Vec::new()))]);
    for Label { sign, numbers, .. } in operands {
        let mut longer = HashMap::new();
        for (sum, labels) in sums {
            let choices = if *sign == 0 { &[0][..] } else { numbers };
            for (label, &number) in choices.iter().enumerate() {
                let labels = labels.clone().map(|mut labels| {
                    labels.push(label);
                    labels
                });
                let sum = sum.checked_add(sign.checked_mul(number)?)?;
                longer.entry(sum).and_modify(|known| *known = None).or_insert(labels);
            }
        }
        sums = longer;
    }
    let values = expected.tensor.values();
    (0..values.len()).map(|place| sums.get(&integer(values, place)?)?.clone()).collect()
}

fn integer(values: &Data, position: usize) -> Option<i64> {
    numbers::whole(values.get(position)?)?.try_into().ok()
}

#[allow(clippy::cast_precision_loss, reason = "the numbers are far below 2^53")]
fn float(number: i64) -> f64 {
    number as f64
}
