//! How much of the suite an implementation was asked, and why it was not asked more. A verdict of "ok" means
//! little if most cases lie outside of what the implementation supports.

use crate::run::Status;
use broadcheck_spec::{DType, Nature, RuleSet};
use std::fmt;

/// A share of the shape cases below this percentage is little.
pub const LITTLE: u8 = 50;

/// The number of reasons that are listed before the others are added up.
const MOST_REASONS: usize = 6;

/// The result of one case or sweep, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The rule set; `None` for a sweep over several, which is not counted.
    pub rules: Option<RuleSet>,
    /// Why the case holds.
    pub nature: Nature,
    /// How it ended.
    pub status: Status,
    /// The reason, if it was not asked.
    pub detail: &'a str,
    /// The dtype in which it was asked, if not in its own.
    pub retyped: Option<DType>,
}

/// How many cases of a rule set were asked. A sweep counts as one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The rule set.
    pub rules: RuleSet,
    /// The number of cases.
    pub cases: usize,
    /// The number of cases asked.
    pub asked: usize,
    /// The number of those asked in another dtype than their own.
    pub retyped: usize,
    /// Why the others were not asked, the most frequent reason first.
    pub reasons: Reasons,
    /// The number of shape cases: those of the nature [`Nature::Rule`].
    pub shape_cases: usize,
    /// The number of shape cases asked.
    pub shape_asked: usize,
    /// Why the other shape cases were not asked, the most frequent reason first.
    pub shape_reasons: Reasons,
}

/// Reasons with the number of cases that were not asked for each, the most frequent first, then by name.
/// Shown as `240 no f16, 61 no gradient`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons(pub Vec<(String, usize)>);

impl Reasons {
    fn add(&mut self, detail: &str) {
        let reason = match detail.lines().next().map(str::trim) {
            Some(line) if !line.is_empty() => main_reason(line),
            _ => "without a reason",
        };
        match self.0.iter_mut().find(|(other, _)| other == reason) {
            Some((_, count)) => *count += 1,
            None => self.0.push((reason.to_owned(), 1)),
        }
    }

    fn sort(&mut self) {
        self.0.sort_by(|(left, more), (right, other)| other.cmp(more).then_with(|| left.cmp(right)));
    }

    /// The first `most` reasons, and the sum of the others.
    pub fn shortened(&self, most: usize) -> String {
        // Naming the last reason is as short as counting it.
        let shown = if self.0.len() == most + 1 { most + 1 } else { most.min(self.0.len()) };
        let (first, others) = self.0.split_at(shown);
        let mut parts: Vec<String> =
            first.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if !others.is_empty() {
            let count: usize = others.iter().map(|(_, count)| count).sum();
            parts.push(format!("and {count} for {} other reasons", others.len()));
        }
        parts.join(", ")
    }
}

/// The reason to count a case by. A sweep has one for each of its cases, which differ in their numbers from
/// those of any other sweep: it counts by its most frequent one.
fn main_reason(line: &str) -> &str {
    if line.starts_with("a sample of ") && line.contains(" is too small") {
        return "a sample that is too small";
    }
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = line[number..].strip_prefix(' ').filter(|_| number > 0) else { return line };
    let is_next = |after: &str| {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && after[digits..].starts_with(' ')
    };
    let next = rest.match_indices(", ").find(|&(place, comma)| is_next(&rest[place + comma.len()..]));
    // One reason without another is a text that begins with a number.
    next.map_or(line, |(place, _)| &rest[..place])
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shortened(MOST_REASONS))
    }
}

/// Counts the results of one implementation for each rule set that it declares, in the order of
/// [`RuleSet::ALL`]. A rule set without a result is left out.
pub fn tally<'a>(declared: &[RuleSet], results: impl IntoIterator<Item = Counted<'a>>) -> Vec<Asked> {
    let none = |rules| Asked {
        rules,
        cases: 0,
        asked: 0,
        retyped: 0,
        reasons: Reasons::default(),
        shape_cases: 0,
        shape_asked: 0,
        shape_reasons: Reasons::default(),
    };
    let sets = RuleSet::ALL.into_iter().filter(|rules| declared.contains(rules));
    let mut tallies: Vec<Asked> = sets.map(none).collect();
    for result in results {
        let of_set = |tally: &&mut Asked| Some(tally.rules) == result.rules;
        if let Some(tally) = tallies.iter_mut().find(of_set) {
            tally.count(result);
        }
    }
    tallies.retain(|tally| tally.cases > 0);
    for tally in &mut tallies {
        tally.reasons.sort();
        tally.shape_reasons.sort();
    }
    tallies
}

impl Asked {
    fn count(&mut self, result: Counted<'_>) {
        let shape = result.nature == Nature::Rule;
        self.cases += 1;
        self.shape_cases += usize::from(shape);
        if result.status != Status::Skipped {
            self.asked += 1;
            self.shape_asked += usize::from(shape);
            self.retyped += usize::from(result.retyped.is_some());
            return;
        }
        self.reasons.add(result.detail);
        if shape {
            self.shape_reasons.add(result.detail);
        }
    }

    /// Whether less than this percentage of the shape cases was asked.
    pub fn is_below(&self, percent: u8) -> bool {
        self.shape_asked as u128 * 100 < self.shape_cases as u128 * u128::from(percent)
    }

    /// `35 of 700 shape cases of numpy were asked (5 %); not asked: 400 no rank above 2, 265 no f64`.
    pub fn shape_share(&self) -> String {
        let Asked { rules, shape_cases, shape_asked, shape_reasons, .. } = self;
        let percent = (shape_asked * 100).checked_div(*shape_cases).unwrap_or(100);
        let mut text =
            format!("{shape_asked} of {shape_cases} shape cases of {rules} were asked ({percent} %)");
        if !shape_reasons.0.is_empty() {
            text += &format!("; not asked: {shape_reasons}");
        }
        text
    }
}

