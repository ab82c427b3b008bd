//! What the generator may draw.

use super::signatures::inferred;
use broadcheck::given::Mode;
use broadcheck::relations::rewrite::one;
use broadcheck_judge::limits::covers_request;
use broadcheck_spec::{
    Capabilities, DType, Data, Expression, Function, Operand, Operation, OperationKind, RefusalKind, Request,
    RuleSet, Rules, Shape, Signature, Unknown,
};

/// The highest rank that is drawn unless a profile specifies otherwise.
pub const MAX_RANK: usize = 17;

/// The largest result that is drawn unless a profile specifies otherwise, in elements. It exceeds the size
/// from which the fast engine uses several threads.
pub const MAX_ELEMENTS: usize = 1 << 18;

/// A rule set with one of its operations.
pub(super) type RuleOperation = (RuleSet, OperationKind);

/// The item whose turn it is, and the turn among its own.
fn taken<T: Clone>(items: &[T], turn: u64) -> Option<(T, u64)> {
    let count = items.len() as u64;
    let place = usize::try_from(turn.checked_rem(count)?).ok()?;
    items.get(place).map(|item| (item.clone(), turn / count))
}

/// When signatures of the operation `infer` are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signatures {
    /// Never.
    Never,
    /// Some, besides requests.
    Some,
    /// In place of requests.
    Only,
}

/// When requests are also asked in another form, whose outcome must be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrites {
    /// Never.
    Never,
    /// Some, besides the comparison of two sides.
    Some,
    /// All, in place of the comparison of two sides.
    Only,
}

/// What may be drawn, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub(super) rule_operations: Vec<RuleOperation>,
    /// The operations whose results are inferred.
    pub(super) inferred: Vec<RuleOperation>,
    signatures: Signatures,
    rewrites: Rewrites,
    pub(super) functions: Functions,
    pub(super) dtypes: Vec<DType>,
    pub(super) strided: bool,
    pub(super) max_rank: usize,
    pub(super) max_elements: usize,
    pub(super) limits: Limits,
    pub(super) max_calls: usize,
    /// What every request must be within, once it is drawn.
    capabilities: Capabilities,
    pub(super) refused: u16,
    /// Refusal kinds that faults do not aim for, as a bit set.
    without: u32,
    pub(super) unused: bool,
    pub(super) plain_values: bool,
    pub(super) large: u16,
    /// Whether a gradient may have a cotangent, and be that of a broadcast.
    pub(super) cotangent: bool,
    /// Whether an elementwise operation may have a destination.
    pub(super) into: bool,
    /// The modes in which operands are given.
    given: Vec<Mode>,
}

impl Profile {
    /// Everything that the format can express, except for cotangents and destinations, which literal bytes of
    /// fuzz targets do not have.
    pub fn all() -> Profile {
        Profile::within(&Capabilities { broadcast_in_dim: true, permuted: true, ..Capabilities::all() })
    }

    /// What an implementation declares.
    ///
    /// A profile that would leave nothing to draw (no rule set with one of its operations, no dtype) draws as
    /// [`Profile::all`] does, so that there is always a request.
    pub fn within(capabilities: &Capabilities) -> Profile {
        let mut capabilities = capabilities.clone();
        let inferred = inferred(&capabilities);
        let signatures = match (inferred.is_empty(), rule_operations(&capabilities).is_empty()) {
            (true, _) => Signatures::Never,
            (false, false) => Signatures::Some,
            (false, true) => Signatures::Only,
        };
        if rule_operations(&capabilities).is_empty() || capabilities.dtypes.is_empty() {
            let Capabilities { rules, operations, rule_operations, .. } = Capabilities::all();
            capabilities = Capabilities { rules, operations, rule_operations, ..capabilities };
        }
        // An implementation that only infers has dtypes of its own.
        if capabilities.dtypes.is_empty() {
            capabilities.dtypes = Capabilities::all().dtypes;
        }
        let mut profile = Profile {
            rule_operations: rule_operations(&capabilities),
            inferred,
            signatures,
            rewrites: Rewrites::Some,
            functions: Functions::of(&capabilities),
            dtypes: capabilities.dtypes.clone(),
            strided: capabilities.strided,
            max_rank: capabilities.max_rank.map_or(MAX_RANK, |rank| rank.min(MAX_RANK)),
            max_elements: capabilities.max_elements.min(MAX_ELEMENTS),
            limits: Limits::of(&capabilities),
            max_calls: capabilities.max_calls.unwrap_or(usize::MAX),
            refused: 5,
            without: 0,
            unused: capabilities.unused_operands,
            plain_values: false,
            large: 1,
            cotangent: capabilities.cotangent,
            into: capabilities.into,
            given: Vec::new(),
            capabilities: Capabilities::all(),
        };
        if !capabilities.large_sizes {
            profile = profile.without_refusals(&[RefusalKind::TooLarge]);
        }
        if profile.limits.max_operands < 3 {
            profile = profile.without_refusals(&[RefusalKind::OperandCount]);
        }
        Profile { capabilities, ..profile }
    }

