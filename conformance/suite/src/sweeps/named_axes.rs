//! Broadcasts under `xla` with every list of distinct dimensions (clauses XLA-9 to XLA-13).
//!
//! An operand of each rank is placed on the axes of a target of each rank in every order, with every pattern
//! of ones, once onto a target whose lengths are all different and once onto one whose lengths are all 2.
//! With different lengths a wrong order is refused or has another shape; with equal ones only the values show
//! it. The operand's elements are 1, 2, 3, … in row-major order, so that the expected values are indices.

use super::part::Part;
use broadcheck_spec::{
    Case, Expectation, ExpectedResult, Operand, Operation, Origin, Request, Rules, Shape, Sweep, Tensor,
};
use std::ops::RangeInclusive;

/// The name of the sweep.
pub(super) const NAME: &str = "xla-named-axes";

const RANKS: RangeInclusive<usize> = 0..=5;

/// Every list of dimensions for operands and targets of some ranks.
pub(super) struct NamedAxes {
    operand_rank: usize,
    target_rank: usize,
}

/// One broadcast.
struct Placed {
    /// The axis of the target for each axis of the operand.
    axes: Vec<usize>,
    /// The axes of the operand that have length 1.
    ones: Vec<bool>,
    target: Vec<usize>,
}

impl NamedAxes {
    pub(super) fn new([operand_rank, target_rank]: [usize; 2]) -> Result<NamedAxes, String> {
        for (key, found) in [("operand_rank", operand_rank), ("target_rank", target_rank)] {
            if !RANKS.contains(&found) {
                return Err(format!("with.{key}: found {found}, expected 0 to {}", RANKS.end()));
            }
        }
        Ok(NamedAxes { operand_rank, target_rank })
    }

    /// For each pair of ranks, the arrangements of the operand's axes, times the patterns of ones, times the
    /// targets.
    pub(super) fn count(&self) -> u128 {
        let of = |target: usize, operand: usize| {
            let arrangements: u128 = (target - operand + 1..=target).map(|factor| factor as u128).product();
            arrangements * (1 << operand) * targets(target).len() as u128
        };
        let operands = |target: usize| 0..=self.operand_rank.min(target);
        (0..=self.target_rank).map(|target| operands(target).map(|rank| of(target, rank)).sum::<u128>()).sum()
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        part.of(self.all()).map(|placed| placed.case(sweep)).collect()
    }

    fn all(&self) -> Vec<Placed> {
        let mut all = Vec::new();
        for target_rank in 0..=self.target_rank {
            for rank in 0..=self.operand_rank.min(target_rank) {
                for axes in arrangements(rank, target_rank) {
                    for bits in 0..1usize << rank {
                        let ones: Vec<bool> = (0..rank).map(|axis| bits >> axis & 1 == 1).collect();
                        let placed = |target| Placed { axes: axes.clone(), ones: ones.clone(), target };
                        all.extend(targets(target_rank).into_iter().map(placed));
                    }
                }
            }
        }
        all
    }
}

/// The targets of a rank: lengths 2, 3, 4, …, and lengths of 2, unless that is the same.
fn targets(rank: usize) -> Vec<Vec<usize>> {
    let mut targets = vec![(2..2 + rank).collect(), vec![2; rank]];
    targets.dedup();
    targets
}

