//! One instance of a relation: shapes and attributes.

use broadcheck_spec::{Rules, Shape};
use std::fmt;

/// Shapes and attributes for which a relation must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The shapes of the operands in order; the last may be a target.
    pub shapes: Vec<Shape>,
    /// What else the relation is about.
    pub attributes: Attributes,
}

/// What an instance has besides shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// Nothing.
    None,
    /// pdpd's `axis`.
    Axis(Option<i64>),
    /// xla's `broadcast_dimensions`.
    Dimensions(Option<Vec<i64>>),
    /// theano's flags, one list per operand.
    Flags([Vec<bool>; 2]),
    /// An order of the result's axes: the axis that comes to each place.
    Order(Vec<usize>),
}

impl Instance {
    /// The rules of pdpd or xla with the instance's attribute; those of theano for flags; else those of numpy.
    pub(super) fn rules(&self) -> Rules {
        match &self.attributes {
            Attributes::Axis(axis) => Rules::Pdpd { axis: *axis },
            Attributes::Dimensions(list) => Rules::Xla { broadcast_dimensions: list.clone() },
            Attributes::Flags(_) => Rules::Theano,
            Attributes::None | Attributes::Order(_) => Rules::Numpy,
        }
    }

    /// The flags of an operand, where the instance has flags.
    pub(super) fn flags(&self, place: usize) -> Option<&[bool]> {
        match &self.attributes {
            Attributes::Flags(flags) => Some(&flags[place]),
            _ => None,
        }
    }
}

/// `(2,1) (3) broadcast_dimensions [0]`.
impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, shape) in self.shapes.iter().enumerate() {
            write!(f, "{}{shape}", if place == 0 { "" } else { " " })?;
        }
        match &self.attributes {
            Attributes::None => Ok(()),
            Attributes::Axis(None) => write!(f, " without axis"),
            Attributes::Axis(Some(axis)) => write!(f, " axis {axis}"),
            Attributes::Dimensions(None) => write!(f, " without broadcast_dimensions"),
            Attributes::Dimensions(Some(list)) => write!(f, " broadcast_dimensions {list:?}"),
            Attributes::Flags([left, right]) => write!(f, " flags {left:?} {right:?}"),
            Attributes::Order(order) => write!(f, " axes in the order {order:?}"),
        }
    }
}
