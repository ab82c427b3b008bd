//! `broadcheck clause`: prints clauses of the specification, and how many cases test each.

use super::show::{SUGGESTIONS, head};
use super::{Ended, Error, PASSED, columns, print};
use crate::report::plural;
use anstyle::Style;
use broadcheck_spec::clauses::{self, Clause};
use broadcheck_spec::{Nature, Suite};
use serde::Serialize;

/// Print clauses of the specification: the rule, its evidence, and how many cases test it
///
/// Every case cites one clause, and so does every failure and every drawing of `explain`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck clause G-2
  broadcheck clause XLA-3 XLA-4
  broadcheck clause --list

`broadcheck list --clause ID` lists the cases of a clause.")]
pub(super) struct Args {
    /// Ids of clauses, such as XLA-3
    #[arg(required_unless_present = "list", conflicts_with = "list", value_name = "ID")]
    ids: Vec<String>,

    /// List all clauses, one per line: id, nature, number of cases, and summary
    #[arg(long)]
    list: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// A JSON array of objects
    Json,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite =
        Suite::builtin().map_err(|errors| Error::Input(format!("cannot read the cases\n{errors}")))?;
    let clauses: Vec<&Clause> = match args.list {
        true => clauses::ALL.iter().collect(),
        false => args.ids.iter().map(|id| find(id)).collect::<Result<_, Error>>()?,
    };
    let entries: Vec<Entry<'_>> = clauses.into_iter().map(|clause| Entry::new(clause, &suite)).collect();
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&entries).expect("texts can be written as JSON") + "\n",
        Format::Text if args.list => columns(&entries.iter().map(Entry::row).collect::<Vec<_>>()),
        Format::Text => entries.iter().map(Entry::shown).collect::<Vec<_>>().join("\n"),
    };
    print(&text)?;
    Ok(PASSED)
}

/// The clause with this id, in upper or lower case.
fn find(id: &str) -> Result<&'static Clause, Error> {
    clauses::get(&id.to_uppercase()).or_else(|| clauses::get(id)).map_or_else(|| Err(unknown(id)), Ok)
}

fn unknown(id: &str) -> Error {
    let wanted = id.to_uppercase();
    let mut nearest: Vec<&Clause> = clauses::ALL.iter().collect();
    nearest.sort_by_key(|clause| {
        (!clause.id.starts_with(&wanted), strsim::damerau_levenshtein(&wanted, &clause.id.to_uppercase()))
    });
    let rows = nearest.iter().take(SUGGESTIONS).map(|clause| vec![clause.id.into(), clause.heading.into()]);
    let rows = columns(&rows.collect::<Vec<_>>());
    let rows: Vec<&str> = rows.lines().collect();
    Error::Input(format!(
        "clause {id}: found no such clause, expected an id such as\n  {}",
        rows.join("\n  ")
    ))
}

/// A clause with the number of cases and sweeps that cite it.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    heading: &'a str,
    nature: &'a str,
    conventions: Vec<&'a str>,
    page: String,
    cases: usize,
    /// Those of the cases that test a convention.
    convention_cases: usize,
    sweeps: usize,
    text: &'a str,
    #[serde(skip)]
    clause: &'a Clause,
}

impl Entry<'_> {
    fn new<'a>(clause: &'a Clause, suite: &Suite) -> Entry<'a> {
        let runs = suite.cases.iter().map(|case| (&case.clause, case.convention));
        let inferences = suite.inferences.iter().map(|case| (&case.clause, case.convention));
        let cases = runs.chain(inferences).filter(|(cited, _)| *cited == clause.id);
        Entry {
            id: clause.id,
            heading: clause.heading,
            nature: clause.nature.name(),
            conventions: clause.conventions().map(broadcheck_spec::Convention::name).collect(),
            page: format!("spec/{}", clause.page()),
            cases: cases.clone().count(),
            convention_cases: cases.filter(|(_, convention)| convention.is_some()).count(),
            sweeps: suite.sweeps.iter().filter(|sweep| sweep.clause == clause.id).count(),
            text: clause.text(),
            clause,
        }
    }

    fn row(&self) -> Vec<String> {
        let nature = std::iter::once(self.nature).chain(self.conventions.iter().copied());
        let nature = nature.collect::<Vec<_>>().join(", ");
        vec![self.id.into(), nature, self.tested(), self.heading.into()]
    }

    /// `12 cases, 2 sweeps`.
    fn tested(&self) -> String {
        let cases = plural(self.cases, "case");
        if self.sweeps == 0 { cases } else { format!("{cases}, {}", plural(self.sweeps, "sweep")) }
    }

    fn shown(&self) -> String {
        let fields = [("nature", self.natures()), ("tested by", self.tests()), ("page", self.page.clone())];
        let mut text = head(self.id, self.heading, &fields);
        // The fields state the nature already.
        let (_, paragraphs) = self.text.split_once("\n\n").unwrap_or(("", self.text));
        text.push('\n');
        text.push_str(&readable(paragraphs));
        text.push('\n');
        text
    }

    /// The nature, and what following each convention of the clause means.
    fn natures(&self) -> String {
        let conventions: Vec<String> = self
            .clause
            .conventions()
            .map(|convention| format!("convention {convention}: {}", convention.summary()))
            .collect();
        match self.clause.nature {
            Nature::Convention => conventions.join("\n"),
            nature if conventions.is_empty() => nature.to_string(),
            nature => format!("{nature}, with the\n{}", conventions.join("\n")),
        }
    }

    fn tests(&self) -> String {
        let conventions = match self.convention_cases {
            0 => String::new(),
            all if all == self.cases => ", all about the convention".to_owned(),
            some => format!(", {some} of them about the convention"),
        };
        let sweeps =
            if self.sweeps == 0 { String::new() } else { format!(" and {}", plural(self.sweeps, "sweep")) };
        format!("{}{conventions}{sweeps}: broadcheck list --clause {}", plural(self.cases, "case"), self.id)
    }
}

/// Markdown for a terminal: the titles of paragraphs in bold, and links as their texts.
fn readable(markdown: &str) -> String {
    let bold = Style::new().bold();
    let paragraph = |text: &str| match text.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        Some((title, rest)) => format!("{bold}{title}{bold:#}{rest}"),
        None => text.to_owned(),
    };
    without_links(markdown).split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Replaces `[text](target)` by `text`.
fn without_links(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((start, (_, end))) = before.rfind('[').zip(after.split_once(')')) else { break };
        text.push_str(&before[..start]);
        text.push_str(&before[start + 1..]);
        rest = end;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_replaced_by_their_texts() {
        assert_eq!(without_links("a [b](c.md#d), [`e`](f): (2,3) [1]"), "a b, `e`: (2,3) [1]");
        assert_eq!(without_links("x](y) and [z] (w)"), "x](y) and [z] (w)");
    }
}
