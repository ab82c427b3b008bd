//! What a report says beyond its counts: the results by nature, how much was asked, and which conventions an
//! implementation shares.

use super::{Entry, Report, Run, Summary};
use broadcheck::asked::{Asked, Counted, LITTLE, tally};
use broadcheck::run::Status;
use broadcheck_spec::{Convention, Nature};

/// How many answers that are wider than exact are named in a report for people.
const MOST_WIDER: usize = 10;

/// How far an implementation shares a convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// The convention.
    pub(crate) convention: Convention,
    /// Whether the implementation declares it. Then another answer is a failure.
    pub(crate) declared: bool,
    /// The number of its cases that agree.
    pub(crate) agrees: usize,
    /// The number of its cases that were asked.
    pub(crate) cases: usize,
}

impl Shared {
    /// `refusal-order: agrees in 30 of 34`.
    pub(crate) fn line(&self) -> String {
        let declared = if self.declared { " (declared)" } else { "" };
        format!("{}: agrees in {} of {}{declared}", self.convention, self.agrees, self.cases)
    }
}

/// How far each convention is shared, in the order of [`Convention::ALL`]. Conventions of which no case was
/// asked are left out.
pub(crate) fn shared(
    declared: &[Convention],
    results: &(impl Iterator<Item = (Option<Convention>, Status)> + Clone),
) -> Vec<Shared> {
    let of = |convention: Convention| {
        let asked = results
            .clone()
            .filter(|&(tested, status)| tested == Some(convention) && status != Status::Skipped);
        Shared {
            convention,
            declared: declared.contains(&convention),
            agrees: asked.clone().filter(|&(_, status)| status == Status::Agrees).count(),
            cases: asked.count(),
        }
    };
    Convention::ALL.into_iter().map(of).filter(|shared| shared.cases > 0).collect()
}

impl Entry {
    /// The name in reports: the id, with the dtype in which it was asked if that is not its own:
    /// `numpy/zero/one-with-zero as f32`.
    pub fn name(&self) -> String {
        match self.retyped {
            Some(dtype) => format!("{} as {dtype}", self.id),
            None => self.id.clone(),
        }
    }

    fn counted(&self) -> Counted<'_> {
        let Entry { rules, nature, status, retyped, .. } = *self;
        Counted { rules, nature, status, detail: &self.detail, retyped }
    }

    /// The convention that it tests, or its nature.
    pub(crate) fn nature_name(&self) -> String {
        match self.convention {
            Some(convention) => format!("convention {convention}"),
            None => self.nature.to_string(),
        }
    }
}

impl Run {
    /// The counts of each nature.
    pub(crate) fn by_nature(&self) -> [(Nature, Summary); 3] {
        let of = |nature: Nature| Summary::of(self.results.iter().filter(|entry| entry.nature == nature));
        Nature::ALL.map(|nature| (nature, of(nature)))
    }

