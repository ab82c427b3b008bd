//! The faults that are not caught, and why. They stay in the catalogue: they are what the suite or the
//! generator misses.

/// What does not catch a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// No case catches it; a sweep may.
    Cases,
    /// The generator does not catch it within the limit.
    Generator,
}

/// A fault that is not caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The id of the fault.
    pub id: &'static str,
    /// What does not catch it.
    pub escapes: Escape,
    /// Why.
    pub reason: &'static str,
}

const fn missed(id: &'static str, reason: &'static str) -> Survivor {
    Survivor { id, escapes: Escape::Cases, reason }
}

const fn not_drawn(id: &'static str, reason: &'static str) -> Survivor {
    Survivor { id, escapes: Escape::Generator, reason }
}

const REWRITES_REQUESTS: &str =
    "Random expressions rarely have this pattern with the values for which it matters.";
const EXPONENT_REQUESTS: &str =
    "Random powers of negative numbers rarely have so large an exponent and are neither 0 nor infinite.";
const COTANGENT_REQUESTS: &str = "Random cotangents rarely fail to fit in this way.";
const IN_DIM_REQUESTS: &str =
    "Random broadcasts of xla rarely lack every dimension where the target has the operand's rank.";
const WEIGHT_REQUESTS: &str = "Random cotangents are rarely infinite where a path is not taken.";
const BLOCKS_CASES: &str =
    "No case has a destination or a cotangent of more than 1000 elements; sweeps have.";
const BLOCKS_REQUESTS: &str = "Random cotangents are rarely as long as this.";
const KERNELS_CASES: &str = "No case has NaN in a run of more than 512 elements.";
const KERNELS_REQUESTS: &str = "Random runs rarely have these values and this length.";
const VIEWS_CASES: &str = "No case has a view with strides as large as this.";
const VIEWS_REQUESTS: &str = "Random views are too small.";
const STATE_CASES: &str = "No two cases have the same request.";
const STATE_REQUESTS: &str =
    "Random requests rarely repeat a request with only this changed; the sequences do.";
const STATE_PLAN_REQUESTS: &str =
    "Random requests rarely repeat an expression and the first operand's shape with other lengths beside it.";
const SIGNATURE_CASES: &str = "No two cases of the same declared shapes have these lengths; sessions have.";
const SIGNATURE_REQUESTS: &str = "Requests are drawn without declared shapes.";
const SUMS_REQUESTS: &str = "Random gradients rarely have contributions of this form.";

