//! The admitted values that an export lists and the judge agree: on the expected values of every case, and on
//! answers in which one element was altered.

use broadcheck::sweeps::{Expansion, expand};
use broadcheck_judge::compare::{Latitude, Verdict, admitted, judge};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Admitted, Case, DType, Data, Expectation, ExpectedResult, OperationKind, Outcome, Scalar, Success, Suite,
    Tensor, json,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How far from the expected value and from the ends of the entries an element is altered, in ULPs.
const STEPS: [i64; 14] = [1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 8, -8, 100, -100];

/// A value of a dtype by its bits, of which the low ones count.
#[allow(clippy::cast_possible_truncation, reason = "the low bits are the value's")]
fn of_bits(dtype: DType, bits: u64) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(f64::from_bits(bits)),
        DType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
        DType::F16 => Scalar::F16(f16::from_bits(bits as u16)),
        DType::Bf16 => Scalar::Bf16(bf16::from_bits(bits as u16)),
        DType::I64 => Scalar::I64(bits.cast_signed()),
        DType::I32 => Scalar::I32((bits as u32).cast_signed()),
        DType::I16 => Scalar::I16((bits as u16).cast_signed()),
        DType::I8 => Scalar::I8((bits as u8).cast_signed()),
        DType::U64 => Scalar::U64(bits),
        DType::U32 => Scalar::U32(bits as u32),
        DType::U16 => Scalar::U16(bits as u16),
        DType::U8 => Scalar::U8(bits as u8),
        DType::Bool => Scalar::Bool(bits & 1 == 1),
    }
}

/// The bits of +infinity; `None` for a dtype without one.
fn infinity(dtype: DType) -> Option<u64> {
    match dtype {
        DType::F64 => Some(f64::INFINITY.to_bits()),
        DType::F32 => Some(f32::INFINITY.to_bits().into()),
        DType::F16 => Some(f16::INFINITY.to_bits().into()),
        DType::Bf16 => Some(bf16::INFINITY.to_bits().into()),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => None,
        DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => None,
    }
}

fn sign_bit(dtype: DType) -> u64 {
    let digits = of_bits(dtype, 0).bits_in_hexadecimal().len() - 2;
    1 << (4 * digits - 1)
}

/// A value some steps further on: for floats in the order -inf, …, -0, +0, …, +inf, NaN.
fn stepped(value: Scalar, steps: i64) -> Scalar {
    let (dtype, bits) = (value.dtype(), value.to_bits());
    let sign = sign_bit(dtype);
    if !dtype.is_float() {
        return of_bits(dtype, bits.wrapping_add(steps.cast_unsigned()));
    }
    let magnitude = (bits & (sign - 1)).cast_signed();
    let place = if bits & sign == 0 { magnitude } else { -1 - magnitude } + steps;
    of_bits(dtype, if place >= 0 { place.cast_unsigned() } else { (-1 - place).cast_unsigned() | sign })
}

/// The value halfway between two, counted in steps.
fn middle(lower: Scalar, upper: Scalar) -> Scalar {
    let at = |scalar: Scalar| {
        let sign = sign_bit(scalar.dtype());
        let magnitude = (scalar.to_bits() & (sign - 1)).cast_signed();
        if scalar.to_bits() & sign == 0 { magnitude } else { -1 - magnitude }
    };
    if lower.dtype().is_float() { stepped(lower, at(upper) / 2 - at(lower) / 2) } else { lower }
}

/// Numbers without an apparent order.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// What an element is replaced by, each once and never by itself. A NaN may be replaced by another.
fn alterations(values: &[Scalar], place: usize, entries: &[Admitted], random: &mut Random) -> Vec<Scalar> {
    let (value, dtype) = (values[place], values[place].dtype());
    let mut all: Vec<Scalar> = STEPS.map(|steps| stepped(value, steps)).into();
    for entry in entries {
        let (ends, inside) = match *entry {
            Admitted::Value(value) => ([value; 2], value),
            Admitted::Between { lower, upper } => ([lower, upper], middle(lower, upper)),
        };
        all.push(inside);
        all.extend(ends.iter().flat_map(|&end| [-2, -1, 0, 1, 2].map(|steps| stepped(end, steps))));
    }
    let sign = sign_bit(dtype);
    all.extend([0, 1, sign, sign | 1, sign - 1].map(|bits| of_bits(dtype, bits)));
    if let Some(infinity) = infinity(dtype) {
        // The largest number, infinity and a NaN, with both signs.
        let ends = [infinity - 1, infinity, infinity + 1];
        all.extend(ends.iter().flat_map(|&bits| [bits, bits | sign]).map(|bits| of_bits(dtype, bits)));
    }
    all.push(of_bits(dtype, value.to_bits() ^ sign));
    all.extend([1, 2, 3].map(|further| values[(place + further) % values.len()]));
    all.extend([(); 4].map(|()| of_bits(dtype, random.next())));
    let mut seen = BTreeSet::from([value.to_bits()]);
    all.retain(|one| seen.insert(one.to_bits()));
    all
}

