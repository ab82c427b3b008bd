//! Special values in every lane: each function of a dtype on long operands in which every special value is in
//! every lane of a vector, and meets every other.
//!
//! The special values of most cases are in short operands, where a kernel for full vectors does not see them.
//! Here operand k repeats a list of P + 2k values: the special values, and one to six counters, so that an
//! element of another lane shows. P is odd. Periods that differ by 2 or 4 have no common factor, and none
//! with the lanes of a vector, which are a power of two. So over the product of two periods all pairs of
//! values occur (Chinese remainder theorem), and over the product of a period and the number of lanes, each
//! value is in each lane.
//!
//! In a matrix, one operand is a column: each row repeats one value of it, against all values of the other,
//! which start at another place in each row. For vectors of every length up to `tails`, the operands are also
//! scalars in turn.
//!
//! Some libraries flush subnormals to zero, and the order of zeros in `maximum` and `minimum` is a
//! convention. Both have cases of their own. Everywhere else, an element that would be about them is
//! replaced.
//!
//! The expected values are computed from the clauses by `arithmetic.rs`.

pub(super) mod specials;

use super::arithmetic::{Format, float, integer, is_defined, power_of_two, value};
use super::long::{case, elementwise};
use super::part::Part;
use broadcheck_spec::{
    Case, Convention, DType, Data, Expression, Function, Operand, RuleSet, Rules, Scalar, Sweep,
};
use specials::{specials, subnormals};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// The size of the widest vectors, in bytes.
const VECTOR: usize = 64;

/// The supported lengths of the vectors of every length.
const TAILS: RangeInclusive<usize> = 0..=512;

/// The names of the sweeps, each with its rule set and dtype.
static NAMES: LazyLock<Vec<(String, RuleSet, DType)>> = LazyLock::new(|| {
    let rules = RuleSet::ALL.into_iter().filter(|&rules| rules != RuleSet::Bidirectional);
    let all =
        rules.flat_map(|rules| DType::ALL.map(|dtype| (format!("{rules}-lanes-{dtype}"), rules, dtype)));
    all.collect()
});

/// The names of the sweeps.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, ..)| name.as_str())
}

/// The rule set and dtype of a sweep; `None` for the name of another sweep.
pub(super) fn named(name: &str) -> Option<(RuleSet, DType)> {
    NAMES.iter().find(|(known, ..)| known == name).map(|&(_, rules, dtype)| (rules, dtype))
}

/// The functions of one dtype on its special values.
pub(super) struct Lanes {
    rules: RuleSet,
    dtype: DType,
    /// The lengths from 1 to this number are asked.
    tails: usize,
}

/// What is computed, of how many operands.
struct Formula {
    name: String,
    expression: Expression,
    operands: usize,
    /// The function, if there is only one.
    single: Option<Function>,
}

/// The values that the operands repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// All but subnormals.
    Special,
    /// Subnormals, and a few others.
    Subnormal,
    /// Zeros of both signs.
    Zeros,
}

/// The shapes of the operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Vectors in which everything is in every lane, and the beginning of one vector more.
    Long,
    /// Vectors of this length.
    Vectors(usize),
    /// Vectors of this length, and one operand a scalar.
    Scalar(usize, usize),
    /// Matrices, and one operand a column.
    Column(usize),
}

/// A request to be made.
struct Plan<'a> {
    formula: &'a Formula,
    values: Values,
    layout: Layout,
}

impl Lanes {
    /// The sweep of this rule set and dtype.
    pub(super) fn new(rules: RuleSet, dtype: DType, tails: usize) -> Result<Lanes, String> {
        if !TAILS.contains(&tails) {
            return Err(format!("with.tails: found {tails}, expected 0 to {}", TAILS.end()));
        }
        Ok(Lanes { rules, dtype, tails })
    }

    pub(super) fn count(&self) -> u128 {
        self.plans(&self.formulas()).len() as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let formulas = self.formulas();
        part.of(self.plans(&formulas)).map(|plan| self.case(sweep, &plan)).collect()
    }