/// Every fault that is not caught.
pub static SURVIVORS: &[Survivor] = &[
    missed("kernels/long-runs-compare-nan", KERNELS_CASES),
    missed("views/strides-in-16-bits", VIEWS_CASES),
    missed("views/collapse-compares-one-byte", VIEWS_CASES),
    missed("state/second-identical-request", STATE_CASES),
    missed("state/signature-keeps-its-refusal", SIGNATURE_CASES),
    missed("state/signature-compares-counts", SIGNATURE_CASES),
    missed("into/blocks-of-8192", BLOCKS_CASES),
    missed("into/blocks-of-1024-backwards", BLOCKS_CASES),
    missed("into/blocks-for-an-operand-backwards", BLOCKS_CASES),
    missed("into/rest-after-1024-not-written", BLOCKS_CASES),
    missed("into/second-8192-over-the-first", BLOCKS_CASES),
    missed("gradient/cotangent-second-8192-reads-the-first", BLOCKS_CASES),
    missed("gradient/cotangent-place-in-16-bits", BLOCKS_CASES),
    missed("gradient/cotangent-rest-after-1024-ignored", BLOCKS_CASES),
    not_drawn("gradient/power-of-an-even-exponent", EXPONENT_REQUESTS),
    not_drawn("gradient/cotangent-weighs-paths-not-taken", WEIGHT_REQUESTS),
    not_drawn("gradient/cotangent-one-stretched", COTANGENT_REQUESTS),
    not_drawn("gradient/cotangent-mismatch-at-the-last-axis", COTANGENT_REQUESTS),
    not_drawn("gradient/cotangent-dtype-not-checked", COTANGENT_REQUESTS),
    not_drawn("rewrites/common-factor", REWRITES_REQUESTS),
    not_drawn("rewrites/abs-is-not-negative", REWRITES_REQUESTS),
    not_drawn("rewrites/abs-of-an-integer-is-not-negative", REWRITES_REQUESTS),
    not_drawn("rewrites/addend-cancelled-in-a-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/negations-cancelled-in-a-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/less-or-greater", REWRITES_REQUESTS),
    not_drawn("rewrites/excluded-middle", REWRITES_REQUESTS),
    not_drawn("rewrites/select-as-abs", REWRITES_REQUESTS),
    not_drawn("rewrites/select-of-a-number", REWRITES_REQUESTS),
    not_drawn("rewrites/select-of-booleans", REWRITES_REQUESTS),
    not_drawn("rewrites/argument-of-an-earlier-link", REWRITES_REQUESTS),
    not_drawn("rewrites/joined-order-not-mirrored", REWRITES_REQUESTS),
    not_drawn("rewrites/power-of-a-half", REWRITES_REQUESTS),
    not_drawn("kernels/long-runs-compare-nan", KERNELS_REQUESTS),
    not_drawn("kernels/exp-overflows-early", KERNELS_REQUESTS),
    not_drawn("kernels/tanh-of-the-interval-beside", KERNELS_REQUESTS),
    not_drawn("views/strides-in-16-bits", VIEWS_REQUESTS),
    not_drawn("state/plan-without-flags", STATE_REQUESTS),
    not_drawn("state/result-without-attributes", STATE_REQUESTS),
    not_drawn("sums/second-level-lost", SUMS_REQUESTS),
    not_drawn("state/second-identical-request", STATE_REQUESTS),
    not_drawn("state/signature-keeps-its-answer", SIGNATURE_REQUESTS),
    not_drawn("state/signature-keeps-its-refusal", SIGNATURE_REQUESTS),
    not_drawn("state/signature-is-checked-once", SIGNATURE_REQUESTS),
    not_drawn("state/signature-compares-ranks", SIGNATURE_REQUESTS),
    not_drawn("state/signature-compares-the-first-operand", SIGNATURE_REQUESTS),
    not_drawn("state/signature-compares-counts", SIGNATURE_REQUESTS),
    not_drawn("state/unknown-length-as-one", SIGNATURE_REQUESTS),
    not_drawn("state/unknown-length-is-not-one", SIGNATURE_REQUESTS),
    not_drawn("rewrites/negated-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/telescoped", REWRITES_REQUESTS),
    not_drawn("state/plan-with-baked-scalars", STATE_PLAN_REQUESTS),
    not_drawn("rewrites/power-by-squaring", REWRITES_REQUESTS),
    not_drawn("rewrites/reciprocal-twice", REWRITES_REQUESTS),
    not_drawn("state/result-by-the-first-values", STATE_REQUESTS),
    not_drawn("state/result-by-the-first-eight-values", STATE_REQUESTS),
    not_drawn("state/result-with-one-zero", STATE_REQUESTS),
    not_drawn("state/result-without-flags", STATE_REQUESTS),
    not_drawn("state/result-without-kind", STATE_REQUESTS),
    not_drawn("state/result-without-offsets", STATE_REQUESTS),
    not_drawn("state/result-without-order", STATE_REQUESTS),
    not_drawn("state/result-without-strides", STATE_REQUESTS),
    not_drawn("state/result-without-wrt", STATE_REQUESTS),
    not_drawn("axis/in-dim-absent-is-identity-at-equal-ranks", IN_DIM_REQUESTS),
    not_drawn("state/plan-without-strides", STATE_PLAN_REQUESTS),
    not_drawn("state/plan-without-order", STATE_REQUESTS),
    not_drawn("sums/divisor-squared", SUMS_REQUESTS),
    not_drawn("gradient/cotangent-second-8192-reads-the-first", BLOCKS_REQUESTS),
    not_drawn("gradient/cotangent-place-in-16-bits", BLOCKS_REQUESTS),
];