    /// Whether a request that was drawn is within the capabilities.
    pub(super) fn covers(&self, request: &Request) -> bool {
        covers_request(&self.capabilities, request).is_ok()
    }

    /// Whether a signature that was drawn is within the capabilities.
    pub(super) fn covers_signature(&self, signature: &Signature) -> bool {
        self.capabilities.covers_signature(signature).is_ok()
    }

    /// What may be unknown of a shape.
    pub(super) fn unknown(&self) -> &[Unknown] {
        &self.capabilities.unknown
    }

    /// Sets the modes in which the operands of requests are given: they take turns.
    #[must_use]
    pub fn with_given(mut self, modes: &[Mode]) -> Profile {
        self.given = modes.to_vec();
        self
    }

    /// Whether every request is asked again after others of other shapes.
    pub(crate) fn asks_again(&self) -> bool {
        self.given.contains(&Mode::Again)
    }

    /// A request that was drawn, with its operands given in the mode whose turn it is. One that cannot be
    /// given so within the capabilities stays as it is.
    pub(crate) fn given(&self, request: Request, turn: u64) -> Request {
        let modes: Vec<Mode> = self.given.iter().copied().filter(|&mode| mode != Mode::Again).collect();
        let Some((mode, turn)) = taken(&modes, turn) else { return request };
        let steps = mode.variants(&request).into_iter().flat_map(|variant| variant.steps);
        let possible: Vec<Request> =
            steps.map(|step| step.request).filter(|request| self.covers(request)).collect();
        taken(&possible, turn).map_or(request, |(request, _)| request)
    }

    /// When signatures are drawn.
    pub fn signatures(&self) -> Signatures {
        self.signatures
    }

    /// Sets when signatures are drawn. Has no effect if none can be.
    #[must_use]
    pub fn with_signatures(mut self, signatures: Signatures) -> Profile {
        if !self.inferred.is_empty() {
            self.signatures = signatures;
        }
        self
    }

    /// When requests are also asked in another form.
    pub fn rewrites(&self) -> Rewrites {
        self.rewrites
    }

    /// Sets when requests are also asked in another form. If all are, only what has an expression is drawn,
    /// and no signature.
    #[must_use]
    pub fn with_rewrites(mut self, rewrites: Rewrites) -> Profile {
        self.rewrites = rewrites;
        if rewrites == Rewrites::Only {
            let with_expressions = [OperationKind::Elementwise, OperationKind::Gradient];
            return self.with_operations(&with_expressions).with_signatures(Signatures::Never);
        }
        self
    }

    /// A request without a call, of a single operand, that is within the capabilities; `None` if no such
    /// request is.
    pub(super) fn plain_request(&self) -> Option<Request> {
        let ranks = self.limits.least_rank..=self.max_rank.max(self.limits.least_rank);
        let shapes = ranks.map(|rank| Shape::new(vec![1; rank]));
        shapes.into_iter().find_map(|shape| {
            self.rule_operations.iter().find_map(|&(set, operation)| {
                let requests = self.dtypes.iter().filter_map(|&dtype| alone(set, operation, dtype, &shape));
                requests.into_iter().find(|request| self.covers(request))
            })
        })
    }

    /// The values, with 1 in place of subnormal numbers that an implementation would treat as zero.
    pub(super) fn without_flushed(&self, values: Data) -> Data {
        let dtype = values.dtype();
        if !self.capabilities.flushed_subnormals.contains(&dtype) {
            return values;
        }
        let kept = values.iter().map(|value| if value.is_subnormal() { one(dtype) } else { value });
        Data::from_scalars(dtype, kept).expect("values of the same dtype")
    }

    /// Draws only these rule sets. Has no effect if none of them is left.
    #[must_use]
    pub fn with_rules(mut self, rules: &[RuleSet]) -> Profile {
        let kept: Vec<RuleOperation> =
            self.rule_operations.iter().copied().filter(|(set, _)| rules.contains(set)).collect();
        if !kept.is_empty() {
            self.rule_operations = kept;
        }
        self
    }

    /// Draws only these operations. Has no effect if none of them is left.
    #[must_use]
    pub fn with_operations(mut self, operations: &[OperationKind]) -> Profile {
        let kept: Vec<RuleOperation> = self
            .rule_operations
            .iter()
            .copied()
            .filter(|(_, operation)| operations.contains(operation))
            .collect();
        if !kept.is_empty() {
            self.rule_operations = kept;
        }
        self
    }

    /// Whether a request that is drawn may have an expression.
    pub fn draws_expressions(&self) -> bool {
        self.rule_operations.iter().any(|(_, operation)| *operation != OperationKind::Broadcast)
    }

    /// Whether gradients are drawn.
    pub(super) fn draws_gradients(&self) -> bool {
        self.rule_operations.iter().any(|(_, operation)| *operation == OperationKind::Gradient)
    }

    /// The dtypes of operands that are drawn.
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// Whether operands may be views.
    #[must_use]
    pub fn with_strided(mut self, strided: bool) -> Profile {
        self.strided = strided;
        self
    }