    /// Every function that is defined for the dtype, and a few expressions that compilers fuse.
    fn formulas(&self) -> Vec<Formula> {
        let defined = Function::ALL.iter().filter(|&&function| is_defined(function, self.dtype));
        let singles = defined.map(|&function| Formula {
            name: function.name().replace('_', "-"),
            expression: of_operands(function),
            operands: function.arity(),
            single: Some(function),
        });
        let fused = fused(self.dtype).into_iter().map(|(name, operands, expression)| Formula {
            name: name.to_owned(),
            expression,
            operands,
            single: None,
        });
        singles.chain(fused).filter(|formula| formula.operands <= self.most_operands()).collect()
    }

    fn most_operands(&self) -> usize {
        match self.rules {
            RuleSet::Pdpd | RuleSet::Xla | RuleSet::Repeat => 2,
            RuleSet::None | RuleSet::Numpy | RuleSet::Theano | RuleSet::Bidirectional | RuleSet::Leading => 3,
        }
    }

    /// Whether the rule set stretches this operand.
    fn stretches(&self, operand: usize) -> bool {
        match self.rules {
            RuleSet::None | RuleSet::Bidirectional => false,
            RuleSet::Pdpd | RuleSet::Repeat => operand == 1,
            RuleSet::Numpy | RuleSet::Xla | RuleSet::Theano | RuleSet::Leading => true,
        }
    }