    /// How much of each declared rule set was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        // To infer is optional: an implementation that does not was not asked too little.
        let infers = self.results.iter().any(|entry| entry.inference && entry.status != Status::Skipped);
        let counted = self.results.iter().filter(|entry| infers || !entry.inference);
        tally(&self.rules, counted.map(Entry::counted))
    }

    /// How far it shares each convention.
    pub(crate) fn shared(&self) -> Vec<Shared> {
        shared(&self.conventions, &self.results.iter().map(|entry| (entry.convention, entry.status)))
    }

    /// `rules: 640 passed, 1 failed; arithmetic: 104 passed; conventions: 50 agree, 12 differ`.
    pub(crate) fn natures_line(&self) -> String {
        let words = |(nature, summary): &(Nature, Summary)| {
            let counts = [
                (summary.passed, "passed"),
                (summary.agrees, "agree"),
                (summary.differs, "differ"),
                (summary.failed, "failed"),
                (summary.errored, "errored"),
                (summary.known, "known to fail"),
            ];
            let counts: Vec<String> = counts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            let name = match nature {
                Nature::Rule => "rules",
                Nature::Arithmetic => "arithmetic",
                Nature::Convention => "conventions",
            };
            (!counts.is_empty()).then(|| format!("{name}: {}", counts.join(", ")))
        };
        self.by_nature().iter().filter_map(words).collect::<Vec<_>>().join("; ")
    }

    /// A line for each declared rule set; one line if all of them were asked completely.
    pub(crate) fn asked_lines(&self) -> Vec<String> {
        let asked = self.asked();
        let complete = |asked: &Asked| asked.asked == asked.cases && asked.retyped == 0;
        if asked.len() > 1 && asked.iter().all(complete) {
            let names: Vec<&str> = asked.iter().map(|asked| asked.rules.name()).collect();
            return vec![format!("every case of {}", names.join(", "))];
        }
        asked.iter().map(ToString::to_string).collect()
    }

    /// The inferences that passed although they are wider than exact: a line for each of the first few, with
    /// how it is wider.
    pub(crate) fn wider_lines(&self) -> Vec<String> {
        let wider = || self.results.iter().filter_map(|entry| Some((entry, entry.wider.as_ref()?)));
        let line = |(entry, how): (&Entry, &String)| format!("{}: {how}", entry.name());
        let mut lines: Vec<String> = wider().take(MOST_WIDER).map(line).collect();
        let more = wider().count().saturating_sub(MOST_WIDER);
        if more > 0 {
            lines.push(format!("and {more} more: see --format json. With --exact, each is a failure"));
        } else if !lines.is_empty() {
            lines.push("with --exact, each is a failure".into());
        }
        lines
    }

    /// A line for each convention, and how to declare those that agree in every case. One line if the
    /// implementation declares and follows all of them.
    pub(crate) fn convention_lines(&self) -> Vec<String> {
        let shared = self.shared();
        let agrees_in_all = |shared: &Shared| shared.agrees == shared.cases;
        if shared.len() > 1 && shared.iter().all(|shared| shared.declared && agrees_in_all(shared)) {
            let cases: usize = shared.iter().map(|shared| shared.cases).sum();
            return vec![format!("agrees in all {cases} cases of the {} declared", shared.len())];
        }
        let mut lines: Vec<String> = shared.iter().map(Shared::line).collect();
        if shared.iter().any(|shared| !shared.declared && agrees_in_all(shared)) {
            let names: Vec<String> = Convention::ALL
                .into_iter()
                .filter(|convention| {
                    self.conventions.contains(convention)
                        || shared.iter().any(|one| one.convention == *convention && agrees_in_all(one))
                })
                .map(|convention| format!("\"{convention}\""))
                .collect();
            lines.push(format!(
                "to require those that agree in every case, declare \"conventions\": [{}]",
                names.join(", ")
            ));
        }
        lines
    }
}

impl Report {
    /// The rule sets of which too little was asked by `--min-asked`: each is a failure.
    pub(crate) fn too_little(&self) -> Vec<(&Run, Asked)> {
        let Some(percent) = self.min_asked else { return Vec::new() };
        self.below(percent, |_| true)
    }

    /// The rule sets of which less than half was asked, of the implementations that the command line names.
    pub(crate) fn little(&self) -> Vec<(&Run, Asked)> {
        self.below(LITTLE, |run| run.named)
    }

    fn below(&self, percent: u8, wanted: impl Fn(&Run) -> bool) -> Vec<(&Run, Asked)> {
        let runs = self.runs.iter().filter(|run| wanted(run));
        let asked = runs.flat_map(|run| run.asked().into_iter().map(move |asked| (run, asked)));
        asked.filter(|(_, asked)| asked.is_below(percent)).collect()
    }

    /// A message for each failure of `--min-asked`.
    pub(crate) fn too_little_lines(&self) -> Vec<String> {
        let percent = self.min_asked.unwrap_or_default();
        let line = |(run, asked): &(&Run, Asked)| {
            format!("{}: {}; expected at least {percent} % (--min-asked)", run.title(), asked.shape_share())
        };
        self.too_little().iter().map(line).collect()
    }

    /// What follows a verdict of "ok, but little was asked".
    pub(crate) fn advice(&self) -> Vec<String> {
        if !self.held() || self.interrupted {
            return Vec::new();
        }
        let mut lines: Vec<String> = self
            .little()
            .iter()
            .map(|(run, asked)| format!("{}: {}", run.title(), asked.shape_share()))
            .collect();
        if !lines.is_empty() {
            lines.push(
                "Support or declare what the reasons name to be asked more. \
                 With --min-asked PERCENT, asking less is a failure."
                    .into(),
            );
        }
        lines
    }
}
