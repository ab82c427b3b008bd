//! What is inferred before the run: bounds, acceptance, ranks, which refusal.

use super::{invented, report};
use crate::engine::Decisions;
use crate::engine::infer::{
    Axis, Onto, Together, always_stretched, equal, hull, intersection, is_one, onto, stretched,
};
use crate::{Class, Fault};
use broadcheck_spec::{
    Accepts, Asked, Inference, Length, OperandType, PartialShape, RefusalKind, Rules, Signature,
};

/// Replaces what stretched lengths give, under every rule set that stretches both.
fn everywhere(decisions: &mut Decisions, together: Together) {
    decisions.infer.stretched = together;
    decisions.infer.in_dim = together;
}

/// Replaces what a length gives that is stretched onto another.
fn onto_both(decisions: &mut Decisions, onto: Onto) {
    decisions.infer.onto_a = onto;
    decisions.infer.onto_target = onto;
}

/// The lengths that cannot be 1.
fn long(lengths: &[Length]) -> Vec<Length> {
    lengths.iter().copied().filter(|length| !length.admits(1)).collect()
}

/// Whether a length of the shape is no number.
fn has_unknown_length(shape: &PartialShape) -> bool {
    shape.lengths().is_some_and(|lengths| lengths.iter().any(|length| length.number().is_none()))
}

fn bounded(min: usize, max: Option<usize>) -> Option<Length> {
    Length::bounded(min, max)
}

/// The correct answer, with another length.
fn with_length(lengths: &[Length], length: impl FnOnce(Length) -> Length) -> Option<Axis> {
    stretched(lengths).map(|axis| Axis { length: length(axis.length), ..axis })
}

/// The correct answer, with another acceptance.
fn with_always(lengths: &[Length], always: impl FnOnce(bool) -> bool) -> Option<Axis> {
    stretched(lengths).map(|axis| Axis { always: always(axis.always), ..axis })
}

fn highest(lengths: &[Length]) -> Option<usize> {
    hull(lengths).max()
}

/// The signature with other lengths.
fn with_lengths(signature: &Signature, change: fn(Length) -> Length) -> Option<Signature> {
    let changed = |shape: &PartialShape| match shape.lengths() {
        Some(lengths) => PartialShape::Ranked(lengths.iter().map(|&length| change(length)).collect()),
        None => PartialShape::Unranked,
    };
    let asked = match signature.asked() {
        Asked::TargetShape(target) => Asked::TargetShape(changed(target)),
        Asked::Expression(expression) => Asked::Expression(expression.clone()),
    };
    let operand = |operand: &OperandType| typed(operand, changed(operand.shape()), operand.broadcastable());
    let operands = signature.operands().iter().map(operand).collect::<Option<Vec<OperandType>>>()?;
    Signature::new(signature.rules().clone(), asked, operands).ok()
}

/// The operand with another shape and other flags.
fn typed(operand: &OperandType, shape: PartialShape, flags: Option<&[bool]>) -> Option<OperandType> {
    let changed = OperandType::new(operand.name(), operand.dtype(), shape).ok()?;
    match flags {
        Some(flags) => changed.with_broadcastable(flags.to_vec()).ok(),
        None => Some(changed),
    }
}

/// The signature with the shape of one operand replaced by a scalar, if there are so many operands.
fn without_shape(signature: &Signature, place: usize) -> Option<Signature> {
    let ignored = signature.operands().get(place)?;
    let scalar = PartialShape::Ranked(Vec::new());
    let mut operands = signature.operands().to_vec();
    operands[place] = typed(ignored, scalar, ignored.broadcastable().map(|_| &[][..]))?;
    Signature::new(signature.rules().clone(), signature.asked().clone(), operands).ok()
}

fn is_select(signature: &Signature) -> bool {
    let Asked::Expression(expression) = signature.asked() else { return false };
    expression.calls().any(|call| call.arguments().len() == 3)
}

fn dimensions(list: Vec<i64>) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(list) }
}

/// The signature under other rules.
fn under(signature: &Signature, rules: Rules) -> Option<Signature> {
    Signature::new(rules, signature.asked().clone(), signature.operands().to_vec()).ok()
}

