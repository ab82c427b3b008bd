//! Aligns operands if a flag per axis says whether it stretches (rule set `theano`).

use super::Aligned;
use broadcheck_spec::{Operand, Refusal, RefusalKind};

/// An axis of an operand, as the rule sees it.
#[derive(Clone, Copy)]
pub(crate) struct Flagged {
    pub(crate) length: usize,
    pub(crate) flag: bool,
    /// The operand's index.
    pub(crate) operand: usize,
    /// Whether the operand has the axis, rather than it being added on the left.
    pub(crate) own: bool,
    /// Whether axes were added to the operand.
    pub(crate) lacks: bool,
}

/// The decisions about `theano`.
#[derive(Clone)]
pub(crate) struct Theano {
    /// THEANO-1: the flags of an operand without flags.
    pub(crate) absent: fn(&Operand) -> Vec<bool>,
    /// THEANO-1: whether a flagged axis may have this length.
    pub(crate) valid: fn(usize) -> bool,
    /// THEANO-1: the operand that a violation names, from the index of the violator and the number of
    /// operands.
    pub(crate) violator: fn(usize, usize) -> usize,
    /// THEANO-2: the axes of an operand that are aligned with the result, in order, from its flags.
    pub(crate) laid: fn(&[bool]) -> Vec<usize>,
    /// THEANO-2: the flag of an axis that is added on the left.
    pub(crate) added: bool,
    /// THEANO-3: whether an axis stretches, given all axes aligned with it.
    pub(crate) stretches: fn(Flagged, &[Flagged]) -> bool,
    /// THEANO-3: the length of the result, from the lengths that do not stretch and from all axes.
    pub(crate) length: fn(&[usize], &[Flagged]) -> Option<usize>,
    /// THEANO-4: the flag of the result.
    pub(crate) result: fn(&[Flagged]) -> bool,
}

impl Default for Theano {
    fn default() -> Theano {
        Theano {
            absent: |operand| vec![false; operand.rank()],
            valid: |length| length == 1,
            violator: |place, _| place,
            laid: |flags| (0..flags.len()).collect(),
            added: true,
            stretches: |axis, _| axis.flag,
            length: |fixed, _| match fixed {
                [] => Some(1),
                [first, rest @ ..] => rest.iter().all(|length| length == first).then_some(*first),
            },
            result: |axes| axes.iter().all(|axis| axis.flag),
        }
    }
}

impl Theano {
    pub(super) fn align(&self, operands: &[Operand], shapes: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        let given = |operand: &Operand| operand.broadcastable().map(<[bool]>::to_vec);
        let flags_of = |(operand, shape): (&Operand, &Vec<usize>)| {
            let mut flags = given(operand).unwrap_or_else(|| (self.absent)(operand));
            // An operand that a fault ignores has no axes.
            flags.truncate(shape.len());
            flags
        };
        let flags: Vec<Vec<bool>> = operands.iter().zip(shapes).map(flags_of).collect();
        self.check_flags(shapes, &flags)?;
        let laid: Vec<Vec<usize>> = flags.iter().map(|flags| (self.laid)(flags)).collect();
        let rank = laid.iter().map(Vec::len).max().unwrap_or(0);
        let (mut shape, mut result_flags) = (Vec::with_capacity(rank), Vec::with_capacity(rank));
        for axis in 0..rank {
            let meeting = self.meeting(rank - axis, shapes, &flags, &laid);
            let fixed: Vec<usize> = meeting
                .iter()
                .filter(|&&flagged| !(self.stretches)(flagged, &meeting))
                .map(|flagged| flagged.length)
                .collect();
            let Some(length) = (self.length)(&fixed, &meeting) else {
                let refusal = Refusal::new(RefusalKind::NotBroadcastable, "fixed lengths differ");
                return Err(refusal.at_axis(axis));
            };
            shape.push(length);
            result_flags.push((self.result)(&meeting));
        }
        let place = |laid: &[usize], own: usize| {
            laid.iter().position(|&axis| axis == own).map(|place| rank - laid.len() + place)
        };
        let axes_of = |(shape, laid): (&Vec<usize>, &Vec<usize>)| {
            (0..shape.len()).map(|own| place(laid, own)).collect()
        };
        let axes = shapes.iter().zip(&laid).map(axes_of).collect();
        Ok(Aligned { flags: Some(result_flags), ..Aligned::new(shape, axes) })
    }

    fn check_flags(&self, shapes: &[Vec<usize>], flags: &[Vec<bool>]) -> Result<(), Refusal> {
        for (operand, (shape, flags)) in shapes.iter().zip(flags).enumerate() {
            let violated = shape.iter().zip(flags).position(|(&length, &flag)| flag && !(self.valid)(length));
            if let Some(axis) = violated {
                let refusal = Refusal::new(RefusalKind::FlagViolation, "a flagged axis must have length 1");
                return Err(refusal.of_operand((self.violator)(operand, shapes.len())).at_axis(axis));
            }
        }
        Ok(())
    }

    /// The operands' axes at this distance from the right.
    fn meeting(
        &self,
        from_right: usize,
        shapes: &[Vec<usize>],
        flags: &[Vec<bool>],
        laid: &[Vec<usize>],
    ) -> Vec<Flagged> {
        let rank = laid.iter().map(Vec::len).max().unwrap_or(0);
        let of = |operand: usize| {
            let lacks = laid[operand].len() < rank;
            match laid[operand].len().checked_sub(from_right).map(|place| laid[operand][place]) {
                Some(own) => {
                    let (length, flag) = (shapes[operand][own], flags[operand][own]);
                    Flagged { length, flag, operand, own: true, lacks }
                }
                None => Flagged { length: 1, flag: self.added, operand, own: false, lacks },
            }
        };
        (0..shapes.len()).map(of).collect()
    }
}
