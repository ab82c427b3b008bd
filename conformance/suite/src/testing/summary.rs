//! What `cargo test` prints beneath its result: for each implementation, how much of the suite it was asked,
//! and which conventions it shares.

use super::runner::Resulted;
use crate::asked::{Asked, Counted, LITTLE, tally};
use crate::run::Status;
use broadcheck_spec::{Convention, Implementation, RuleSet};

/// An implementation as far as the summary needs it.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) version: String,
    rules: Vec<RuleSet>,
    conventions: Vec<Convention>,
}

impl Subject {
    pub(super) fn of(implementation: &dyn Implementation) -> Subject {
        let capabilities = implementation.capabilities();
        Subject {
            name: implementation.name().to_owned(),
            version: implementation.version().to_owned(),
            rules: capabilities.rules.clone(),
            conventions: capabilities.conventions.clone(),
        }
    }
}

/// The lines, and whether less was asked than `min_asked` percent of the shape cases of some rule set.
pub(super) fn summarize(
    subjects: &[Subject],
    results: &[Resulted],
    min_asked: Option<u8>,
) -> (Vec<String>, bool) {
    let (mut lines, mut failed) = (Vec::new(), false);
    for (place, subject) in subjects.iter().enumerate() {
        let of_it = || results.iter().filter(move |result| result.about.subject == place);
        if of_it().next().is_none() {
            continue;
        }
        let asked = tally(&subject.rules, of_it().map(counted));
        lines.push(format!("{} {}:", subject.name, subject.version));
        lines.extend(asked.iter().map(|asked| format!("  {asked}")));
        lines.extend(conventions(subject, of_it()).map(|line| format!("  {line}")));
        let least = min_asked.unwrap_or(LITTLE);
        let little: Vec<&Asked> = asked.iter().filter(|asked| asked.is_below(least)).collect();
        for asked in &little {
            let share = asked.shape_share();
            lines.push(match min_asked {
                Some(percent) => format!("  FAILED: expected at least {percent} %: {share}"),
                None => format!("  little was asked: {share}"),
            });
        }
        failed |= min_asked.is_some() && !little.is_empty();
        lines.push(String::new());
    }
    (lines, failed)
}

fn counted(result: &Resulted) -> Counted<'_> {
    let about = result.about;
    Counted {
        rules: about.rules,
        nature: about.nature,
        status: result.status,
        detail: &result.reason,
        retyped: about.retyped,
    }
}

/// `convention zero-signs: agrees in 1 of 2` for each that was asked and that the implementation need not
/// follow.
fn conventions<'a>(
    subject: &'a Subject,
    results: impl Iterator<Item = &'a Resulted> + Clone,
) -> impl Iterator<Item = String> {
    let line = move |convention: Convention| {
        let of_it = results.clone().filter(move |result| result.about.convention == Some(convention));
        let count = |status: Status| of_it.clone().filter(|result| result.status == status).count();
        let (agrees, differs) = (count(Status::Agrees), count(Status::Differs));
        let declare = if differs == 0 { ": declare it to require this" } else { "" };
        (agrees + differs > 0)
            .then(|| format!("convention {convention}: agrees in {agrees} of {}{declare}", agrees + differs))
    };
    let free = |convention: &Convention| !subject.conventions.contains(convention);
    Convention::ALL.into_iter().filter(free).filter_map(line)
}

#[cfg(test)]
mod tests {
    use super::super::runner::About;
    use super::*;
    use broadcheck_spec::Nature;

    fn subject() -> Subject {
        Subject {
            name: "mine".into(),
            version: "1".into(),
            rules: vec![RuleSet::Numpy],
            conventions: vec![Convention::ZeroSigns],
        }
    }

    fn result(convention: Option<Convention>, status: Status, reason: &str) -> Resulted {
        let nature = if convention.is_some() { Nature::Convention } else { Nature::Rule };
        let rules = Some(RuleSet::Numpy);
        let about = About { subject: 0, rules, nature, convention, retyped: None };
        Resulted { about, status, reason: reason.into() }
    }

    #[test]
    fn the_lines_say_how_much_was_asked_and_which_conventions_are_shared() {
        let order = Some(Convention::RefusalOrder);
        let results = [
            result(None, Status::Passed, ""),
            result(None, Status::Skipped, "no gradient"),
            result(None, Status::Skipped, "no gradient"),
            result(order, Status::Agrees, ""),
            result(order, Status::Differs, ""),
            result(Some(Convention::UnusedOperands), Status::Agrees, ""),
            result(Some(Convention::ZeroSigns), Status::Agrees, ""),
        ];
        let (lines, failed) = summarize(&[subject()], &results, None);
        assert!(!failed);
        assert_eq!(
            lines,
            [
                "mine 1:",
                "  numpy: 7 cases, 5 asked, 2 not: 2 no gradient",
                "  convention unused-operands: agrees in 1 of 1: declare it to require this",
                "  convention refusal-order: agrees in 1 of 2",
                "  little was asked: 1 of 3 shape cases of numpy were asked (33 %); not asked: 2 no gradient",
                "",
            ]
        );
        let (lines, failed) = summarize(&[subject()], &results, Some(34));
        assert!(failed);
        assert_eq!(
            lines[4],
            "  FAILED: expected at least 34 %: 1 of 3 shape cases of numpy were asked (33 %); not asked: 2 no gradient"
        );
        let (lines, failed) = summarize(&[subject()], &results, Some(33));
        assert!(!failed && lines.len() == 5, "{lines:?}");
        assert!(summarize(&[subject()], &[], Some(100)).0.is_empty(), "nothing was selected");
    }
}