pub(super) static FAULTS: &[Fault] = &[
    // Bounds.
    invented(
        "infer/larger-upper-bound",
        Class::Infer,
        "Lengths that cannot be 1 give the larger of their upper bounds.",
        |d| {
            everywhere(d, |lengths| {
                let long = long(lengths);
                stretched(lengths)?;
                let high = highest(&long);
                with_length(lengths, |length| match long.len() {
                    0 => length,
                    _ => bounded(length.min(), high).unwrap_or(length),
                })
            });
        },
    ),
    invented(
        "infer/smaller-lower-bound",
        Class::Infer,
        "Lengths that cannot be 1 give the smaller of their lower bounds.",
        |d| {
            everywhere(d, |lengths| {
                let long = long(lengths);
                with_length(lengths, |length| match long.len() {
                    0 => length,
                    _ => bounded(hull(&long).min(), length.max()).unwrap_or(length),
                })
            });
        },
    ),
    invented(
        "infer/zero-lost",
        Class::Infer,
        "A result that may be empty is inferred to have at least one element on the axis.",
        |d| {
            everywhere(d, |lengths| {
                with_length(lengths, |length| match length.min() {
                    0 => bounded(1, length.max()).unwrap_or(length),
                    _ => length,
                })
            });
        },
    ),
    invented(
        "infer/zero-is-unknown",
        Class::Infer,
        "An unknown length with 0 gives an unknown length, as TensorFlow infers.",
        |d| {
            everywhere(d, |lengths| {
                let unknown = lengths.contains(&Length::UNKNOWN);
                with_length(lengths, |length| {
                    if unknown && length.number() == Some(0) { Length::UNKNOWN } else { length }
                })
            });
        },
    ),
    invented("infer/unknown-with-one-is-one", Class::Infer, "An unknown length with 1 gives 1.", |d| {
        everywhere(d, |lengths| {
            let one = lengths.iter().any(|&length| is_one(length));
            with_length(
                lengths,
                |length| if one && length == Length::UNKNOWN { Length::exactly(1) } else { length },
            )
        });
    }),
    invented(
        "infer/bounds-with-one-are-one",
        Class::Infer,
        "Bounds that contain 1, with the number 1, give 1.",
        |d| {
            everywhere(d, |lengths| {
                let one = lengths.iter().any(|&length| is_one(length));
                let open = lengths.contains(&Length::UNKNOWN);
                with_length(lengths, |length| {
                    if one && !open && length.admits(1) { Length::exactly(1) } else { length }
                })
            });
        },
    ),
    invented(
        "infer/intersected-where-all-can-be-one",
        Class::Infer,
        "Lengths that can all be 1 give what they have in common.",
        |d| {
            everywhere(d, |lengths| {
                let common = intersection(lengths);
                let all =
                    lengths.len() > 1 && lengths.iter().all(|&length| length.admits(1) && !is_one(length));
                with_length(lengths, |length| common.filter(|_| all).unwrap_or(length))
            });
        },
    ),
    invented(
        "infer/enclosed-where-one-is-impossible",
        Class::Infer,
        "Lengths that cannot be 1 give everything from the lowest to the highest bound.",
        |d| {
            everywhere(d, |lengths| {
                let long = long(lengths);
                with_length(lengths, |length| if long.is_empty() { length } else { hull(&long) })
            });
        },
    ),
    Fault {
        id: "infer/unknown-is-not-one",
        class: Class::Infer,
        title: "An unknown length is not expected to turn out to be 1.",
        reports: &[report("pytorch", "https://github.com/pytorch/pytorch/issues/136640")],
        plant: |d| {
            everywhere(d, |lengths| {
                let others: Vec<Length> = lengths.iter().copied().filter(|&length| !is_one(length)).collect();
                if lengths.contains(&Length::UNKNOWN) { equal(&others) } else { stretched(lengths) }
            });
        },
    },
    invented("infer/lower-bound-dropped", Class::Infer, "The lower bound of a length is not read.", |d| {
        d.infer.asked = |signature| {
            with_lengths(signature, |length| match length.number() {
                Some(_) => length,
                None => bounded(0, length.max()).unwrap_or(length),
            })
        };
    }),
    invented("infer/upper-bound-dropped", Class::Infer, "The upper bound of a length is not read.", |d| {
        d.infer.asked = |signature| {
            with_lengths(signature, |length| match length.number() {
                Some(_) => length,
                None => bounded(length.min(), None).unwrap_or(length),
            })
        };
    }),
    invented(
        "infer/upper-bound-excluded",
        Class::Infer,
        "The upper bound of a length is one more than its highest value.",
        |d| {
            d.infer.asked = |signature| {
                with_lengths(signature, |length| match length.number() {
                    Some(_) => length,
                    None => bounded(length.min(), length.max().map(|max| max - 1)).unwrap_or(length),
                })
            };
        },
    ),
    invented(
        "infer/bounded-length-is-its-bound",
        Class::Infer,
        "A length with an upper bound alone is taken for that number, as XLA's builder does.",
        |d| {
            d.infer.asked = |signature| {
                with_lengths(signature, |length| match (length.min(), length.max()) {
                    (0, Some(max)) => Length::exactly(max),
                    _ => length,
                })
            };
        },
    ),
    invented(
        "infer/first-operand-decides",
        Class::Infer,
        "Lengths that can all be 1 give the first one's bounds.",
        |d| {
            everywhere(d, |lengths| {
                let all = lengths.iter().all(|&length| length.admits(1) && !is_one(length));
                let first = lengths.first().copied();
                with_length(lengths, |length| first.filter(|_| all).unwrap_or(length))
            });
        },
    ),
    invented(
        "infer/third-length-ignored",
        Class::Infer,
        "Of three lengths on an axis, only the first two are combined.",
        |d| everywhere(d, |lengths| stretched(&lengths[..lengths.len().min(2)])),
    ),
    // What is accepted.
    invented(
        "infer/unknown-lengths-always-accepted",
        Class::Infer,
        "Two unknown lengths are taken for one and the same, so every run is accepted.",
        |d| {
            everywhere(d, |lengths| {
                let all = lengths.iter().all(|&length| length == Length::UNKNOWN);
                with_always(lengths, |always| always || all)
            });
        },
    ),
    invented(
        "infer/equal-bounds-always-accepted",
        Class::Infer,
        "Equal lengths need not be one number for every run to be accepted.",
        |d| {
            let always: Together = |lengths| {
                equal(lengths).map(|axis| Axis {
                    always: axis.always || lengths.iter().all(|length| *length == lengths[0]),
                    ..axis
                })
            };
            d.infer.equal = always;
            d.infer.fixed = always;
        },
    ),
    invented(
        "infer/unknown-with-one-depends",
        Class::Infer,
        "Whether an unknown length with 1 is accepted depends on the run.",
        |d| {
            everywhere(d, |lengths| {
                let known = lengths.iter().all(|length| length.number().is_some());
                with_always(lengths, |always| always && (known || lengths.len() == 1))
            });
        },
    ),
    invented(
        "infer/at-most-one-with-zero-depends",
        Class::Infer,
        "Whether ..1 with 0 is accepted depends on the run.",
        |d| {
            everywhere(d, |lengths| {
                let zero = lengths.iter().any(|length| length.number() == Some(0));
                let known = lengths.iter().all(|length| length.number().is_some());
                with_always(lengths, |always| always && (known || !zero))
            });
        },
    ),
    invented(
        "infer/one-or-two-always-accepted",
        Class::Infer,
        "Lengths that can be 1 go with every number.",
        |d| {
            everywhere(d, |lengths| {
                let all =
                    lengths.iter().filter(|length| length.number().is_none()).all(|length| length.min() == 1);
                let numbers = lengths.iter().filter(|length| length.number().is_some()).count();
                with_always(lengths, |always| always || (all && numbers >= 1))
            });
        },
    ),
    invented(
        "infer/refused-though-it-may-fit",
        Class::Infer,
        "A run that is not accepted in every case is refused, as XLA refuses an unknown length with a number.",
        |d| {
            everywhere(d, |lengths| {
                let unsure = lengths.len() == 2
                    && lengths.contains(&Length::UNKNOWN)
                    && lengths.iter().any(|length| length.number().is_some_and(|number| number > 1));
                stretched(lengths).filter(|_| !unsure)
            });
        },
    ),
    invented(
        "infer/never-refused",
        Class::Infer,
        "Unknown lengths that never fit are not refused before the run.",
        |d| {
            everywhere(d, |lengths| {
                let known = lengths.iter().all(|length| length.number().is_some());
                let anything = Axis { length: Length::UNKNOWN, always: false };
                stretched(lengths).or(if known { None } else { Some(anything) })
            });
        },
    ),
    invented(
        "infer/refused-at-the-last-axis",
        Class::Infer,
        "Of several axes that no run complies with, the last is reported.",
        |d| d.infer.reported = |broken| broken[broken.len() - 1],
    ),
    invented(
        "infer/refused-at-the-first-unknown-axis",
        Class::Infer,
        "The refusal names axis 0, where only some runs fail.",
        |d| {
            d.infer.refused = |signature, refusal| match refusal.kind {
                Some(RefusalKind::DimensionMismatch) if !signature.is_known() && refusal.axis.is_some() => {
                    Err(refusal.at_axis(0))
                }
                _ => Err(refusal),
            };
        },
    ),
    // One way and two ways.
    invented(
        "infer/a-is-stretched",
        Class::Infer,
        "Under pdpd, A is stretched to B, as OpenVINO infers.",
        |d| d.infer.onto_a = |a, b| stretched(&[a, b]),
    ),
    invented(
        "infer/target-is-stretched",
        Class::Infer,
        "The target of a broadcast is stretched to the operand.",
        |d| d.infer.onto_target = |target, length| stretched(&[target, length]),
    ),
    invented(
        "infer/operand-is-not-checked",
        Class::Infer,
        "The result has the target's or A's length whatever the other length is, as OpenVINO infers.",
        |d| onto_both(d, |target, _| Some(Axis { length: target, always: false })),
    ),
    invented(
        "infer/onto-always-accepted",
        Class::Infer,
        "A length that can be 1 is always accepted by the target or by A.",
        |d| {
            onto_both(d, |target, length| {
                onto(target, length).map(|axis| Axis { always: axis.always || length.admits(1), ..axis })
            });
        },
    ),
    invented(
        "infer/axes-beyond-a-unchecked",
        Class::Infer,
        "Under pdpd, axes of B that lie beyond A are not checked.",
        |d| d.infer.beyond = |_| (false, true),
    ),
    invented(
        "infer/axes-beyond-a-refused",
        Class::Infer,
        "Under pdpd, an axis of B beyond A that may be 1 is refused, as OpenVINO does.",
        |d| d.infer.beyond = |length| (!is_one(length), true),
    ),
    invented("infer/axis-ignored", Class::Infer, "The attribute axis of pdpd is not read.", |d| {
        d.infer.asked = |signature| match signature.rules() {
            Rules::Pdpd { axis: Some(_) } => under(signature, Rules::Pdpd { axis: None }),
            _ => None,
        };
    }),
    Fault {
        id: "infer/axis-beside-an-unknown-length",
        class: Class::Infer,
        title: "Under pdpd, B starts at axis 0 if one of its lengths is unknown and no other axis is given.",
        reports: &[report("Paddle", "https://github.com/PaddlePaddle/Paddle/pull/23913")],
        plant: |d| {
            d.infer.asked = |signature| match (signature.rules(), signature.operands()) {
                (Rules::Pdpd { axis: None | Some(-1) }, [_, b]) if has_unknown_length(b.shape()) => {
                    under(signature, Rules::Pdpd { axis: Some(0) })
                }
                _ => None,
            };
        },
    },
    invented(
        "infer/named-axes-ignored",
        Class::Infer,
        "The lower operand's axes are aligned on the right, whatever the dimensions name.",
        |d| {
            d.infer.asked = |signature| match (signature.rules(), signature.operands()) {
                (Rules::Xla { broadcast_dimensions: Some(list) }, [left, right]) => {
                    let (left, right) = (left.shape().rank()?, right.shape().rank()?);
                    let (low, high) = (left.min(right), left.max(right));
                    let aligned: Vec<i64> =
                        (high - low..high).filter_map(|axis| i64::try_from(axis).ok()).collect();
                    let valid = list.len() == low
                        && list.windows(2).all(|pair| pair[0] < pair[1])
                        && list.iter().all(|&axis| usize::try_from(axis).is_ok_and(|axis| axis < high));
                    if valid { under(signature, dimensions(aligned)) } else { None }
                }
                _ => None,
            };
        },
    ),
    // Flags.
    invented(
        "infer/stretched-without-a-flag",
        Class::Infer,
        "Under theano, lengths on axes flagged False are stretched.",
        |d| d.infer.fixed = stretched,
    ),
    invented(
        "infer/flag-is-trusted",
        Class::Infer,
        "A length that may be 1 satisfies its flag in every run.",
        |d| d.infer.flagged = |length| (!length.admits(1), true),
    ),
    invented(
        "infer/flag-is-not-checked",
        Class::Infer,
        "A length that is never 1 may be flagged True.",
        |d| d.infer.flagged = |length| (false, is_one(length)),
    ),
    invented("infer/flags-lost", Class::Infer, "The result's flags are all False.", |d| {
        d.infer.answered = |_, inference| {
            let broadcastable = inference.broadcastable.map(|flags| vec![false; flags.len()]);
            Inference { broadcastable, ..inference }
        };
    }),
    // Ranks.
    invented(
        "infer/unknown-rank-is-the-others",
        Class::Infer,
        "Under numpy, an unknown rank is taken for the other operand's.",
        |d| {
            d.infer.unknown_rank = |axes, _| {
                let lengths = axes.iter().map(|axis| axis.length).collect();
                (PartialShape::Ranked(lengths), false)
            };
        },
    ),
    invented(
        "infer/known-rank-lost",
        Class::Infer,
        "Under none, a result is of unknown rank if an operand is.",
        |d| d.infer.other_rank = |_| PartialShape::Unranked,
    ),
    invented(
        "infer/unknown-rank-always-accepted",
        Class::Infer,
        "Under numpy, an operand of unknown rank goes with everything.",
        |d| d.infer.unknown_rank = |_, _| (PartialShape::Unranked, true),
    ),
    // Operands and dtypes.
    invented(
        "infer/condition-left-out",
        Class::Infer,
        "The condition of a select does not contribute to the shape.",
        |d| {
            d.infer.asked = |signature| if is_select(signature) { without_shape(signature, 0) } else { None };
        },
    ),
    invented(
        "infer/third-operand-ignored",
        Class::Infer,
        "The third operand does not contribute to the shape.",
        |d| {
            d.infer.asked = |signature| if is_select(signature) { None } else { without_shape(signature, 2) };
        },
    ),
    invented(
        "infer/predicate-has-the-operands-dtype",
        Class::Infer,
        "A comparison has the dtype of its first operand.",
        |d| {
            d.infer.answered = |signature, inference| {
                let dtype = signature.operands()[0].dtype();
                let is_bool = inference.dtype == broadcheck_spec::DType::Bool;
                Inference { dtype: if is_bool { dtype } else { inference.dtype }, ..inference }
            };
        },
    ),
    invented(
        "infer/select-has-the-condition-dtype",
        Class::Infer,
        "A select has the dtype of its first operand, the condition.",
        |d| {
            d.infer.answered = |signature, inference| {
                let dtype = signature.operands()[0].dtype();
                Inference { dtype: if is_select(signature) { dtype } else { inference.dtype }, ..inference }
            };
        },
    ),
    invented(
        "infer/always-accepted",
        Class::Infer,
        "What is not refused before the run is taken for accepted.",
        |d| {
            d.infer.answered =
                |_, inference| Inference { accepts: inference.accepts.map(|_| Accepts::Always), ..inference };
        },
    ),
    invented(
        "infer/acceptance-by-numbers-alone",
        Class::Infer,
        "Runs are always accepted only where all lengths are numbers.",
        |d| {
            everywhere(d, |lengths| {
                let known = lengths.iter().all(|length| length.number().is_some());
                with_always(lengths, |_| known && always_stretched(lengths))
            });
        },
    ),
];