/// Every list of distinct axes of a rank, with this many of them.
fn arrangements(count: usize, rank: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..count {
        let longer = |list: &Vec<usize>| {
            let list = list.clone();
            let others = (0..rank).filter(|axis| !list.contains(axis)).collect::<Vec<_>>();
            others.into_iter().map(move |axis| [&list[..], &[axis]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

impl Placed {
    fn shape(&self) -> Vec<usize> {
        let length = |(&axis, &one): (&usize, &bool)| if one { 1 } else { self.target[axis] };
        self.axes.iter().zip(&self.ones).map(length).collect()
    }

    /// For each element of the target, row-major, the position of the operand's element that it is.
    fn positions(&self) -> Vec<usize> {
        let shape = self.shape();
        let count: usize = self.target.iter().product();
        let position = |place: usize| {
            let mut index = vec![0; self.target.len()];
            let mut rest = place;
            for (step, &length) in index.iter_mut().zip(&self.target).rev() {
                *step = rest % length;
                rest /= length;
            }
            self.axes.iter().zip(&self.ones).zip(&shape).fold(0, |position, ((&axis, &one), &length)| {
                position * length + if one { 0 } else { index[axis] }
            })
        };
        (0..count).map(position).collect()
    }

    /// `2x3-onto-3x2-by-1-0`.
    fn name(&self) -> String {
        let joined = |items: Vec<String>, with: &str| {
            if items.is_empty() { "scalar".to_owned() } else { items.join(with) }
        };
        let texts = |lengths: &[usize]| lengths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (shape, target) = (joined(texts(&self.shape()), "x"), joined(texts(&self.target), "x"));
        if self.axes.is_empty() {
            return format!("{shape}-onto-{target}");
        }
        format!("{shape}-onto-{target}-by-{}", texts(&self.axes).join("-"))
    }

    #[allow(clippy::cast_precision_loss, reason = "small integers")]
    fn case(&self, sweep: &Sweep) -> Case {
        let shape = self.shape();
        let count: usize = shape.iter().product();
        let values: Vec<f64> = (1..=count).map(|number| number as f64).collect();
        let operand = Operand::dense("a", shape, values).expect("one value per element");
        let dimensions = self.axes.iter().map(|&axis| i64::try_from(axis).expect("a small rank")).collect();
        let rules = Rules::Xla { broadcast_dimensions: Some(dimensions) };
        let target_shape = Shape::from(&self.target[..]);
        let expected = self.positions().into_iter().map(|position| (position + 1) as f64).collect::<Vec<_>>();
        let tensor = Tensor::new(target_shape.clone(), expected).expect("one value per element");
        let name = self.name();
        Case {
            id: format!("{}/{name}", sweep.id),
            title: format!("{} Here: {name}.", sweep.title),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: Request::new(rules, Operation::Broadcast { target_shape }, vec![operand])
                .expect("a well-formed request"),
            expectation: Expectation::Result(ExpectedResult::from(tensor)),
            note: None,
            location: sweep.location.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(axes: &[usize], ones: &[bool], target: &[usize]) -> Placed {
        Placed { axes: axes.to_vec(), ones: ones.to_vec(), target: target.to_vec() }
    }

    #[test]
    fn positions_by_hand() {
        // [[1, 2, 3], [4, 5, 6]] transposed.
        let transposed = placed(&[1, 0], &[false, false], &[3, 2]);
        assert_eq!(transposed.positions(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(transposed.name(), "2x3-onto-3x2-by-1-0");
        // A column on the last axis, its 1 on the first.
        let column = placed(&[1, 0], &[false, true], &[2, 2]);
        assert_eq!((column.shape(), column.positions()), (vec![2, 1], vec![0, 1, 0, 1]));
        let scalar = placed(&[], &[], &[2]);
        assert_eq!((scalar.name(), scalar.positions()), ("scalar-onto-2".to_owned(), vec![0, 0]));
    }

    #[test]
    fn every_counted_broadcast_is_made_once() {
        for ranks in [[0, 0], [1, 2], [3, 3], [3, 4], [4, 2]] {
            let named = NamedAxes::new(ranks).unwrap();
            let mut names: Vec<String> = named.all().iter().map(Placed::name).collect();
            assert_eq!(names.len() as u128, named.count(), "{ranks:?}");
            names.sort();
            names.dedup();
            assert_eq!(names.len() as u128, named.count(), "{ranks:?}: each once");
        }
        // Rank 2 has 1, 2 · 2 and 2 · 4 placements onto two targets, rank 1 has 1 and 2 onto one, rank 0 has
        // 1.
        assert_eq!(NamedAxes::new([2, 2]).unwrap().count(), 2 * 13 + 3 + 1);
        let error = NamedAxes::new([3, 6]).err().unwrap();
        assert_eq!(error, "with.target_rank: found 6, expected 0 to 5");
    }
}
