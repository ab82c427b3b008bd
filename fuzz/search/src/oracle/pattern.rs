//! A request's features in a few words: the pattern of its shapes, and what remains of the expression and the
//! dtypes once it is shrunk.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::{
    Asked, DType, Expression, Function, Length, Node, Operand, PartialShape, Request, Rules, Shape, Signature,
};
use std::fmt;

/// The features of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent feature of a request")]
pub struct Pattern {
    /// The number of operands: one, two, or three for more.
    pub operands: u8,
    /// The ranks differ.
    pub ranks_differ: bool,
    /// One operand is a scalar and another is not.
    pub scalar: bool,
    /// There is a length of 1 and a length other than 1.
    pub stretched: bool,
    /// Some length is 0.
    pub empty: bool,
    /// Some operand is a view.
    pub strided: bool,
    /// Some length is unknown, or has bounds.
    pub unknown: bool,
    /// Some rank is unknown.
    pub unranked: bool,
    /// The rule set's attribute is given.
    pub attribute: bool,
    /// The function, if there is exactly one.
    pub function: Option<Function>,
    /// The dtype, if there is exactly one.
    pub dtype: Option<DType>,
}

impl Pattern {
    /// The features of this request.
    pub fn of(request: &Request) -> Pattern {
        let operands = request.operands();
        let target = request.operation().target_shape();
        let shapes: Vec<&Shape> = operands.iter().map(Operand::shape).chain(target).collect();
        let rank = shapes[0].rank();
        let ranks_differ = shapes.iter().any(|shape| shape.rank() != rank);
        let length = |value: usize| shapes.iter().any(|shape| shape.contains(&value));
        let dtype = operands[0].dtype();
        Pattern {
            operands: u8::try_from(operands.len().min(3)).unwrap_or(3),
            ranks_differ,
            scalar: ranks_differ && shapes.iter().any(|shape| shape.rank() == 0),
            stretched: length(1) && shapes.iter().any(|shape| shape.iter().any(|&length| length != 1)),
            empty: length(0),
            strided: operands.iter().any(|operand| operand.strides().is_some()),
            unknown: false,
            unranked: false,
            attribute: match request.rules() {
                Rules::Pdpd { axis } => axis.is_some(),
                Rules::Xla { broadcast_dimensions } => broadcast_dimensions.is_some(),
                Rules::Theano => operands.iter().any(|operand| operand.broadcastable().is_some()),
                Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Leading | Rules::Repeat => false,
            },
            function: request.operation().expression().and_then(function),
            dtype: operands.iter().all(|operand| operand.dtype() == dtype).then_some(dtype),
        }
    }

    /// The features of this signature.
    pub(super) fn of_inference(signature: &Signature) -> Pattern {
        let operands = signature.operands();
        let shapes: Vec<&PartialShape> = signature.shapes().collect();
        let ranks_differ = shapes.iter().any(|shape| shape.rank() != shapes[0].rank());
        let lengths: Vec<Length> =
            shapes.iter().filter_map(|shape| shape.lengths()).flatten().copied().collect();
        let number = |value: usize| lengths.iter().any(|length| length.number() == Some(value));
        let dtype = operands[0].dtype();
        Pattern {
            operands: u8::try_from(operands.len().min(3)).unwrap_or(3),
            ranks_differ,
            scalar: ranks_differ && shapes.iter().any(|shape| shape.rank() == Some(0)),
            stretched: number(1) && lengths.iter().any(|length| length.number() != Some(1)),
            empty: number(0),
            strided: false,
            unknown: lengths.iter().any(|length| length.number().is_none()),
            unranked: shapes.iter().any(|shape| shape.rank().is_none()),
            attribute: match signature.rules() {
                Rules::Pdpd { axis } => axis.is_some(),
                Rules::Xla { broadcast_dimensions } => broadcast_dimensions.is_some(),
                Rules::Theano => operands.iter().any(|operand| operand.broadcastable().is_some()),
                Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Leading | Rules::Repeat => false,
            },
            function: match signature.asked() {
                Asked::Expression(expression) => function(expression),
                Asked::TargetShape(_) => None,
            },
            dtype: operands.iter().all(|operand| operand.dtype() == dtype).then_some(dtype),
        }
    }

    /// The pattern without the features that shrinking changes. It selects the first few of many similar
    /// disagreements.
    #[must_use]
    pub(crate) fn coarse(self) -> Pattern {
        Pattern { function: None, dtype: None, ..self }
    }
}

fn function(expression: &Expression) -> Option<Function> {
    let mut calls = expression.nodes().iter().filter_map(|node| match node {
        Node::Call(call) => Some(call.function()),
        Node::Operand(_) => None,
    });
    let first = calls.next()?;
    calls.next().is_none().then_some(first)
}

/// `nary ranks-differ stretched strided add f64`; `plain` if the shapes have no special feature.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features = [
            (self.operands > 2, "nary"),
            (self.ranks_differ && !self.scalar, "ranks-differ"),
            (self.scalar, "scalar"),
            (self.stretched, "stretched"),
            (self.empty, "empty"),
            (self.strided, "strided"),
            (self.unknown, "unknown"),
            (self.unranked, "unranked"),
            (self.attribute, "attribute"),
        ];
        let mut words: Vec<&str> = features.iter().filter_map(|&(has, word)| has.then_some(word)).collect();
        if words.is_empty() {
            words.push("plain");
        }
        words.extend(self.function.map(Function::name));
        words.extend(self.dtype.map(DType::name));
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Expression, Operation};

    fn pattern(shapes: &[&[usize]]) -> String {
        let operands: Vec<Operand> = shapes
            .iter()
            .enumerate()
            .map(|(place, shape)| {
                let count = shape.iter().product();
                Operand::dense(format!("x{place}"), *shape, vec![0i8; count]).unwrap()
            })
            .collect();
        let expression = Expression::call(Function::Negate, [Expression::operand(0)]).unwrap();
        let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
        Pattern::of(&request).to_string()
    }

    #[test]
    fn a_pattern_describes_the_shapes() {
        assert_eq!(pattern(&[&[2]]), "plain negate i8");
        assert_eq!(pattern(&[&[1], &[1]]), "plain negate i8");
        assert_eq!(pattern(&[&[2, 1], &[3]]), "ranks-differ stretched negate i8");
        assert_eq!(pattern(&[&[2, 0], &[], &[2, 0]]), "nary scalar empty negate i8");
    }
}
