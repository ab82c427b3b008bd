//! The findings about real systems, one file each under `conformance/findings`, and
//! `conformance/FINDINGS.md`, their index. Each finding has one request, a short reproduction with its
//! output, a system with a file of known failures, and cases that exist. The index is generated from the
//! front matter of the findings and from the histories of the systems; to rewrite it:
//!
//! ```text
//! BROADCHECK_BLESS=1 cargo test -p broadcheck-cli --test findings
//! ```

use broadcheck::known::Known;
use broadcheck_cli::history::History;
use broadcheck_cli::history::since::since_finding;
use broadcheck_spec::Suite;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The longest reproduction, in lines.
const MOST_LINES: usize = 10;

/// What rewrites the index.
const COMMAND: &str = "BROADCHECK_BLESS=1 cargo test -p broadcheck-cli --test findings";

/// Where the generated part of `FINDINGS.md` begins.
const GENERATED: &str =
    "<!-- Generated from the front matter of findings/*.md; do not edit below this line. To rewrite: ";

/// Those of the checkout: the command contains them as they are when it is built.
static HISTORIES: LazyLock<Vec<History>> = LazyLock::new(History::shipped);

/// How much a finding matters; the index lists them in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Strong,
    Other,
    Convention,
}

struct Finding {
    file: String,
    number: usize,
    title: String,
    system: String,
    version: String,
    adapter: String,
    clauses: Vec<String>,
    status: String,
    strength: Strength,
    cases: Vec<String>,
    body: String,
}

/// The directory `conformance`, wherever in it this test's crate is.
fn conformance() -> PathBuf {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let holds_findings = |directory: &&Path| directory.join("findings").is_dir();
    crate_directory.ancestors().find(holds_findings).expect("a directory with `findings`").to_owned()
}

/// All findings, by their numbers.
fn findings() -> Vec<Finding> {
    let directory = conformance().join("findings");
    let mut findings: Vec<Finding> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name != "runs.md"))
        .map(|path| Finding::read(&path))
        .collect();
    findings.sort_by_key(|finding| finding.number);
    findings
}

impl Finding {
    fn read(path: &Path) -> Finding {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let (head, body) = text
            .strip_prefix("---\n")
            .and_then(|text| text.split_once("\n---\n"))
            .unwrap_or_else(|| panic!("{file}: expected front matter between two lines `---`"));
        let mut fields: BTreeMap<&str, &str> =
            head.lines().map(|line| line.split_once(": ").expect("`name: value`")).collect();
        let mut take =
            |name: &str| fields.remove(name).unwrap_or_else(|| panic!("{file}: found no `{name}`"));
        let unquoted = |text: &str| text.trim_matches('"').replace("\\\"", "\"");
        let list = |text: &str| {
            let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).expect("a list");
            inner.split(", ").filter(|item| !item.is_empty()).map(str::to_owned).collect()
        };
        let finding = Finding {
            number: take("number").parse().unwrap(),
            title: unquoted(take("title")),
            system: take("system").to_owned(),
            version: unquoted(take("version")),
            adapter: take("adapter").to_owned(),
            clauses: list(take("clauses")),
            status: take("status").to_owned(),
            strength: match take("strength") {
                "strong" => Strength::Strong,
                "other" => Strength::Other,
                "convention" => Strength::Convention,
                found => panic!("{file}: found the strength `{found}`, expected strong, other or convention"),
            },
            cases: list(take("cases")),
            body: body.to_owned(),
            file,
        };
        assert!(fields.is_empty(), "{}: found unknown fields: {fields:?}", finding.file);
        finding
    }

    fn system_and_version(&self) -> String {
        format!("{} {}", self.system, self.version)
    }

    /// Since when the system has it, if its history says so.
    fn since(&self) -> String {
        let known = Known::load(&conformance().join(format!("known/{}.yaml", self.adapter))).unwrap();
        let number = u32::try_from(self.number).unwrap();
        let history = HISTORIES.iter().find(|history| history.system == self.adapter);
        let since = history.and_then(|history| since_finding(history, &known, number));
        since.map_or_else(|| "-".into(), |since| since.words())
    }

    /// The row in the index. A link to `FINDINGS.md#N` leads here.
    fn row(&self, with_system: bool) -> String {
        let Finding { file, number, title, status, .. } = self;
        let title = if self.strength == Strength::Strong { format!("**{title}**") } else { title.clone() };
        let system = if with_system { format!(" {} |", self.system_and_version()) } else { String::new() };
        let clauses = self.clauses.join(", ");
        let since = self.since();
        format!(
            "| <a id=\"{number}\"></a>{number} |{system} [{title}](findings/{file}) | {clauses} | {status} | {since} |\n"
        )
    }
}

