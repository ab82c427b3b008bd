//! What the lengths must be for a run to be accepted, in words.

use super::{Axis, InferenceExplanation, Member, values_of};
use crate::explain::columns::Columns;
use broadcheck_spec::{Accepts, Asked, Length, PartialShape, Rules};
use std::collections::BTreeSet;

/// How many conditions of axes are written out.
const MOST_CONDITIONS: usize = 8;

impl InferenceExplanation {
    /// The conditions of the axes and ranks, at most some of them.
    pub(super) fn conditions(&self, columns: &Columns, axes: &[Axis]) -> Vec<String> {
        let conditional = || axes.iter().enumerate().filter(|(_, axis)| axis.depends());
        let mut lines: Vec<String> = conditional()
            .take(MOST_CONDITIONS)
            .flat_map(|(place, axis)| {
                let name = columns.name_of(place);
                let place = match name {
                    Some(name) => format!("axis {name}"),
                    None => format!("in front of {}", self.labels[self.place_of_a()]),
                };
                self.condition(axis).into_iter().map(move |condition| format!("{place}: {condition}"))
            })
            .collect();
        match conditional().count().saturating_sub(MOST_CONDITIONS) {
            0 => {}
            1 => lines.push("1 more axis may be refused".into()),
            more => lines.push(format!("{more} more axes may be refused")),
        }
        let depends = matches!(&self.decision, Ok(inference) if inference.accepts == Some(Accepts::Depends));
        let unranked = self.signature.shapes().enumerate().filter(|(_, shape)| shape.rank().is_none());
        let unranked: Vec<usize> = unranked.map(|(place, _)| place).collect();
        if depends && !unranked.is_empty() {
            lines.push(self.condition_of_ranks(&unranked));
        }
        if depends && lines.is_empty() && *self.signature.rules() == Rules::Repeat {
            let [a, b] = [self.place_of_a(), self.place_of_b()].map(|place| &self.labels[place]);
            lines.push(format!(
                "each length of {a} must be a multiple of that of {b}, or both have no elements"
            ));
        }
        lines
    }

    /// What the lengths of an axis must be.
    fn condition(&self, axis: &Axis) -> Vec<String> {
        if let (Rules::Repeat, [_, _]) = (self.signature.rules(), &axis.members[..]) {
            return vec![self.condition_of_multiples(axis)];
        }
        let unknown: Vec<usize> = axis.unknown().collect();
        let names = |members: &mut dyn Iterator<Item = &Member>| {
            names_of(&members.map(|member| self.labels[member.place].as_str()).collect::<Vec<_>>())
        };
        if let [one] = unknown[..] {
            let accepted = self.accepted_values(axis, one);
            return vec![format!(
                "{} must be {}",
                names(&mut [&axis.members[one]].into_iter()),
                either(&accepted)
            )];
        }
        let all = names(&mut axis.members.iter());
        let number = match &axis.alone {
            Some(Ok(inference)) => inference.shape.known().and_then(|shape| shape.iter().next().copied()),
            Some(Err(_)) | None => None,
        };
        match (self.signature.rules(), self.signature.asked(), number) {
            (Rules::Numpy | Rules::Leading | Rules::Xla { .. }, Asked::TargetShape(_), _) => {
                vec![format!(
                    "{} must be 1 or equal that of the target",
                    names(&mut axis.members.iter().take(1))
                )]
            }
            (Rules::Pdpd { .. }, _, _) => {
                let b = names(&mut axis.members.iter().skip(1));
                vec![format!("{b} must be 1 or equal that of {}", self.labels[0])]
            }
            (Rules::None, _, Some(number)) => vec![format!("{all} must be {number}")],
            (Rules::None, _, None) => vec![format!("{all} must be equal")],
            (Rules::Theano, _, _) => {
                let must_be_one = |member: &&Member| member.flag && member.length.number().is_none();
                let mut lines = Vec::new();
                if axis.members.iter().any(|member| must_be_one(&member)) {
                    let flagged = names(&mut axis.members.iter().filter(must_be_one));
                    lines.push(format!("{flagged}, flagged True, must be 1"));
                }
                let fixed: Vec<&Member> = axis.members.iter().filter(|member| !member.flag).collect();
                if fixed.len() > 1 && fixed.iter().any(|member| member.length.number().is_none()) {
                    let fixed = names(&mut fixed.into_iter());
                    let value = number.map_or("equal".into(), |number| number.to_string());
                    lines.push(format!("{fixed}, flagged False, must be {value}"));
                }
                lines
            }
            (Rules::Numpy | Rules::Bidirectional | Rules::Xla { .. } | Rules::Leading, _, Some(number)) => {
                vec![format!("{all} must be {}", either(&BTreeSet::from([1, number])))]
            }
            (Rules::Numpy | Rules::Bidirectional | Rules::Xla { .. } | Rules::Leading, _, None) => {
                vec![format!("{all} must be equal, except where one is 1")]
            }
            // B alone, in front of A, is one unknown length; two lengths are multiples.
            (Rules::Repeat, _, _) => Vec::new(),
        }
    }