    fn plans<'a>(&self, formulas: &'a [Formula]) -> Vec<Plan<'a>> {
        formulas.iter().flat_map(|formula| self.plans_of(formula)).collect()
    }

    fn plans_of<'a>(&self, formula: &'a Formula) -> Vec<Plan<'a>> {
        let stretched =
            || (0..formula.operands).filter(|&place| formula.operands > 1 && self.stretches(place));
        let mut layouts = vec![Layout::Long];
        if formula.single.is_some() {
            layouts.extend(stretched().map(Layout::Column));
        }
        let mut all = vec![Values::Special];
        all.extend(self.dtype.is_float().then_some(Values::Subnormal));
        let extreme = matches!(formula.single, Some(Function::Maximum | Function::Minimum));
        all.extend((extreme && self.dtype.is_float()).then_some(Values::Zeros));
        let plan = |values| move |layout| Plan { formula, values, layout };
        let mut plans: Vec<Plan<'a>> =
            all.into_iter().flat_map(|values| layouts.iter().copied().map(plan(values))).collect();
        if formula.single.is_some() {
            let stretched: Vec<usize> = stretched().collect();
            for length in 1..=self.tails {
                // Each operand in turn, and another one if one vector more precedes the same tail.
                let turn = (length + length / self.lanes()) % stretched.len().max(1);
                let scalar = stretched.get(turn).map(|&place| Layout::Scalar(place, length));
                plans.extend([Layout::Vectors(length)].into_iter().chain(scalar).map(plan(Values::Special)));
            }
        }
        plans
    }

    /// The lanes of the widest vectors.
    fn lanes(&self) -> usize {
        let bytes = match self.dtype {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        };
        VECTOR / bytes
    }

    fn case(&self, sweep: &Sweep, plan: &Plan<'_>) -> Case {
        let Plan { formula, values, layout } = plan;
        let sources = Sources::new(self.dtype, *values);
        let (rows, length) = self.size(formula, *layout, &sources);
        let at = |operand: usize, row: usize, column: usize| {
            let condition = formula.single == Some(Function::Select) && operand == 0;
            let (place, bits) = match layout {
                Layout::Column(place) if *place == operand => (row, row),
                Layout::Scalar(place, _) if *place == operand => (length, length),
                Layout::Long | Layout::Column(_) => (row + column, (column / 8) >> (column % 8)),
                // Vectors of different lengths start at different places of the lists.
                Layout::Vectors(_) | Layout::Scalar(..) => {
                    (column + (5 + 2 * operand) * length, (column / 8 + 37 * length) >> (column % 8))
                }
            };
            if condition { Scalar::Bool(bits % 2 == 1) } else { sources.value(operand, place) }
        };
        // The operand whose elements may be replaced: the first that has all elements.
        let is_whole = |&operand: &usize| match layout {
            Layout::Long | Layout::Vectors(_) => true,
            Layout::Scalar(place, _) | Layout::Column(place) => *place != operand,
        };
        let replaced = (0..formula.operands).find(is_whole).unwrap_or(0);
        let mut found: Vec<Vec<Scalar>> = vec![Vec::with_capacity(rows * length); formula.operands];
        let mut result = Vec::with_capacity(rows * length);
        let mut arguments = Vec::with_capacity(formula.operands);
        for (row, column) in (0..rows).flat_map(|row| (0..length).map(move |column| (row, column))) {
            arguments.clear();
            arguments.extend((0..formula.operands).map(|operand| at(operand, row, column)));
            let mut attempts = 0;
            let answer = loop {
                if let Some(answer) = formula.answer(&arguments, *values) {
                    break answer;
                }
                arguments[replaced] = sources.replacement(column, attempts);
                attempts += 1;
            };
            result.push(answer);
            for (operand, &argument) in found.iter_mut().zip(&arguments) {
                operand.push(argument);
            }
        }
        let shape = match layout {
            Layout::Column(_) => vec![rows, length],
            Layout::Long | Layout::Vectors(_) | Layout::Scalar(..) => vec![length],
        };
        let operands =
            found.into_iter().enumerate().map(|(place, values)| self.operand(place, *layout, &shape, values));
        let expected = data(result);
        let request = elementwise(
            self.rules_for(*layout),
            formula.expression.clone(),
            operands.collect(),
            &shape,
            expected,
        );
        let convention = (*values == Values::Zeros).then_some(Convention::ZeroSigns);
        Case { convention, ..case(sweep, &plan.name(), request) }
    }

    /// The number of rows and their length.
    fn size(&self, formula: &Formula, layout: Layout, sources: &Sources) -> (usize, usize) {
        let lanes = self.lanes();
        let periods: Vec<usize> = (0..formula.operands).map(|operand| sources.period(operand)).collect();
        let longest = periods.iter().copied().max().unwrap_or(0);
        // Whole vectors, and a part of one that is not half of it.
        let with_tail = |length: usize| length.next_multiple_of(lanes) + lanes / 2 + 3;
        match layout {
            Layout::Long => {
                let pairs = periods.iter().rev().take(2).product();
                // A condition has every byte of eight lanes.
                let conditions = if formula.single == Some(Function::Select) { 8 * 256 } else { 0 };
                (1, with_tail((longest * lanes).max(pairs).max(conditions)))
            }
            Layout::Column(_) => (longest, with_tail(longest)),
            Layout::Vectors(length) | Layout::Scalar(_, length) => (1, length),
        }
    }

    /// An operand of a layout, given a value for each element of the result.
    fn operand(&self, place: usize, layout: Layout, shape: &[usize], values: Vec<Scalar>) -> Operand {
        let name = ["a", "b", "c"][place];
        let dense = |shape: &[usize], values| {
            Operand::dense(name, shape, data(values)).expect("one value per element")
        };
        match layout {
            Layout::Scalar(which, _) if which == place => dense(&[], values[..1].to_vec()),
            Layout::Column(which) if which == place => {
                let column = values.into_iter().step_by(shape[1]).collect();
                match self.rules {
                    RuleSet::Pdpd | RuleSet::Leading => dense(&[shape[0]], column),
                    RuleSet::Theano => {
                        let flags = vec![false, true];
                        dense(&[shape[0], 1], column).with_broadcastable(flags).expect("one flag per axis")
                    }
                    RuleSet::None
                    | RuleSet::Numpy
                    | RuleSet::Xla
                    | RuleSet::Bidirectional
                    | RuleSet::Repeat => dense(&[shape[0], 1], column),
                }
            }
            Layout::Long | Layout::Vectors(_) | Layout::Scalar(..) | Layout::Column(_) => {
                dense(shape, values)
            }
        }
    }

    fn rules_for(&self, layout: Layout) -> Rules {
        match (self.rules, layout) {
            (RuleSet::Pdpd, Layout::Column(_)) => Rules::Pdpd { axis: Some(0) },
            (rules, _) => Rules::from(rules),
        }
    }
}

