//! Fewer and longer loops: axes of length 1 are dropped, and neighbouring axes are merged if every operand's
//! strides allow it.

/// A loop of the nest.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) length: usize,
    /// The stride of each operand.
    pub(crate) strides: Vec<i64>,
}

/// The loop nest, outermost first. The result is written contiguously.
#[derive(Clone, Debug)]
pub(crate) struct LoopNest {
    pub(crate) axes: Vec<Axis>,
    /// The offset of each operand.
    pub(crate) offsets: Vec<i64>,
}

/// The decisions about collapsing.
#[derive(Clone)]
pub(crate) struct Collapse {
    /// Whether a loop can be dropped.
    pub(crate) drops: fn(&Axis) -> bool,
    /// Whether the strides of this operand allow merging the outer and the inner loop.
    pub(crate) even: fn(&Axis, &Axis, usize) -> bool,
    /// Whether to merge two loops, from what each operand allows.
    pub(crate) merges: fn(&[bool]) -> bool,
    /// The merged loop.
    pub(crate) joined: fn(&Axis, &Axis) -> Axis,
    /// The strides that the kernel gets on an axis, from the numbers of axes before and after collapsing.
    pub(crate) passed: fn(&[i64], usize, usize) -> Vec<i64>,
    /// The loop nest that is used, from the collapsed one.
    pub(crate) finished: fn(LoopNest) -> LoopNest,
}

impl Default for Collapse {
    fn default() -> Collapse {
        Collapse {
            drops: |axis| axis.length == 1,
            even,
            merges: |operands| operands.iter().all(|&even| even),
            joined,
            passed: |strides, _, _| strides.to_vec(),
            finished: |nest| nest,
        }
    }
}

/// The outer stride is the inner stride times the inner length.
pub(crate) fn even(outer: &Axis, inner: &Axis, operand: usize) -> bool {
    let walked = i128::from(inner.strides[operand]) * inner.length as i128;
    i128::from(outer.strides[operand]) == walked
}

/// The inner strides over the product of both lengths.
pub(crate) fn joined(outer: &Axis, inner: &Axis) -> Axis {
    Axis { length: outer.length * inner.length, strides: inner.strides.clone() }
}

impl Collapse {
    pub(super) fn collapsed(&self, nest: LoopNest) -> LoopNest {
        let (operands, before) = (nest.offsets.len(), nest.axes.len());
        let mut axes: Vec<Axis> = Vec::with_capacity(nest.axes.len());
        for inner in nest.axes.into_iter().filter(|axis| !(self.drops)(axis)) {
            let merged = axes.last().filter(|outer| {
                let even: Vec<bool> =
                    (0..operands).map(|operand| (self.even)(outer, &inner, operand)).collect();
                (self.merges)(&even)
            });
            match merged.map(|outer| (self.joined)(outer, &inner)) {
                Some(both) => {
                    axes.pop();
                    axes.push(both);
                }
                None => axes.push(inner),
            }
        }
        let after = axes.len();
        for axis in &mut axes {
            axis.strides = (self.passed)(&axis.strides, before, after);
        }
        (self.finished)(LoopNest { axes, offsets: nest.offsets })
    }
}