    /// Sets the largest result, in elements. (Some requests that are too large to compute are still drawn, if
    /// views or empty operands can express them.)
    #[must_use]
    pub fn with_max_elements(mut self, elements: usize) -> Profile {
        self.max_elements = elements.clamp(1, MAX_ELEMENTS);
        self
    }

    /// Sets how many of 16 requests are drawn to be refused.
    #[must_use]
    pub fn with_refused(mut self, sixteenths: u16) -> Profile {
        self.refused = sixteenths.min(16);
        self
    }

    /// Does not aim for refusals of these kinds: for what a system is known to accept, or what cannot be
    /// expressed for it.
    #[must_use]
    pub fn without_refusals(mut self, kinds: &[RefusalKind]) -> Profile {
        self.without = kinds.iter().fold(self.without, |set, &kind| set | 1 << (kind as u32));
        self
    }

    /// Whether there may be operands that the expression does not use.
    #[must_use]
    pub fn with_unused(mut self, unused: bool) -> Profile {
        self.unused = unused && self.capabilities.unused_operands;
        self
    }

    /// Whether values are positive counters only, without the special values of the dtypes.
    #[must_use]
    pub fn with_plain_values(mut self, plain: bool) -> Profile {
        self.plain_values = plain;
        self
    }

    /// Whether faults aim for refusals of this kind.
    pub(super) fn aims_at(&self, kind: RefusalKind) -> bool {
        self.without & 1 << (kind as u32) == 0
    }

    /// Sets how many of 65536 requests are large.
    #[must_use]
    pub fn with_large(mut self, of_65536: u16) -> Profile {
        self.large = of_65536;
        self
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::all()
    }
}

/// The functions that may be called, for each dtype of their arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Functions {
    /// A bit set for each dtype.
    sets: [u32; DType::ALL.len()],
}

impl Functions {
    fn of(capabilities: &Capabilities) -> Functions {
        let bits = |dtype: DType| -> u32 {
            let functions = Function::ALL.iter().filter(|function| {
                // What an implementation states about no function in particular holds for every dtype.
                match capabilities.function_dtypes.get(*function) {
                    Some(_) => capabilities.has(**function, dtype),
                    None => capabilities.functions.contains(function),
                }
            });
            functions.fold(0, |set, &function| set | bit(function))
        };
        Functions { sets: DType::ALL.map(bits) }
    }

    /// Whether a function may be called with arguments of a dtype.
    pub(super) fn has(&self, function: Function, dtype: DType) -> bool {
        self.sets[dtype as usize] & bit(function) != 0
    }

    /// Whether a function may be called with arguments of some dtype.
    pub(super) fn contains(&self, function: Function) -> bool {
        self.sets.iter().any(|set| set & bit(function) != 0)
    }
}

fn bit(function: Function) -> u32 {
    1 << (function as u32)
}

/// Limits on the shapes of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The lowest rank. If only ranks between 0 and a higher one are missing, scalars are not drawn.
    pub(super) least_rank: usize,
    /// The largest number of operands.
    pub(super) max_operands: usize,
    /// Whether all operands have the same rank.
    pub(super) equal_ranks: bool,
    /// Whether the dimensions of a broadcast under `xla` may decrease.
    pub(super) permuted: bool,
}

impl Limits {
    fn of(capabilities: &Capabilities) -> Limits {
        let least_rank = match capabilities.min_rank {
            0 | 1 => usize::from(!capabilities.scalars),
            more => more,
        };
        Limits {
            least_rank,
            max_operands: capabilities.max_operands.unwrap_or(usize::MAX),
            equal_ranks: capabilities.equal_ranks,
            permuted: capabilities.permuted,
        }
    }
}

/// The request of a single operand of this shape, without a call.
fn alone(set: RuleSet, operation: OperationKind, dtype: DType, shape: &Shape) -> Option<Request> {
    let values = Data::from_scalars(dtype, [one(dtype)]).ok()?;
    let operand = Operand::dense("a", shape.clone(), values).ok()?;
    let expression = Expression::operand(0);
    let operation = match operation {
        OperationKind::Elementwise => Operation::Elementwise { expression },
        OperationKind::Gradient => Operation::Gradient { expression, wrt: 0 },
        OperationKind::Broadcast => Operation::Broadcast { target_shape: shape.clone() },
    };
    let rules = match (set, operation.kind()) {
        (RuleSet::Xla, OperationKind::Broadcast) => {
            let all = (0..shape.rank()).map(|axis| i64::try_from(axis).ok());
            Rules::Xla { broadcast_dimensions: Some(all.collect::<Option<Vec<i64>>>()?) }
        }
        (set, _) => Rules::from(set),
    };
    Request::new(rules, operation, vec![operand]).ok()
}

fn rule_operations(capabilities: &Capabilities) -> Vec<RuleOperation> {
    let operations = |&set: &RuleSet| OperationKind::ALL.into_iter().map(move |operation| (set, operation));
    let pairs = capabilities.rules.iter().flat_map(operations);
    pairs
        .filter(|&(set, operation)| set.has(operation) && capabilities.has_operation(set, operation))
        .filter(|&pair| capabilities.broadcast_in_dim || pair != (RuleSet::Xla, OperationKind::Broadcast))
        .collect()
}
