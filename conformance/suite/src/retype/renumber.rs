//! Smaller numbers for a case whose own do not fit into a dtype: negative ones, or hundreds.
//!
//! The numbers of most cases are labels: `a` has 1 to 6 and `b` has 100, 200 and 300, so that each element of
//! a + b shows which elements were read. Such a case can be *renumbered*. The expected result is read as labels:
//! 203 can only be 3 + 200, so it is the third number of `a` and the second of `b`. Then both operands get other
//! numbers, small and in the same order, and the expected result is added up again from those. No
//! implementation takes part in this. A case is left as it is where its expected result does not say
//! unmistakably which numbers were read.

use super::{is_read, numbers, positions, with_values};
use broadcheck_spec::{
    Case, DType, Data, Expectation, ExpectedResult, Expression, Function, Node, Operation, Request, Tensor,
};
use std::collections::HashMap;

/// The case with other numbers, in f64: first without 0, which could come from memory that was never written,
/// then in less room, then around 0.
pub(super) fn variants(case: &Case, to: DType) -> Vec<Case> {
    let Some(labels) = Labels::new(case, room(to)) else { return Vec::new() };
    let lowest = if is_unsigned(to) { 0 } else { -labels.results / 2 };
    [1, 0, lowest].into_iter().filter_map(|least| labels.case(case, least)).collect()
}

/// The number of different results that a dtype has room for.
fn room(dtype: DType) -> i64 {
    match dtype {
        DType::I8 | DType::U8 => 1 << 8,
        // Every integer up to 2^8 of either sign.
        DType::Bf16 => 1 << 9,
        // Every integer up to 2^11 of either sign.
        DType::F16 => 1 << 12,
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::I16 => 1 << 16,
        DType::U64 | DType::U32 | DType::U16 => 1 << 16,
        DType::Bool => 0,
    }
}

fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U64 | DType::U32 | DType::U16 | DType::U8)
}

/// What the numbers of a case stand for.
struct Labels {
    /// Per operand, in the order of the request.
    operands: Vec<Label>,
    /// The number of different results: the product of the numbers of labels.
    results: i64,
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
    fn new(case: &Case, room: i64) -> Option<Labels> {
        let Expectation::Result(expected) = &case.expectation else { return None };
        let request = &case.request;
        let signs = signs(request)?;
        let mut operands = Vec::new();
        let mut results = 1i64;
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
                results =
                    results.checked_mul(numbers.len().try_into().ok()?).filter(|&count| count <= room)?;
            }
            operands.push(Label { sign, numbers, positions });
        }
        let read = read(&operands, expected)?;
        Some(Labels { operands, results, read })
    }

    /// The case in f64 with the smallest numbers of which no two sets of labels give the same result. The least
    /// number of an operand and the least result of a step are `least`.
    fn case(&self, case: &Case, least: i64) -> Option<Case> {
        let Expectation::Result(expected) = &case.expectation else { return None };
        let tables = self.tables(least)?;
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
        let renumbered = "The numbers are smaller than in the case as written, and in the same order.";
        let note = match &case.note {
            Some(note) => format!("{note} {renumbered}"),
            None => renumbered.to_owned(),
        };
        Some(Case { request, expectation, note: Some(note), ..case.clone() })
    }

    /// For each operand, the new number of each label. An operand's numbers are as far apart as the results of
    /// those before it have room between them, as the digits of a number. What is subtracted comes first, and
    /// what it is subtracted from is larger by as much.
    fn tables(&self, least: i64) -> Option<Vec<Vec<i64>>> {
        let mut tables: Vec<Vec<i64>> = vec![Vec::new(); self.operands.len()];
        let mut order: Vec<usize> = (0..self.operands.len()).collect();
        order.sort_by_key(|&place| self.operands[place].sign == 1);
        let (mut step, mut subtracted) = (1i64, 0i64);
        for &place in &order {
            let Label { sign, numbers, .. } = &self.operands[place];
            if *sign == 0 {
                tables[place] = (least..).take(numbers.len()).collect();
                continue;
            }
            let count = i64::try_from(numbers.len()).ok()?;
            tables[place] = (0..count).map(|label| least.max(0) + label * step).collect();
            if *sign == -1 {
                subtracted += least.max(0) + (count - 1) * step;
            }
            step *= count;
        }
        // The first operand is never subtracted.
        let base = if subtracted > 0 { subtracted } else { least.min(0) };
        tables.first_mut()?.iter_mut().for_each(|number| *number += base);
        Some(tables)
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

/// For each operand, whether it is added (1), subtracted (-1) or not used (0). `None` unless the expression is
/// made of `add` and `subtract`, uses no operand twice, and does not subtract the first operand.
fn signs(request: &Request) -> Option<Vec<i64>> {
    let mut signs = vec![0; request.operands().len()];
    match request.operation() {
        Operation::Broadcast { .. } => signs[0] = 1,
        Operation::Gradient { .. } => return None,
        Operation::Elementwise { expression } => {
            for (operand, sign) in signed_operands(expression)? {
                if std::mem::replace(&mut signs[operand], sign) != 0 {
                    return None;
                }
            }
        }
    }
    (signs[0] == 1).then_some(signs)
}

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
