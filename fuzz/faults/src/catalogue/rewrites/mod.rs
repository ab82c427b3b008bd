//! The optimiser: algebra that does not hold for floats or for integers that wrap, common subexpressions that
//! are not common, constants that are merged or folded wrongly, and what goes wrong in longer programs.

/// A rule: `None` leaves the term as it is.
macro_rules! rule {
    (|$term:ident, $facts:pat_param| $body:expr) => {
        |d| {
            d.rewrite.rule = |whole, $facts| {
                let rewritten: Option<Term> = (|| {
                    let $term = &whole;
                    $body
                })();
                rewritten.unwrap_or(whole)
            }
        }
    };
}

pub(super) mod arithmetic;
pub(super) mod choices;
pub(super) mod programs;
pub(super) mod terms;

use super::invented;
use crate::engine::convert::{as_f64, convert};
use crate::engine::rewrite::{Facts, Kernel, Term};
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::Function as F;
use broadcheck_spec::{DType, Scalar};

impl Term {
    /// The arguments, if this is a call of the function.
    fn of<const N: usize>(&self, function: F) -> Option<&[Term; N]> {
        match self {
            Term::Call(found, arguments) if *found == function => arguments.as_slice().try_into().ok(),
            Term::Call(..) | Term::Kernel(..) | Term::Operand(_) | Term::Constant(_) => None,
        }
    }

    /// The function and its two arguments.
    fn binary(&self) -> Option<(F, &Term, &Term)> {
        match self {
            Term::Call(function, arguments) => match arguments.as_slice() {
                [a, b] => Some((*function, a, b)),
                _ => None,
            },
            Term::Kernel(..) | Term::Operand(_) | Term::Constant(_) => None,
        }
    }
}

impl Facts<'_> {
    fn is_float(&self, term: &Term) -> bool {
        self.dtype(term).is_float()
    }

    fn is_integer(&self, term: &Term) -> bool {
        self.dtype(term).is_integer()
    }

    /// A number in the dtype of a term.
    fn number(&self, value: f64, like: &Term) -> Term {
        Term::Constant(convert(Scalar::F64(value), self.dtype(like)))
    }

    /// Whether the term is a constant with this value; -0 is 0.
    fn is(&self, term: &Term, value: f64) -> bool {
        self.constant(term)
            .is_some_and(|found| as_f64(found).partial_cmp(&value) == Some(std::cmp::Ordering::Equal))
    }

    fn is_constant(&self, term: &Term) -> bool {
        self.constant(term).is_some()
    }
}

fn call<const N: usize>(function: F, arguments: [&Term; N]) -> Term {
    Term::Call(function, arguments.into_iter().cloned().collect())
}

fn kernel<const N: usize>(like: F, by: fn(&[Scalar]) -> Scalar, arguments: [&Term; N]) -> Term {
    Term::Kernel(Kernel { like, by }, arguments.into_iter().cloned().collect())
}

fn truth(value: bool) -> Term {
    Term::Constant(Scalar::Bool(value))
}

/// Replaces every later term that `same` as an earlier one by that one.
fn shared(term: &Term, seen: &mut Vec<Term>, same: fn(&Term, &Term) -> bool) -> Term {
    let term = match term {
        Term::Call(function, arguments) => {
            let arguments = arguments.iter().map(|argument| shared(argument, seen, same)).collect();
            Term::Call(*function, arguments)
        }
        Term::Operand(_) | Term::Constant(_) | Term::Kernel(..) => return term.clone(),
    };
    match seen.iter().find(|earlier| same(earlier, &term)) {
        Some(earlier) => earlier.clone(),
        None => {
            seen.push(term.clone());
            term
        }
    }
}

/// Replaces every constant operand by the first one with an equal key.
fn pooled(term: &Term, facts: &Facts<'_>, key: fn(Scalar) -> u64) -> Term {
    match term {
        Term::Operand(operand) => {
            let Some(own) = facts.constant(term) else { return term.clone() };
            let equal = |earlier: &usize| {
                let earlier = facts.constant(&Term::Operand(*earlier));
                earlier.is_some_and(|value| value.dtype() == own.dtype() && key(value) == key(own))
            };
            Term::Operand((0..*operand).find(equal).unwrap_or(*operand))
        }
        Term::Call(function, arguments) => {
            Term::Call(*function, arguments.iter().map(|argument| pooled(argument, facts, key)).collect())
        }
        Term::Constant(_) | Term::Kernel(..) => term.clone(),
    }
}

/// The value of a call of constants, computed in another dtype.
fn folded(term: &Term, facts: &Facts<'_>, from: DType, through: DType) -> Option<Term> {
    let (function, a, b) = term.binary()?;
    let values = [facts.constant(a)?, facts.constant(b)?];
    let applies = values.iter().all(|value| value.dtype() == from) && !function.is_predicate();
    let value = apply(function, &values.map(|value| convert(value, through)));
    applies.then(|| Term::Constant(convert(value, from)))
}

fn is_order(function: F) -> bool {
    matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

fn float(value: f64, like: Scalar) -> Scalar {
    convert(Scalar::F64(value), like.dtype())
}

const R: Class = Class::Rewrites;