/// The generated part of the index: a table for each system, those with the most strong findings first, then
/// one for the conventions and limits.
fn index(findings: &[Finding]) -> String {
    let mut text = format!("{GENERATED}{COMMAND} -->\n");
    let (conventions, differences): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.strength == Strength::Convention);
    let mut systems: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in differences {
        systems.entry(finding.system_and_version()).or_default().push(finding);
    }
    let mut systems: Vec<(String, Vec<&Finding>)> = systems.into_iter().collect();
    let strong = |of: &[&Finding]| of.iter().filter(|finding| finding.strength == Strength::Strong).count();
    systems.sort_by_key(|(_, of)| (std::cmp::Reverse(strong(of)), of[0].number));
    for (system, mut of) in systems {
        of.sort_by_key(|finding| (finding.strength, finding.number));
        write!(text, "\n## {system}\n\n| | finding | clauses | status | since |\n|---|---|---|---|---|\n")
            .unwrap();
        text.extend(of.iter().map(|finding| finding.row(false)));
    }
    text.push_str("\n## Conventions and limits\n\n");
    text.push_str("| | system | finding | clauses | status | since |\n|---|---|---|---|---|---|\n");
    text.extend(conventions.iter().map(|finding| finding.row(true)));
    text
}

/// The fenced blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest)).collect()
}

#[test]
fn the_index_is_current() {
    let path = conformance().join("FINDINGS.md");
    let page = fs::read_to_string(&path).unwrap();
    let findings = findings();
    let (header, _) = page.split_once(GENERATED).expect("the line after which the page is generated");
    assert!(
        header.contains(&format!("{} differences", findings.len())),
        "FINDINGS.md: expected \"{} differences\" in the text above the tables",
        findings.len()
    );
    let expected = format!("{header}{}", index(&findings));
    if std::env::var_os("BROADCHECK_BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    } else {
        assert!(page == expected, "FINDINGS.md is out of date; run `{COMMAND}`");
    }
}

#[test]
fn numbers_are_consecutive_and_files_are_named_after_them() {
    let findings = findings();
    assert!(findings.len() >= 40, "found {} findings", findings.len());
    for (place, Finding { number, title, file, body, .. }) in findings.iter().enumerate() {
        assert_eq!(*number, place + 1, "{file}");
        assert!(file.starts_with(&format!("{number:04}-")) && file.ends_with(".md"), "{file}");
        assert!(
            body.starts_with(&format!("\n# {number}. {title}\n")),
            "{file}: expected the title as heading"
        );
    }
}

#[test]
fn each_finding_has_one_request_one_short_reproduction_and_its_output() {
    for Finding { file, body, .. } in findings() {
        let mut others = ["rust", "javascript", "octave", "cpp"].into_iter();
        let language = others.find(|language| body.contains(&format!("```{language}\n")));
        let language = language.unwrap_or("python");
        let [request, program, output] =
            ["yaml", language, "text"].map(|language| blocks(&body, language)).map(|blocks| {
                assert_eq!(blocks.len(), 1, "{file}");
                blocks[0].to_owned()
            });
        assert!(request.contains("rules: ") && request.contains("operands:"), "{file}");
        assert!(body.contains("**Expected:** ") && body.contains("**Actual:** "), "{file}");
        let lines = program.lines().count();
        assert!((2..=MOST_LINES).contains(&lines), "{file} is reproduced in {lines} lines");
        assert!(!program.contains("broadcheck") && !program.contains("protocol"), "{file}");
        assert!(!output.trim().is_empty(), "{file}");
    }
}

#[test]
fn each_finding_is_about_a_system_with_known_failures_and_cites_clauses_and_cases_that_exist() {
    let suite = Suite::builtin().unwrap();
    let runs = suite.cases.iter().map(|case| (case.id.as_str(), case.clause.as_str()));
    let inferences = suite.inferences.iter().map(|case| (case.id.as_str(), case.clause.as_str()));
    let (ids, clauses): (HashSet<&str>, HashSet<&str>) = runs.chain(inferences).unzip();
    for Finding { file, adapter, version, clauses: cited, status, cases, .. } in findings() {
        let known = Known::load(&conformance().join(format!("known/{adapter}.yaml"))).expect(&file);
        assert!(known.covers(&version), "{file}: known/{adapter}.yaml does not cover the version {version}");
        assert!(["new", "reported", "documented"].contains(&status.as_str()), "{file}: {status}");
        assert!(!cited.is_empty(), "{file}");
        for clause in &cited {
            assert!(clauses.contains(clause.as_str()), "{file}: no case has the clause {clause}");
        }
        for id in &cases {
            assert!(ids.contains(id.as_str()), "{file}: there is no case {id}");
        }
    }
}

#[test]
fn local_links_lead_to_files() {
    let directory = conformance();
    let mut pages: Vec<PathBuf> =
        fs::read_dir(directory.join("findings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.push(directory.join("FINDINGS.md"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| target.contains(".md") && !target.starts_with("http")) {
            let file = page.with_file_name(target.split('#').next().unwrap());
            assert!(file.is_file(), "{}: there is no {target}", page.display());
        }
    }
}