impl Formula {
    /// The value for these arguments; `None` if it is about what has cases of its own.
    fn answer(&self, arguments: &[Scalar], values: Values) -> Option<Scalar> {
        let call = |function: Function, arguments: &[Scalar]| {
            let is_zero = |value: &Scalar| value.as_f64() == Some(0.0);
            let unordered = matches!(function, Function::Maximum | Function::Minimum)
                && arguments.iter().all(is_zero)
                && arguments[0] != arguments[1];
            if unordered && values != Values::Zeros {
                return Err(());
            }
            let value = value(function, arguments);
            let is_tiny = value.is_subnormal() || is_tiny_before_rounding(function, arguments, value);
            if is_tiny && values != Values::Subnormal { Err(()) } else { Ok(value) }
        };
        match self.single {
            Some(function) => call(function, arguments).ok(),
            None => self.expression.try_values(|operand| arguments[operand], call).ok()?.pop(),
        }
    }
}

/// Whether a product or quotient is subnormal before it is rounded to the smallest normal number. Systems
/// that flush subnormals flush it, too.
fn is_tiny_before_rounding(function: Function, arguments: &[Scalar], value: Scalar) -> bool {
    let Some(found) = value.as_f64() else { return false };
    let least = power_of_two(Format::of(value.dtype()).lowest());
    let exact: Vec<f64> = arguments.iter().filter_map(|argument| argument.as_f64()).map(f64::abs).collect();
    let remainder = match (function, &exact[..]) {
        (Function::Multiply, &[a, b]) => a.mul_add(b, -least),
        (Function::Divide, &[a, b]) => (-least).mul_add(b, a),
        _ => return false,
    };
    found.abs() == least && remainder < 0.0
}

impl Plan<'_> {
    fn name(&self) -> String {
        let values = match self.values {
            Values::Special => "",
            Values::Subnormal => "-of-subnormals",
            Values::Zeros => "-of-zeros",
        };
        let layout = match self.layout {
            Layout::Long => "-long".to_owned(),
            Layout::Vectors(length) => format!("-{length}"),
            Layout::Scalar(place, length) => format!("-{length}-scalar-{}", ["a", "b", "c"][place]),
            Layout::Column(place) => format!("-column-{}", ["a", "b", "c"][place]),
        };
        format!("{}{values}{layout}", self.formula.name)
    }
}

/// The lists that the operands repeat.
struct Sources {
    dtype: DType,
    values: Vec<Scalar>,
}

impl Sources {
    fn new(dtype: DType, values: Values) -> Sources {
        let values = match values {
            Values::Special => specials(dtype),
            Values::Subnormal => subnormals(dtype),
            Values::Zeros => [0.0, -0.0, 1.0, -1.0].map(|value| float(dtype, value)).to_vec(),
        };
        Sources { dtype, values }
    }

    /// The length of an operand's list: odd.
    fn period(&self, operand: usize) -> usize {
        self.values.len().div_ceil(2) * 2 + 1 + 2 * operand
    }

    /// The value at a place of an operand's repeated list.
    fn value(&self, operand: usize, place: usize) -> Scalar {
        let within = self.values.get(place % self.period(operand));
        within.copied().unwrap_or_else(|| counter(self.dtype, place + operand))
    }

