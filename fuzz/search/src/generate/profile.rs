//! What the generator may draw.

use broadcheck_spec::{Capabilities, DType, Function, OperationKind, RefusalKind, RuleSet};

/// The highest rank that is drawn unless a profile specifies otherwise.
pub const MAX_RANK: usize = 10;

/// The largest result that is drawn unless a profile specifies otherwise, in elements. It exceeds the size
/// from which the fast engine uses several threads.
pub const MAX_ELEMENTS: usize = 1 << 18;

/// A rule set with one of its operations.
pub(super) type RuleOperation = (RuleSet, OperationKind);

/// What may be drawn, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub(super) rule_operations: Vec<RuleOperation>,
    pub(super) functions: u32,
    pub(super) dtypes: Vec<DType>,
    pub(super) strided: bool,
    pub(super) max_rank: usize,
    pub(super) max_elements: usize,
    pub(super) refused: u16,
    /// Refusal kinds that faults do not aim for, as a bit set.
    without: u32,
    pub(super) unused: bool,
    pub(super) plain_values: bool,
    pub(super) large: u16,
}

impl Profile {
    /// Everything that the format can express.
    pub fn all() -> Profile {
        Profile::within(&Capabilities::all())
    }

    /// What an implementation declares.
    ///
    /// A profile that would leave nothing to draw (no rule set with one of its operations, no dtype) draws as
    /// [`Profile::all`] does, so that there is always a request.
    pub fn within(capabilities: &Capabilities) -> Profile {
        let mut profile = Profile {
            rule_operations: rule_operations(&capabilities.rules, &capabilities.operations),
            functions: 0,
            dtypes: capabilities.dtypes.clone(),
            strided: capabilities.strided,
            max_rank: capabilities.max_rank.map_or(MAX_RANK, |rank| rank.min(MAX_RANK)),
            max_elements: capabilities.max_elements.min(MAX_ELEMENTS),
            refused: 5,
            without: 0,
            unused: true,
            plain_values: false,
            large: 1,
        };
        profile = profile.with_functions(&capabilities.functions);
        if profile.rule_operations.is_empty() {
            profile.rule_operations = rule_operations(&RuleSet::ALL, &OperationKind::ALL);
        }
        if profile.dtypes.is_empty() {
            profile.dtypes = DType::ALL.to_vec();
        }
        profile
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

    /// Draws only these functions.
    #[must_use]
    fn with_functions(mut self, functions: &[Function]) -> Profile {
        self.functions = functions.iter().fold(0, |set, &function| set | bit(function));
        self
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
        self.unused = unused;
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

/// A function as a member of a bit set.
pub(super) fn bit(function: Function) -> u32 {
    1 << (function as u32)
}

fn rule_operations(rules: &[RuleSet], operations: &[OperationKind]) -> Vec<RuleOperation> {
    let pairs = rules.iter().flat_map(|&set| operations.iter().map(move |&operation| (set, operation)));
    pairs.filter(|(set, operation)| set.has(*operation)).collect()
}
