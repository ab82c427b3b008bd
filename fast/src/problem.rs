//! What is planned: a request, or the views of a run under a signature, without the values.
#![deny(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::{DType, Expression, Operand, Operation, Request, Rules, Shape};
use smallvec::SmallVec;

/// The operands that a problem stores inline, with the cotangent.
const INLINE: usize = 4;

/// The layout of an operand, and what else planning reads of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: &'a [usize],
    /// The strides of a view; `None` for a dense operand.
    pub(crate) strides: Option<&'a [i64]>,
    pub(crate) offset: usize,
    /// The number of values that a dense operand reads.
    pub(crate) values: usize,
    /// Whether it is known that the number of elements is at most 2^63-1.
    pub(crate) counted: bool,
    /// The flags of `theano`.
    pub(crate) broadcastable: Option<&'a [bool]>,
    /// Whether it reads the buffer of the destination.
    pub(crate) reads_destination: bool,
}

impl<'a> From<&'a Operand> for Form<'a> {
    #[inline]
    fn from(operand: &'a Operand) -> Form<'a> {
        let (strides, values) = (operand.strides(), operand.values().len());
        Form {
            dtype: operand.dtype(),
            shape: operand.shape().lengths(),
            strides,
            offset: operand.offset(),
            values,
            // A dense operand that has values has one for each element of its shape.
            counted: strides.is_none() && values != 0,
            broadcastable: operand.broadcastable(),
            reads_destination: operand.reads_destination(),
        }
    }
}

/// What is computed of the operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Computed<'a> {
    Elementwise(&'a Expression),
    /// The only operand broadcast to this target.
    Broadcast(&'a [usize]),
    /// The gradient of the sum of an expression's elements, or of a `broadcast` to the target. A cotangent
    /// weighs the elements.
    Gradient {
        expression: &'a Expression,
        wrt: usize,
        target: Option<&'a [usize]>,
    },
}

/// A rule set, what is computed, and the layout of everything that has values.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) computed: Computed<'a>,
    /// The operands, then the cotangent, if there is one.
    forms: SmallVec<[Form<'a>; INLINE]>,
    operands: usize,
    /// The place of the operand that the result is written into (clause INTO-1).
    destination: Option<usize>,
}

impl<'a> Problem<'a> {
    /// The problem of the first `operands` forms; a further one is the cotangent.
    #[inline]
    pub(crate) fn new(
        rules: &'a Rules,
        computed: Computed<'a>,
        forms: impl Iterator<Item = Form<'a>>,
        operands: usize,
    ) -> Problem<'a> {
        Problem { rules, computed, forms: forms.collect(), operands, destination: None }
    }

    #[inline]
    pub(crate) fn of(request: &'a Request) -> Problem<'a> {
        let computed = match request.operation() {
            Operation::Elementwise { expression } | Operation::Into { expression, .. } => {
                Computed::Elementwise(expression)
            }
            Operation::Broadcast { target_shape } => Computed::Broadcast(target_shape.lengths()),
            Operation::Gradient { expression, wrt } => {
                Computed::Gradient { expression, wrt: *wrt, target: None }
            }
            Operation::Vjp { expression, wrt, target_shape, .. } => {
                let target = target_shape.as_ref().map(Shape::lengths);
                Computed::Gradient { expression, wrt: *wrt, target }
            }
        };
        let forms = request.with_values().map(Form::from);
        let problem = Problem::new(request.rules(), computed, forms, request.operands().len());
        Problem { destination: request.operation().destination(), ..problem }
    }

    /// The operands in order, without the cotangent.
    #[inline]
    pub(crate) fn operands(&self) -> &[Form<'a>] {
        &self.forms[..self.operands]
    }

    #[inline]
    pub(crate) fn cotangent(&self) -> Option<&Form<'a>> {
        self.forms.get(self.operands)
    }

    /// The operands, then the cotangent: everything that has values.
    #[inline]
    pub(crate) fn with_values(&self) -> &[Form<'a>] {
        &self.forms
    }

    /// The expression; `None` for a `broadcast`.
    #[inline]
    pub(crate) fn expression(&self) -> Option<&'a Expression> {
        match self.computed {
            Computed::Elementwise(expression) | Computed::Gradient { expression, .. } => Some(expression),
            Computed::Broadcast(_) => None,
        }
    }

    /// The operand that the result is written into, if there is one.
    #[inline]
    pub(crate) fn destination(&self) -> Option<&Form<'a>> {
        self.destination.map(|place| &self.forms[place])
    }

    /// Of each operand, whether it is the destination or reads its buffer.
    pub(crate) fn shares(&self) -> impl Iterator<Item = bool> {
        self.operands()
            .iter()
            .enumerate()
            .map(|(place, form)| Some(place) == self.destination || form.reads_destination)
    }

    /// The expression of `elementwise`, also of one with a destination.
    #[inline]
    pub(crate) fn elementwise(&self) -> Option<&'a Expression> {
        match self.computed {
            Computed::Elementwise(expression) => Some(expression),
            Computed::Broadcast(_) | Computed::Gradient { .. } => None,
        }
    }

    /// The target of a `broadcast` or of its gradient.
    #[inline]
    pub(crate) fn target(&self) -> Option<&'a [usize]> {
        match self.computed {
            Computed::Broadcast(target) => Some(target),
            Computed::Gradient { target, .. } => target,
            Computed::Elementwise(_) => None,
        }
    }

    /// Of a gradient: the operand with respect to which it is differentiated.
    #[inline]
    pub(crate) fn wrt(&self) -> Option<&Form<'a>> {
        match self.computed {
            Computed::Gradient { wrt, .. } => Some(&self.forms[wrt]),
            Computed::Elementwise(_) | Computed::Broadcast(_) => None,
        }
    }
}