    /// `repeat`: what the lengths of A and B on an axis must be (REPEAT-3). The axis decides alone, so that B
    /// has elements or A has.
    fn condition_of_multiples(&self, axis: &Axis) -> String {
        let on = |place: usize| {
            let length = axis.members.iter().find(|member| member.place == place).map(|member| member.length);
            (length.and_then(Length::number), format!("the length of {}", self.labels[place]))
        };
        let ((number_a, a), (number_b, b)) = (on(self.place_of_a()), on(self.place_of_b()));
        match (number_a, number_b) {
            (Some(1), _) => format!("{b} must be 1"),
            (Some(number), _) => format!("{b} must divide {number}"),
            (None, Some(number)) => format!("{a} must be a multiple of {number}"),
            (None, None) => format!("{a} must be a multiple of {b}"),
        }
    }

    /// The values of the only unknown length on an axis with which a run is accepted.
    fn accepted_values(&self, axis: &Axis, place: usize) -> BTreeSet<usize> {
        let mut values: Vec<usize> =
            axis.members.iter().map(|member| member.length.number().unwrap_or(1)).collect();
        let accepts = |&value: &usize| {
            values[place] = value;
            axis.admits(&values) && !self.refuses(axis, &values)
        };
        values_of(axis).into_iter().filter(accepts).collect()
    }

    fn condition_of_ranks(&self, unranked: &[usize]) -> String {
        let labels: Vec<&str> = unranked.iter().map(|&place| self.labels[place].as_str()).collect();
        let (labels, plural) = (listed(&labels), labels.len() > 1);
        let known = self.signature.shapes().find_map(PartialShape::rank);
        match (self.signature.rules(), known) {
            (Rules::None, Some(rank)) if plural => format!("the ranks of {labels} must be {rank}"),
            (Rules::None, Some(rank)) => format!("the rank of {labels} must be {rank}"),
            (Rules::None, None) => format!("the shapes of {labels} must be equal"),
            _ if plural => format!("the ranks of {labels} are unknown: their shapes must fit the others"),
            _ => format!("the rank of {labels} is unknown: its shape must fit the others"),
        }
    }
}

/// `1 or 2`.
fn either(values: &BTreeSet<usize>) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// `the lengths of A and B`.
fn names_of(names: &[&str]) -> String {
    format!("the length{} of {}", if names.len() == 1 { "" } else { "s" }, listed(names))
}

/// `A, B and C`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] if most.len() < MOST_CONDITIONS => format!("{} and {last}", most.join(", ")),
        many => format!("{} and {} more", many[..MOST_CONDITIONS].join(", "), many.len() - MOST_CONDITIONS),
    }
}