    /// What replaces an element in the first attempt, the second and the third.
    fn replacement(&self, place: usize, attempt: usize) -> Scalar {
        let other =
            |value| if self.dtype.is_float() { float(self.dtype, value) } else { counter(self.dtype, 0) };
        match attempt {
            0 => counter(self.dtype, place),
            1 => other(1.0),
            2 => other(f64::NAN),
            _ => panic!("NaN is always possible"),
        }
    }
}

/// One of the numbers 2 to 60.
fn counter(dtype: DType, place: usize) -> Scalar {
    let number = u8::try_from(place % 59).expect("below 59") + 2;
    if dtype.is_float() {
        float(dtype, f64::from(number))
    } else if dtype == DType::Bool {
        Scalar::Bool(place.count_ones() % 2 == 1)
    } else {
        integer(dtype, i128::from(number))
    }
}

/// Values of one dtype. There is at least one.
fn data(values: Vec<Scalar>) -> Data {
    let dtype = values[0].dtype();
    Data::from_scalars(dtype, values).expect("values of one dtype")
}

/// A function of the operands in order.
fn of_operands(function: Function) -> Expression {
    call(function, (0..function.arity()).map(Expression::operand))
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("as many arguments as the function has")
}

/// Expressions of two or three functions that compilers rewrite or fuse: the name, the number of operands and
/// the expression.
fn fused(dtype: DType) -> Vec<(&'static str, usize, Expression)> {
    use Function::{
        Abs, Add, Divide, Equal, Less, LessEqual, LogicalAnd, LogicalNot, Maximum, Minimum, Multiply, Negate,
        NotEqual, Select, Sqrt, Subtract,
    };
    let [a, b, c] = [0, 1, 2].map(Expression::operand);
    let (a, b) = (|| a.clone(), || b.clone());
    let mut all = vec![
        ("is-other-than-itself", 1, call(NotEqual, [a(), a()])),
        ("equals-itself", 1, call(Equal, [a(), a()])),
        ("not-equal-by-logic", 2, call(LogicalNot, [call(Equal, [a(), b()])])),
    ];
    if dtype == DType::Bool {
        all.push(("and-not", 2, call(LogicalAnd, [a(), call(LogicalNot, [b()])])));
        return all;
    }
    all.extend([
        ("multiply-add", 2, call(Add, [call(Multiply, [a(), b()]), a()])),
        ("add-and-subtract", 2, call(Subtract, [call(Add, [a(), b()]), b()])),
        ("clip", 3, call(Minimum, [call(Maximum, [a(), b()]), c])),
        ("smaller-by-select", 2, call(Select, [call(Less, [a(), b()]), a(), b()])),
        ("negate-of-abs", 1, call(Negate, [call(Abs, [a()])])),
        ("less-by-logic", 2, call(LogicalAnd, [call(LessEqual, [a(), b()]), call(NotEqual, [a(), b()])])),
    ]);
    if dtype.is_float() {
        all.extend([
            ("divide-by-root", 2, call(Divide, [a(), call(Sqrt, [b()])])),
            ("divide-twice", 2, call(Divide, [call(Divide, [a(), b()]), b()])),
        ]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sweep(id: &str) -> Sweep {
        Sweep {
            id: id.to_owned(),
            title: "It holds.".to_owned(),
            clause: "V-1".to_owned(),
            examples: Vec::new(),
            sources: Vec::new(),
            sweep: String::new(),
            with: Default::default(),
            expected_cases: 1,
            note: None,
            location: Default::default(),
        }
    }

    /// The values of an operand, as their bits.
    fn bits(case: &Case, operand: usize) -> Vec<u64> {
        case.request.operands()[operand].values().iter().map(Scalar::to_bits).collect()
    }

    #[test]
    fn every_special_value_is_in_every_lane_and_meets_every_other() {
        for dtype in DType::ALL {
            let lanes = Lanes { rules: RuleSet::Numpy, dtype, tails: 0 };
            let all = lanes.cases(&sweep("numpy/x"), Part::WHOLE);
            let named = |name: &str| all.iter().find(|case| case.id == format!("numpy/x/{name}")).unwrap();
            let width = lanes.lanes();
            let values = specials(dtype);
            let pairs = |case: &Case,
                         a: &dyn Fn(usize) -> usize,
                         b: &dyn Fn(usize) -> usize,
                         whole: usize| {
                let (left, right) = (bits(case, 0), bits(case, 1));
                let met: BTreeSet<(u64, u64)> =
                    (0..whole).map(|place| (left[a(place)], right[b(place)])).collect();
                for a in &values {
                    for b in &values {
                        assert!(met.contains(&(a.to_bits(), b.to_bits())), "{}: {dtype} {a} {b}", case.id);
                    }
                }
            };
            let in_lanes = |case: &Case, operand: usize, whole: usize| {
                let found = bits(case, operand);
                let seen: BTreeSet<(usize, u64)> =
                    (0..whole).map(|place| (place % width, found[place])).collect();
                for lane in 0..width {
                    for value in &values {
                        assert!(
                            seen.contains(&(lane, value.to_bits())),
                            "{}: {dtype} {value} {lane}",
                            case.id
                        );
                    }
                }
            };
            let long = named("equal-long");
            let length = bits(long, 0).len();
            let whole = length / width * width;
            assert_eq!(length - whole, width / 2 + 3);
            pairs(long, &|place| place, &|place| place, whole);
            in_lanes(long, 0, whole);
            in_lanes(long, 1, whole);
            // In a matrix, only the whole vectors of each row count.
            let column = named("equal-column-b");
            let [_, length] = column.request.operands()[0].shape().lengths() else { panic!("a matrix") };
            let whole = length / width * width;
            let places: Vec<usize> =
                (0..bits(column, 0).len()).filter(|place| place % length < whole).collect();
            pairs(column, &|place| places[place], &|place| places[place] / length, places.len());
            let select = named("select-long");
            let Data::Bool(conditions) = select.request.operands()[0].values() else { panic!("bool") };
            let bytes: BTreeSet<&[bool]> = conditions.chunks_exact(8).collect();
            assert_eq!(bytes.len(), 256);
            in_lanes(select, 1, bits(select, 1).len() / width * width);
            in_lanes(select, 2, bits(select, 1).len() / width * width);
        }
    }

    #[test]
    fn subnormals_and_zeros_are_in_cases_of_their_own() {
        for dtype in [DType::F64, DType::F32, DType::F16, DType::Bf16] {
            let lanes = Lanes { rules: RuleSet::Theano, dtype, tails: 3 };
            for case in lanes.cases(&sweep("theano/x"), Part::WHOLE) {
                let broadcheck_spec::Expectation::Result(result) = &case.expectation else {
                    panic!("{}", case.id)
                };
                let operands = case.request.operands().iter().map(Operand::values);
                let any = operands
                    .chain([result.tensor.values()])
                    .any(|data| data.iter().any(Scalar::is_subnormal));
                assert_eq!(any, case.id.contains("-of-subnormals"), "{}", case.id);
                assert_eq!(case.convention.is_some(), case.id.contains("-of-zeros"), "{}", case.id);
            }
        }
    }

    #[test]
    fn most_values_are_not_replaced() {
        // Only a product, quotient or power that is subnormal is, and a maximum of zeros of both signs.
        let lanes = Lanes { rules: RuleSet::Numpy, dtype: DType::F32, tails: 0 };
        for case in lanes.cases(&sweep("numpy/x"), Part::WHOLE) {
            if !case.id.ends_with("-long") || case.id.contains("select") || case.id.contains("-of-") {
                continue;
            }
            let sources = Sources::new(DType::F32, Values::Special);
            let found = case.request.operands()[0].values().iter().enumerate();
            let replaced = found.filter(|&(place, value)| value != sources.value(0, place)).count();
            assert!(replaced * 8 < case.request.operands()[0].values().len(), "{}: {replaced}", case.id);
        }
    }
}
