//! A library with one dtype is judged as hard as one with f64: every fault in shapes, alignment, views or
//! gradients for which f64 alone is failed fails in the other numeric dtypes, by a case or, for the blocks
//! of a kernel, by a sweep of long runs.

use broadcheck::retype::asked;
use broadcheck::run::{Status, run_case};
use broadcheck::sweeps::run_sweep;
use broadcheck_faults::{CATALOGUE, Class, Fault, Faulty};
use broadcheck_spec::{Capabilities, Case, DType, Suite};
use rayon::prelude::*;

/// A library that declares this dtype alone, and no convention.
fn alone(dtype: DType) -> Capabilities {
    let (broadcast_in_dim, permuted, cotangent, into) = (true, true, true, true);
    let words = Capabilities { broadcast_in_dim, permuted, cotangent, into, ..Capabilities::all() };
    Capabilities { dtypes: vec![dtype], ..words }
}

/// The cases that such a library is asked, as it is asked them, the smallest first.
fn cases(suite: &Suite, dtype: DType) -> Vec<Case> {
    let capabilities = alone(dtype);
    let mut cases: Vec<Case> = suite
        .cases
        .iter()
        .filter_map(|case| Some(asked(case, &capabilities).ok()?.case.into_owned()))
        .collect();
    cases.sort_by_cached_key(|case| broadcheck_faults::hunt::size(case).0);
    cases
}

/// Whether the cases fail a library with this dtype and this fault.
fn is_failed(fault: &Fault, dtype: DType, cases: &[Case]) -> bool {
    let faulty = Faulty::new(fault).within(alone(dtype));
    cases.par_iter().any(|case| run_case(&faulty, case, None).status.is_failure())
}

/// Whether a sweep around the length of a block fails it. The cases of such lengths need numbers beyond the
/// range of the small dtypes.
fn is_failed_by_a_sweep(fault: &Fault, dtype: DType, suite: &Suite) -> bool {
    let faulty = Faulty::new(fault).within(alone(dtype));
    let around = suite.sweeps.iter().filter(|sweep| sweep.id.contains("/around-"));
    around.into_iter().any(|sweep| run_sweep(&faulty, sweep, None).judged.status.is_failure())
}

/// A fault in a convention alone, which cannot fail a library that does not follow it.
const IN_A_CONVENTION: &str = "nary/unread-takes-no-part";

/// Faults in values that no case fails in a dtype: this one is wrong from the exponent 2^53 on, and the
/// largest of f16 is 65504.
const IN_VALUES: [(DType, &str); 1] = [(DType::F16, "gradient/power-of-an-even-exponent")];

/// Whether the faults of a class are about shapes, alignment, views or gradients, and not about values,
/// dtypes, sizes or what a refusal says.
fn is_about_broadcasting(class: Class) -> bool {
    match class {
        Class::Lengths
        | Class::Alignment
        | Class::Axis
        | Class::OperandOrder
        | Class::Direction
        | Class::Nary
        | Class::Strides
        | Class::Collapse
        | Class::Blocks
        | Class::Gradient
        | Class::Flags
        | Class::Into => true,
        Class::Dtypes | Class::Sizes | Class::Refusal => false,
        // Many of these depend on a dtype, on the order of requests or on values that a small dtype lacks.
        Class::Rewrites | Class::Kernels | Class::State => false,
        // Its cases have other operands.
        Class::Infer => false,
        Class::Views | Class::ManyOperands | Class::Sums => false,
    }
}

/// Without a fault, a library with this dtype fails none of the cases.
fn assert_sound(dtype: DType, cases: &[Case]) {
    let sound = Faulty::sound().within(alone(dtype));
    cases.par_iter().for_each(|case| {
        let judged = run_case(&sound, case, None);
        let fine = matches!(judged.status, Status::Passed | Status::Agrees);
        assert!(fine, "{} as {dtype}: {}", case.id, judged.detail);
    });
}

#[test]
fn a_fault_is_caught_in_every_dtype() {
    // Every third dtype: floats and integers, signed and unsigned, wide and narrow.
    assert_caught(&survivors(3, 5));
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn every_fault_is_caught_in_every_dtype() {
    let survivors = survivors(1, 1);
    assert_caught(&survivors);
    let caught: Vec<_> = IN_VALUES.iter().filter(|listed| !survivors.contains(listed)).collect();
    assert!(caught.is_empty(), "listed, but no fault that survives: {caught:?}");
}

#[track_caller]
fn assert_caught(survivors: &[(DType, &str)]) {
    let unexpected: Vec<String> = survivors
        .iter()
        .filter(|survivor| !IN_VALUES.contains(survivor))
        .map(|(dtype, id)| format!("{dtype}: {id}"))
        .collect();
    assert!(unexpected.is_empty(), "{} faults:\n{}", unexpected.len(), unexpected.join("\n"));
}

/// Of one fault in so many, others for each dtype, those that neither cases nor sweeps of one dtype in this
/// many catch.
fn survivors(one_dtype_in: usize, one_in: usize) -> Vec<(DType, &'static str)> {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let wide = cases(&suite, DType::F64);
    assert_sound(DType::F64, &wide);
    assert_sound(DType::Bool, &cases(&suite, DType::Bool));
    let faults: Vec<&&Fault> = CATALOGUE
        .iter()
        .filter(|fault| is_about_broadcasting(fault.class) && fault.id != IN_A_CONVENTION)
        .filter(|fault| is_failed(fault, DType::F64, &wide))
        .collect();
    assert!(faults.len() > 100, "f64 alone is failed for {} faults only", faults.len());
    let mut survivors = Vec::new();
    let others = DType::ALL.into_iter().filter(|&dtype| dtype != DType::F64 && dtype != DType::Bool);
    for (turn, dtype) in others.step_by(one_dtype_in).enumerate() {
        let narrow = cases(&suite, dtype);
        assert_sound(dtype, &narrow);
        for fault in faults.iter().skip(turn % one_in).step_by(one_in) {
            // Only floats have gradients.
            let applies = fault.class != Class::Gradient || dtype.is_float();
            if applies && !is_failed(fault, dtype, &narrow) && !is_failed_by_a_sweep(fault, dtype, &suite) {
                survivors.push((dtype, fault.id));
            }
        }
    }
    survivors
}