/// `numpy: 1064 cases, 702 asked (310 in another dtype), 362 not: 240 no f16, 61 no gradient`.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked { rules, cases, asked, retyped, reasons, .. } = self;
        write!(f, "{rules}: {cases} case{}, ", if *cases == 1 { "" } else { "s" })?;
        if asked == cases {
            f.write_str("all asked")?;
        } else {
            write!(f, "{asked} asked")?;
        }
        if *retyped > 0 {
            write!(f, " ({retyped} in another dtype)")?;
        }
        if asked < cases {
            write!(f, ", {} not: {reasons}", cases - asked)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(status: Status, detail: &str) -> Counted<'_> {
        Counted { rules: Some(RuleSet::Numpy), nature: Nature::Rule, status, detail, retyped: None }
    }

    fn skipped(detail: &str) -> Counted<'_> {
        counted(Status::Skipped, detail)
    }

    #[test]
    fn every_status_but_skipped_was_asked() {
        for status in Status::ALL {
            let found = tally(&[RuleSet::Numpy], [counted(status, "")]);
            assert_eq!(found[0].asked, usize::from(status != Status::Skipped), "{status:?}");
        }
    }

    #[test]
    fn a_sweep_counts_by_its_most_frequent_reason() {
        for (detail, reason) in [
            ("16 no strided views, 2 no gradient", "no strided views"),
            (
                "9 no order other than A, B under pdpd, 3 no gradient, 1 no f16",
                "no order other than A, B under pdpd",
            ),
            (
                "a sample of 12 of 14641 cases is too small: nothing was compared",
                "a sample that is too small",
            ),
            ("64 operands are too many", "64 operands are too many"),
            ("64 operands, all of them scalars", "64 operands, all of them scalars"),
            ("no order other than A, B under pdpd", "no order other than A, B under pdpd"),
            ("12", "12"),
            (" \nno gradient", "without a reason"),
        ] {
            let found = tally(&[RuleSet::Numpy], [skipped(detail)]);
            assert_eq!(found[0].reasons.0, [(reason.to_owned(), 1)], "{detail}");
        }
    }

    #[test]
    fn a_line_has_the_reasons_by_frequency() {
        let passed = counted(Status::Passed, "");
        let retyped = Counted { retyped: Some(DType::F32), ..passed };
        let results = [passed, retyped, skipped("no gradient"), skipped("no f16"), skipped("no f16\nmore")];
        let found = tally(&[RuleSet::Numpy], results);
        let line = "numpy: 5 cases, 2 asked (1 in another dtype), 3 not: 2 no f16, 1 no gradient";
        assert_eq!(found[0].to_string(), line);
        assert_eq!(tally(&[RuleSet::Numpy], [passed])[0].to_string(), "numpy: 1 case, all asked");
        let all = tally(&[RuleSet::Numpy], [retyped, retyped]);
        assert_eq!(all[0].to_string(), "numpy: 2 cases, all asked (2 in another dtype)");
        assert!(
            tally(&[RuleSet::Numpy], [skipped("")])[0].to_string().ends_with("1 not: 1 without a reason")
        );
    }

    #[test]
    fn rare_reasons_are_added_up() {
        let reasons = |count: usize| {
            let details: Vec<String> = (0..count).map(|place| format!("no f{place}")).collect();
            let twice = details.iter().chain(&details[..1]);
            tally(&[RuleSet::Numpy], twice.map(|detail| skipped(detail)))[0].reasons.to_string()
        };
        assert_eq!(reasons(2), "2 no f0, 1 no f1");
        assert!(reasons(7).ends_with(", 1 no f5, 1 no f6"), "{}", reasons(7));
        assert!(reasons(8).ends_with(", 1 no f5, and 2 for 2 other reasons"), "{}", reasons(8));
    }

    #[test]
    fn only_declared_rule_sets_with_results_are_counted() {
        let xla = Counted { rules: Some(RuleSet::Xla), ..skipped("no rule set xla") };
        let several = Counted { rules: None, ..counted(Status::Passed, "") };
        let declared = [RuleSet::Theano, RuleSet::Numpy];
        let found = tally(&declared, [counted(Status::Passed, ""), xla, several]);
        assert_eq!(
            found.iter().map(|tally| (tally.rules, tally.cases)).collect::<Vec<_>>(),
            [(RuleSet::Numpy, 1)]
        );
    }

    #[test]
    fn the_share_is_that_of_shape_cases() {
        let of = |nature: Nature, result: Counted<'static>| Counted { nature, ..result };
        let passed = counted(Status::Passed, "");
        // Half of the shape cases: enough. Of all cases, it is two of seven.
        let mut results = vec![passed, skipped("no f64"), of(Nature::Convention, passed)];
        results.extend([of(Nature::Arithmetic, skipped("no f16")); 4]);
        let found = &tally(&[RuleSet::Numpy], results.clone())[0];
        assert!(!found.is_below(LITTLE) && found.is_below(51), "{found:?}");
        let share = "1 of 2 shape cases of numpy were asked (50 %); not asked: 1 no f64";
        assert_eq!(found.shape_share(), share);
        results.push(skipped("no f64"));
        assert!(tally(&[RuleSet::Numpy], results)[0].is_below(LITTLE));
        // Without a shape case in the selection, nothing is too little.
        let none = &tally(&[RuleSet::Numpy], [of(Nature::Arithmetic, skipped("no f16"))])[0];
        assert!(!none.is_below(100) && none.shape_share().contains("(100 %)"));
    }
}
