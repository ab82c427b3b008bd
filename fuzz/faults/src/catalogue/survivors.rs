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

const REWRITES_CASES: &str = "No case has this pattern of functions with the values for which it matters.";
const REWRITES_REQUESTS: &str =
    "Random expressions rarely have this pattern with the values for which it matters.";
const KERNELS_CASES: &str = "No case has these values in a run of this length.";
const KERNELS_REQUESTS: &str = "Random runs rarely have these values and this length.";
const VIEWS_CASES: &str = "No case has a view of this form and size.";
const VIEWS_REQUESTS: &str = "Random views are too small.";
const STATE_CASES: &str = "The cases do not repeat a request with only this changed.";
const STATE_REQUESTS: &str = "Random requests do not repeat a request with only this changed.";
const MANY_OPERANDS_CASES: &str = "No case has these operands together.";
const SUMS_CASES: &str = "No case sums contributions of this form.";
const SUMS_REQUESTS: &str = "Random gradients rarely have contributions of this form.";

/// Every fault that is not caught.
pub static SURVIVORS: &[Survivor] = &[
    missed("rewrites/minus-negative-zero", REWRITES_CASES),
    missed("rewrites/zero-divided", REWRITES_CASES),
    missed("rewrites/addends-gathered", REWRITES_CASES),
    missed("rewrites/product-distributed", REWRITES_CASES),
    missed("rewrites/telescoped", REWRITES_CASES),
    missed("rewrites/reciprocal-twice", REWRITES_CASES),
    missed("rewrites/divided-by-a-root", REWRITES_CASES),
    missed("rewrites/negated-sum", REWRITES_CASES),
    missed("rewrites/abs-is-not-negative", REWRITES_CASES),
    missed("rewrites/abs-of-an-integer-is-not-negative", REWRITES_CASES),
    missed("rewrites/abs-of-a-square", REWRITES_CASES),
    missed("rewrites/addend-cancelled-in-a-comparison", REWRITES_CASES),
    missed("rewrites/negations-cancelled-in-a-comparison", REWRITES_CASES),
    missed("rewrites/factor-cancelled-in-a-comparison", REWRITES_CASES),
    missed("rewrites/comparisons-chained", REWRITES_CASES),
    missed("rewrites/less-or-greater", REWRITES_CASES),
    missed("rewrites/excluded-middle", REWRITES_CASES),
    missed("rewrites/negated-conjunction", REWRITES_CASES),
    missed("rewrites/select-as-abs", REWRITES_CASES),
    missed("rewrites/select-of-a-number", REWRITES_CASES),
    missed("rewrites/select-of-equals", REWRITES_CASES),
    missed("rewrites/select-negation-dropped", REWRITES_CASES),
    missed("rewrites/select-nested", REWRITES_CASES),
    missed("rewrites/extremes-absorbed", REWRITES_CASES),
    missed("rewrites/clamp-drops-nan", REWRITES_CASES),
    missed("rewrites/logarithms-merged", REWRITES_CASES),
    missed("rewrites/power-by-squaring", REWRITES_CASES),
    missed("rewrites/negative-power-inverted", REWRITES_CASES),
    missed("rewrites/negative-factor-dropped", REWRITES_CASES),
    missed("kernels/unsigned-order-as-signed-in-the-tail", KERNELS_CASES),
    missed("kernels/wide-order-by-low-halves", KERNELS_CASES),
    missed("kernels/extremes-of-nan", KERNELS_CASES),
    missed("kernels/u8-sums-saturate", KERNELS_CASES),
    missed("kernels/i8-sums-saturate", KERNELS_CASES),
    missed("kernels/u16-differences-saturate", KERNELS_CASES),
    missed("kernels/i8-products-packed", KERNELS_CASES),
    missed("kernels/u8-products-packed", KERNELS_CASES),
    missed("kernels/i16-products-high", KERNELS_CASES),
    missed("kernels/abs-of-the-least-i16", KERNELS_CASES),
    missed("kernels/negation-from-zero", KERNELS_CASES),
    missed("kernels/negation-of-u8-saturates", KERNELS_CASES),
    missed("kernels/product-added-to-zero", KERNELS_CASES),
    missed("kernels/f16-ties-away", KERNELS_CASES),
    missed("kernels/bf16-ties-up", KERNELS_CASES),
    missed("kernels/f16-saturates", KERNELS_CASES),
    missed("kernels/f16-through-bf16-in-the-tail", KERNELS_CASES),
    missed("kernels/order-of-bits", KERNELS_CASES),
    missed("kernels/order-negated", KERNELS_CASES),
    missed("kernels/less-by-the-sign-of-a-difference", KERNELS_CASES),
    missed("kernels/tail-of-fifteen-lacks-its-last", KERNELS_CASES),
    missed("kernels/splat-extreme-drops-nan", KERNELS_CASES),
    missed("kernels/fourth-unrolled-vector-product", KERNELS_CASES),
    missed("kernels/long-runs-lose-negative-zero", KERNELS_CASES),
    missed("kernels/long-runs-compare-nan", KERNELS_CASES),
    missed("kernels/peeled-elements-lose-negative-zero", KERNELS_CASES),
    missed("views/offset-in-words", VIEWS_CASES),
    missed("views/reversed-from-the-end", VIEWS_CASES),
    missed("views/tile-corner-not-transposed", VIEWS_CASES),
    missed("views/tile-rows-left-over", VIEWS_CASES),
    missed("views/equal-buffers-share-strides", VIEWS_CASES),
    missed("views/equal-buffers-share-the-offset", VIEWS_CASES),
    missed("views/beyond-six-axes", VIEWS_CASES),
    missed("views/strides-in-16-bits", VIEWS_CASES),
    missed("views/collapse-compares-one-byte", VIEWS_CASES),
    missed("views/negative-stride-of-three", VIEWS_CASES),
    missed("views/second-view-without-its-gap", VIEWS_CASES),
    missed("state/result-by-the-first-values", STATE_CASES),
    missed("state/result-by-the-first-eight-values", STATE_CASES),
    missed("state/result-with-one-zero", STATE_CASES),
    missed("state/result-without-offsets", STATE_CASES),
    missed("state/second-identical-request", STATE_CASES),
    missed("many-operands/unused-between-others", MANY_OPERANDS_CASES),
    missed("many-operands/linear-if-three-are", MANY_OPERANDS_CASES),
    missed("many-operands/offset-of-the-fourth", MANY_OPERANDS_CASES),
    missed("sums/beyond-sixteen-rows", SUMS_CASES),
    missed("sums/accumulated-in-integers", SUMS_CASES),
    missed("sums/nan-skipped", SUMS_CASES),
    missed("sums/masked-sum", SUMS_CASES),
    missed("sums/divisor-squared", SUMS_CASES),
    not_drawn("rewrites/factors-gathered", REWRITES_REQUESTS),
    not_drawn("rewrites/common-factor", REWRITES_REQUESTS),
    not_drawn("rewrites/telescoped", REWRITES_REQUESTS),
    not_drawn("rewrites/reciprocal-twice", REWRITES_REQUESTS),
    not_drawn("rewrites/negated-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/abs-is-not-negative", REWRITES_REQUESTS),
    not_drawn("rewrites/abs-of-an-integer-is-not-negative", REWRITES_REQUESTS),
    not_drawn("rewrites/addend-cancelled-in-a-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/negations-cancelled-in-a-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/factor-cancelled-in-a-comparison", REWRITES_REQUESTS),
    not_drawn("rewrites/comparisons-chained", REWRITES_REQUESTS),
    not_drawn("rewrites/less-or-greater", REWRITES_REQUESTS),
    not_drawn("rewrites/excluded-middle", REWRITES_REQUESTS),
    not_drawn("rewrites/select-as-abs", REWRITES_REQUESTS),
    not_drawn("rewrites/select-of-a-number", REWRITES_REQUESTS),
    not_drawn("rewrites/select-of-booleans", REWRITES_REQUESTS),
    not_drawn("rewrites/power-of-a-half", REWRITES_REQUESTS),
    not_drawn("kernels/long-runs-compare-nan", KERNELS_REQUESTS),
    not_drawn("kernels/exp-overflows-early", KERNELS_REQUESTS),
    not_drawn("views/strides-in-16-bits", VIEWS_REQUESTS),
    not_drawn("state/plan-without-attributes", STATE_REQUESTS),
    not_drawn("state/plan-without-flags", STATE_REQUESTS),
    not_drawn("state/plan-without-rules", STATE_REQUESTS),
    not_drawn("state/result-by-the-first-eight-values", STATE_REQUESTS),
    not_drawn("state/result-with-one-zero", STATE_REQUESTS),
    not_drawn("state/result-without-wrt", STATE_REQUESTS),
    not_drawn("state/result-without-offsets", STATE_REQUESTS),
    not_drawn("state/result-without-strides", STATE_REQUESTS),
    not_drawn("state/result-without-attributes", STATE_REQUESTS),
    not_drawn("state/result-without-rules", STATE_REQUESTS),
    not_drawn("state/result-without-order", STATE_REQUESTS),
    not_drawn("state/result-without-functions", STATE_REQUESTS),
    not_drawn("state/result-without-flags", STATE_REQUESTS),
    not_drawn("state/plan-without-order", STATE_REQUESTS),
    not_drawn("state/result-without-kind", STATE_REQUESTS),
    not_drawn("state/second-identical-request", STATE_REQUESTS),
    not_drawn("sums/second-level-lost", SUMS_REQUESTS),
    not_drawn("sums/divisor-squared", SUMS_REQUESTS),
];