/// Whether a consumer of the export finds a value right.
fn is_right(expected: Scalar, entries: Option<&Vec<Admitted>>, found: Scalar) -> bool {
    match entries {
        Some(entries) => entries.iter().any(|entry| entry.admits(found)),
        None => Admitted::Value(expected).admits(found),
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Count {
    cases: usize,
    /// With an element that has entries; of these, gradients.
    cases_with_entries: usize,
    gradients_with_entries: usize,
    /// The elements with entries, by kind.
    elements: BTreeMap<&'static str, usize>,
    altered: usize,
    /// The altered answers that pass, and all, at elements with entries.
    passed_with_entries: usize,
    altered_with_entries: usize,
    /// The altered answers that pass at other elements: those in which one NaN was replaced by another.
    passed_without: usize,
    wrong: Vec<String>,
}

fn kind_of(entries: &[Admitted]) -> &'static str {
    let zero = |entry: &Admitted| matches!(entry, Admitted::Value(value) if value.as_f64() == Some(0.0));
    let nan =
        |entry: &Admitted| matches!(entry, Admitted::Value(value) if value.as_f64().is_some_and(f64::is_nan));
    match entries {
        [Admitted::Between { .. }] => "an interval",
        [Admitted::Between { .. }, .., last] if nan(last) => "intervals or NaN",
        all if all.iter().all(zero) => "zeros of both signs",
        all if all.iter().any(|entry| matches!(entry, Admitted::Between { .. })) => "intervals and values",
        _ => "values",
    }
}

/// Which elements and alterations of a case are compared.
#[derive(Clone, Copy)]
struct Extent {
    /// The most elements with entries, and without.
    elements: [usize; 2],
    /// Of the alterations of an element without entries, every nth.
    every: usize,
}

impl Count {
    fn compare(&mut self, case: &Case, latitude: Latitude, extent: Extent, random: &mut Random) {
        let Expectation::Result(expected) = &case.expectation else { return };
        self.cases += 1;
        let values: Vec<Scalar> = expected.tensor.values().iter().collect();
        let passes = |values: &[Scalar]| judged(case, expected, values, latitude);
        let list = match admitted(&case.request, expected, latitude) {
            Ok(list) => list,
            Err(difference) => {
                if passes(&values) {
                    self.wrong.push(format!("{}: {difference}, but the expected values pass", case.id));
                }
                return;
            }
        };
        assert!(passes(&values), "{}: the expected values", case.id);
        self.cases_with_entries += usize::from(!list.is_empty());
        let gradient = case.request.operation().kind() == OperationKind::Gradient;
        self.gradients_with_entries += usize::from(!list.is_empty() && gradient);
        for (&place, entries) in &list {
            check_form(case, values[place], entries);
            *self.elements.entry(kind_of(entries)).or_default() += 1;
        }
        for place in places(&list, values.len(), extent, random) {
            self.alter(case, &values, (place, list.get(&place)), extent, random, passes);
        }
    }

    fn alter(
        &mut self,
        case: &Case,
        values: &[Scalar],
        (place, entries): (usize, Option<&Vec<Admitted>>),
        extent: Extent,
        random: &mut Random,
        passes: impl Fn(&[Scalar]) -> bool,
    ) {
        let alterations = alterations(values, place, entries.map_or(&[], Vec::as_slice), random);
        let every = if entries.is_some() { 1 } else { extent.every };
        let mut altered = values.to_vec();
        for value in alterations.into_iter().skip(place % every).step_by(every) {
            altered[place] = value;
            let right = is_right(values[place], entries, value);
            let passed = passes(&altered);
            if right != passed {
                let judged = if passed { "passes" } else { "is rejected" };
                self.wrong.push(format!(
                    "{} element {place}: expected {}, altered to {value} ({}), which {judged}: {entries:?}",
                    case.id,
                    values[place],
                    value.bits_in_hexadecimal()
                ));
            }
            self.altered += 1;
            if entries.is_some() {
                self.altered_with_entries += 1;
                self.passed_with_entries += usize::from(passed);
            } else {
                self.passed_without += usize::from(passed);
            }
        }
    }

    fn agree(&self) {
        println!("{self:#?}");
        let first = &self.wrong[..self.wrong.len().min(20)];
        assert!(first.is_empty(), "{} disagreements:\n{}", self.wrong.len(), first.join("\n"));
    }
}

fn judged(case: &Case, expected: &ExpectedResult, values: &[Scalar], latitude: Latitude) -> bool {
    let data =
        Data::from_scalars(expected.tensor.dtype(), values.iter().copied()).expect("values of the dtype");
    let tensor = Tensor::new(expected.tensor.shape().clone(), data).expect("as many values");
    let outcome = Outcome::Success(Success::from(tensor));
    judge(&case.request, &case.expectation, &outcome, latitude) == Verdict::Passed
}

/// The elements to alter: as many as the extent allows with entries and without, from a random one on.
fn places(
    list: &BTreeMap<usize, Vec<Admitted>>,
    count: usize,
    extent: Extent,
    random: &mut Random,
) -> Vec<usize> {
    let (with, without): (Vec<usize>, Vec<usize>) = (0..count).partition(|place| list.contains_key(place));
    let mut chosen = Vec::new();
    for (places, most) in [with, without].iter().zip(extent.elements) {
        let first = usize::try_from(random.next() % places.len().max(1) as u64).expect("a small number");
        chosen.extend(places.iter().cycle().skip(first).take(most.min(places.len())));
    }
    chosen
}

/// An element has entries only if it has several right values, of which the expected one is one; and what an
/// export writes of them has the same bits.
fn check_form(case: &Case, expected: Scalar, entries: &[Admitted]) {
    assert!(entries.iter().any(|entry| entry.admits(expected)), "{}: {expected}: {entries:?}", case.id);
    assert_ne!(entries, [Admitted::Value(expected)], "{}", case.id);
    let written = json::admitted_to_value(&[(0, entries.to_vec())].into());
    for (entry, written) in entries.iter().zip(written["0"].as_array().expect("a list")) {
        match *entry {
            Admitted::Value(value) => assert_eq!(read(written, "value", "bits", value), value, "{}", case.id),
            Admitted::Between { lower, upper } => {
                assert_ne!(lower, upper, "{}", case.id);
                assert_eq!(read(written, "lower", "lower_bits", lower), lower, "{}", case.id);
                assert_eq!(read(written, "upper", "upper_bits", upper), upper, "{}", case.id);
            }
        }
    }
}

/// A value of an entry as a program in another language reads it, by its bits, which its decimal must match.
fn read(entry: &Value, decimal: &str, bits: &str, like: Scalar) -> Scalar {
    let digits = entry[bits].as_str().and_then(|text| text.strip_prefix("0x")).expect("bits");
    let value = of_bits(like.dtype(), u64::from_str_radix(digits, 16).expect("hexadecimal digits"));
    let text = entry[decimal].as_str().map_or_else(|| entry[decimal].to_string(), str::to_owned);
    match (value.as_f64(), value.as_i128()) {
        (Some(value), _) => {
            let decimal: f64 = text.parse().expect("a number");
            assert!(decimal.to_bits() == value.to_bits() || (decimal.is_nan() && value.is_nan()), "{entry}");
        }
        (_, Some(value)) => assert_eq!(text, value.to_string()),
        _ => assert_eq!(text, (value == Scalar::Bool(true)).to_string()),
    }
    value
}

fn suite() -> Suite {
    Suite::builtin().expect("the cases load")
}

#[test]
fn the_judge_and_the_entries_agree_on_some_elements_of_every_case() {
    let extent = Extent { elements: [1, 1], every: 7 };
    let (mut count, mut random) = (Count::default(), Random(1));
    for case in &suite().cases {
        count.compare(case, Latitude::ANY, extent, &mut random);
    }
    count.agree();
    assert!(count.cases_with_entries > 100 && count.altered_with_entries > 5000, "{count:?}");
    let rejected = count.altered_with_entries - count.passed_with_entries;
    assert!(count.passed_with_entries > 1000 && rejected > 1000, "{count:?}");
}

/// Every element of every case, and of some cases of every sweep, for three latitudes.
#[test]
#[ignore = "takes a minute unless optimised: cargo test --release -p broadcheck --test admitted -- --ignored"]
fn the_judge_and_the_entries_agree_on_every_element() {
    let strict = Latitude { ulp: 2, any_zero_of_extremes: false };
    let exact = Latitude { ulp: 0, any_zero_of_extremes: true };
    let mut random = Random(2);
    for latitude in [Latitude::ANY, strict, exact] {
        let mut count = Count::default();
        for case in &suite().cases {
            let extent = Extent { elements: [usize::MAX, 64], every: 1 };
            count.compare(case, latitude, extent, &mut random);
        }
        count.agree();
        assert!(count.altered > 100_000, "{count:?}");
    }
    let mut count = Count::default();
    for sweep in &suite().sweeps {
        let Ok(Expansion::Cases(cases)) = expand(sweep) else { continue };
        let rules = |case: &Case| case.request.rules().set().name().to_owned() + "/";
        assert!(cases.iter().all(|case| sweep.id.starts_with(&rules(case))), "{}", sweep.id);
        let small =
            |case: &&Case| case.request.operands().iter().all(|operand| operand.values().len() <= 2048);
        for case in cases.iter().filter(small).step_by((cases.len() / 20).max(1)) {
            count.compare(case, Latitude::ANY, Extent { elements: [2, 1], every: 5 }, &mut random);
        }
    }
    count.agree();
}
