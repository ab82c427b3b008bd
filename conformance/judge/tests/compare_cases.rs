//! Tests the judge on the suite's cases: the reference's answers pass, and fail as soon as one element is
//! changed.

use broadcheck_judge::compare::{DifferenceKind, Latitude, Verdict, judge};
use broadcheck_reference::Reference;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::parallel::over_ranges;
use broadcheck_spec::{Case, Data, Expectation, Implementation, Outcome, Scalar, Success, Suite, Tensor};
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().expect("the cases load"));

#[test]
fn the_reference_passes_every_case() {
    let reference = Reference::new();
    for case in &SUITE.cases {
        let outcome = reference.run(&case.request);
        for latitude in [Latitude::of(&reference), Latitude::ANY] {
            let verdict = judge(&case.request, &case.expectation, &outcome, latitude);
            assert_eq!(verdict, Verdict::Passed, "{}", case.id);
        }
    }
}

/// A value that no rounding could give.
fn far_from(value: Scalar) -> Scalar {
    let far = |x: f64| if x.is_finite() { 2.0 * x + 3.0 } else { 3.0 };
    match value {
        Scalar::Bool(value) => Scalar::Bool(!value),
        Scalar::F64(x) => Scalar::F64(far(x)),
        Scalar::F32(_) | Scalar::F16(_) | Scalar::Bf16(_) => {
            let wanted = far(value.as_f64().expect("a float"));
            #[allow(clippy::cast_possible_truncation, reason = "any other number is sufficient")]
            match value {
                Scalar::F32(_) => Scalar::F32(wanted as f32),
                Scalar::F16(_) => Scalar::F16(f16::from_f64(wanted)),
                _ => Scalar::Bf16(bf16::from_f64(wanted)),
            }
        }
        Scalar::I64(x) => Scalar::I64(x.wrapping_add(1)),
        Scalar::I32(x) => Scalar::I32(x.wrapping_add(1)),
        Scalar::I16(x) => Scalar::I16(x.wrapping_add(1)),
        Scalar::I8(x) => Scalar::I8(x.wrapping_add(1)),
        Scalar::U64(x) => Scalar::U64(x.wrapping_add(1)),
        Scalar::U32(x) => Scalar::U32(x.wrapping_add(1)),
        Scalar::U16(x) => Scalar::U16(x.wrapping_add(1)),
        Scalar::U8(x) => Scalar::U8(x.wrapping_add(1)),
    }
}

/// The case's expected result with one element changed; `None` if there is nothing to change.
fn changed(case: &Case, place: usize) -> Option<Success> {
    let Expectation::Result(expected) = &case.expectation else { return None };
    let tensor = &expected.tensor;
    let change = |(at, value): (usize, Scalar)| if at == place { far_from(value) } else { value };
    let values = Data::from_scalars(tensor.dtype(), tensor.values().iter().enumerate().map(change)).ok()?;
    let differs = values.iter().zip(tensor.values().iter()).any(|(one, other)| one != other);
    differs.then(|| Success::from(Tensor::new(tensor.shape().clone(), values).expect("as many values")))
}

/// The elements to change: all of a short result, and of a longer one the first, the last and some between.
fn places(count: usize) -> impl Iterator<Item = usize> {
    let apart = if count <= 32 { 1 } else { count / 16 };
    (0..count).filter(move |place| place % apart == 0 || place + 1 == count)
}

/// Cases for which clause V-4b admits more than one value, arbitrarily far apart.
const OPEN: [&str; 1] = ["numpy/values/condition-at-the-edge"];

/// Changes one element of the required result after the other, and returns how many were changed.
fn finds_each_wrong_element(case: &Case) -> usize {
    let Expectation::Result(expected) = &case.expectation else { return 0 };
    let mut judged = 0;
    for place in places(expected.tensor.values().len()) {
        let Some(success) = changed(case, place) else { continue };
        let verdict = judge(&case.request, &case.expectation, &Outcome::Success(success), Latitude::ANY);
        let found = matches!(&verdict, Verdict::Failed(found) if found.kind == DifferenceKind::Values);
        assert!(found, "{} element {place}: {verdict:?}", case.id);
        judged += 1;
    }
    judged
}

#[test]
fn one_wrong_element_is_found_wherever_it_is() {
    let judged: usize = over_ranges(SUITE.cases.len(), 1, |part| {
        let closed = SUITE.cases[part].iter().filter(|case| !OPEN.contains(&case.id.as_str()));
        closed.map(finds_each_wrong_element).sum::<usize>()
    })
    .into_iter()
    .sum();
    assert!(judged > 5000, "{judged} elements");
}
