//! Tests of runs that are cut off and continued, of their state files, and of the time for shrinking.

use super::rewrites::{REWRITTEN_EVERY, REWRITTEN_LEFT};
use super::*;
use crate::shrink::Again;
use broadcheck_spec::{
    Accepts, Capabilities, ErrorKind, Function, Inference, Outcome, Refusal, RuleSet, Tensor,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// A temporary directory, in memory where there is such a file system: a run syncs its files to the
/// disk.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The reference with three defects, and one of what it infers. While it answers, it copies a directory, sets
/// a flag or sleeps.
#[derive(Default)]
struct Faulty<'a> {
    asked: AtomicU64,
    /// Copies made right before a request: its number, from where and to where.
    copies: Vec<(u64, PathBuf, PathBuf)>,
    /// A flag to set right before a request.
    stops: Option<(u64, &'a AtomicBool)>,
    sleeps: Duration,
}

impl Implementation for Faulty<'_> {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        for (_, from, to) in self.copies.iter().filter(|(at, ..)| *at == number) {
            copy(from, to);
        }
        if let Some((_, flag)) = self.stops.filter(|(at, _)| *at == number) {
            flag.store(true, Ordering::Relaxed);
        }
        thread::sleep(self.sleeps);
        let calls = |function| {
            let expression = request.operation().expression();
            expression.is_some_and(|expression| expression.calls().any(|call| call.function() == function))
        };
        match Reference.run(request) {
            Outcome::Success(_) if request.rules().set() == RuleSet::Pdpd => {
                Outcome::Errored { kind: ErrorKind::Panicked, message: "index 7 out of bounds".into() }
            }
            Outcome::Success(_) if calls(Function::Multiply) => {
                Outcome::Success(Tensor::new([2, 0], Vec::<f64>::new()).unwrap().into())
            }
            Outcome::Success(_) if calls(Function::Maximum) => Outcome::Refusal(Refusal::default()),
            other => other,
        }
    }
    /// Promises that every run is accepted.
    fn infer(&self, signature: &broadcheck_spec::Signature) -> Outcome<Inference> {
        match Reference.infer(signature) {
            Outcome::Success(inference) => {
                Outcome::Success(Inference { accepts: Some(Accepts::Always), ..inference })
            }
            other => other,
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        // A draft may be renamed meanwhile.
        let _ = fs::copy(&path, to.join(path.file_name().unwrap()));
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

fn campaign<'a>(right: &'a dyn Implementation, store: Option<&'a Store>) -> Campaign<'a> {
    let profile = Profile::within(Reference.capabilities()).with_large(0).with_max_elements(64);
    Campaign {
        left: &Reference,
        right,
        profile,
        seed: 3,
        requests: Some(300),
        time: None,
        jobs: 1,
        skips: false,
        exact: false,
        statistics: false,
        shrinking: (60, Duration::from_secs(60)),
        shrink_time: None,
        store,
        earlier: None,
        stop: &GO_ON,
    }
}

fn run(campaign: &Campaign<'_>) -> FuzzReport {
    fuzz(campaign, &mut |_| ()).unwrap()
}

/// The case files of a directory, which all load.
fn cases(directory: &Path) -> BTreeMap<String, String> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let cases = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        broadcheck_spec::load_str(&text, "case.yaml").unwrap();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
    };
    cases.map(read).collect()
}

/// The names of the files of the findings. A few requests cannot be written as cases.
fn filed(report: &FuzzReport) -> BTreeSet<String> {
    let files = report.findings.iter().filter_map(|found| found.file.as_ref());
    files.map(|file| file.path().file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// What must be the same for a run that was cut off and one that was not.
fn findings(report: &FuzzReport) -> Vec<(String, u64, u64, Question, bool, usize)> {
    let one = |found: &Found| {
        let Shrunk { request, disagreement, minimal, steps, .. } = found.shrunk.clone();
        (disagreement.signature.to_string(), found.number, found.hits, request, minimal, steps)
    };
    report.findings.iter().map(one).collect()
}

fn fast_store(directory: &Path) -> Store {
    Store::create(directory, vec!["--seed=3".into()]).unwrap().at_pace(Duration::ZERO)
}

/// A copy of the directory at any moment is what a kill would have left.
#[test]
fn a_run_that_was_cut_off_finds_the_same() {
    let root = scratch();
    let directory = |name: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let whole = directory("whole");
    let copies: Vec<(u64, PathBuf, PathBuf)> =
        [1, 60, 300, 600, 1000].map(|at| (at, whole.clone(), root.path().join(at.to_string()))).into();
    let store = fast_store(&whole);
    let faulty = Faulty { copies: copies.clone(), ..Faulty::default() };
    let expected = run(&campaign(&faulty, Some(&store)));
    let asked = faulty.asked.load(Ordering::Relaxed);
    assert!(asked > 1000, "every copy is made: {asked}");
    assert!(expected.findings.len() > 5 && expected.waiting == 0, "{}", expected.findings.len());
    let files = cases(&whole);
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), filed(&expected));
    assert!(files.len() + 3 > expected.findings.len(), "{} of {}", files.len(), expected.findings.len());
    assert!(files.keys().all(|name| !name.contains("-request-")), "drafts are replaced: {:?}", files.keys());
    let mut positions = Vec::new();
    for (_, _, copy) in &copies {
        let Ok(earlier) = Earlier::load(copy) else {
            // Killed before the first state was written, so the run begins anew.
            continue;
        };
        positions.push(fs::read_to_string(copy.join("fuzz.state")).unwrap());
        let store = earlier.store(earlier.arguments().to_vec());
        let faulty = Faulty::default();
        let report = run(&Campaign { earlier: Some(&earlier), ..campaign(&faulty, Some(&store)) });
        assert_eq!(findings(&report), findings(&expected));
        assert_eq!(report.counts, expected.counts);
        assert_eq!(cases(copy), files);
    }
    positions.dedup();
    assert!(positions.len() > 2, "found {} different states", positions.len());
}

#[test]
fn an_interrupted_run_says_that_nothing_was_repeated() {
    let directory = scratch();
    let store = fast_store(directory.path());
    let stop = AtomicBool::new(false);
    let faulty = Faulty { stops: Some((40, &stop)), ..Faulty::default() };
    // The first batch is cut short before anything is shrunk.
    let report = run(&Campaign { stop: &stop, ..campaign(&faulty, Some(&store)) });
    assert!(!report.complete && report.waiting > 0);
    assert!(report.findings.iter().all(|found| found.waits && found.shrunk.again == Again::NotAsked));
    assert_eq!(cases(directory.path()).len(), report.waiting, "they are in files");
    // The same command does not discard the run.
    let error = Store::create(directory.path(), Vec::new()).err().unwrap();
    assert!(error.contains("found a run that has not finished"), "{error}");
    let earlier = Earlier::load(directory.path()).unwrap();
    let store = earlier.store(Vec::new());
    let faulty = Faulty::default();
    let report = run(&Campaign { earlier: Some(&earlier), ..campaign(&faulty, Some(&store)) });
    assert_eq!(findings(&report), findings(&run(&campaign(&Faulty::default(), None))));
    assert!(Store::create(directory.path(), Vec::new()).is_ok(), "a finished run is replaced");
}

#[test]
fn an_edited_file_stays() {
    let directory = scratch();
    let store = fast_store(directory.path());
    let faulty = Faulty::default();
    let unshrunk = Campaign { shrink_time: Some(Duration::ZERO), ..campaign(&faulty, Some(&store)) };
    let report = run(&unshrunk);
    assert!(report.complete && report.waiting == report.findings.len());
    let drafts = cases(directory.path());
    // A few requests cannot be written as cases before they are shrunk: the state has their numbers.
    let (written, waiting) = (drafts.len(), report.waiting);
    assert!(written <= waiting && written + 10 > waiting, "{written} of {waiting}");
    let (name, text) = drafts.first_key_value().unwrap();
    let edited = text.clone() + "# mine\n";
    fs::write(directory.path().join(name), &edited).unwrap();
    let earlier = Earlier::load(directory.path()).unwrap();
    let store = earlier.store(Vec::new());
    let report =
        run(&Campaign { earlier: Some(&earlier), shrink_time: None, ..campaign(&faulty, Some(&store)) });
    let files = cases(directory.path());
    let mut expected = filed(&report);
    expected.insert(name.clone());
    assert_eq!((report.waiting, files.keys().cloned().collect()), (0, expected));
    assert_eq!(files.get(name), Some(&edited));
    assert!(files.len() < drafts.len(), "the other drafts are replaced");
}

#[test]
fn shrinking_has_a_limit() {
    let faulty = Faulty { sleeps: Duration::from_millis(1), ..Faulty::default() };
    let [time, shrink_time] = [Some(Duration::from_millis(120)); 2];
    let began = Instant::now();
    let report = run(&Campaign { requests: None, time, shrink_time, ..campaign(&faulty, None) });
    assert!(report.complete && report.waiting > 0 && report.counts.requests > 20, "{:?}", report.counts);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn findings_of_one_cause_are_a_group() {
    let report = run(&campaign(&Faulty::default(), None));
    let groups = report.groups();
    assert_eq!(groups.iter().map(|group| group.findings.len()).sum::<usize>(), report.findings.len());
    // Each oracle has groups of its own; that of declared shapes shows the same defects.
    let panics = |group: &&Group<'_>| group.cause.starts_with("right panicked, reference-faulty: ");
    let panicking: Vec<&Group<'_>> = groups.iter().filter(panics).collect();
    let [panicking] = panicking[..] else { panic!("one defect is one group") };
    assert!(panicking.cause.ends_with("index # out of bounds"), "{}", panicking.cause);
    let elements = |found: &&Found| -> usize {
        let Question::Run(request) = &found.shrunk.request else { return 0 };
        request.operands().iter().map(|operand| operand.values().len()).sum()
    };
    let operands = |found: &&Found| match &found.shrunk.request {
        Question::Run(request) => request.operands().len(),
        Question::Infer(signature) => signature.operands().len(),
    };
    for group in &groups {
        let first = operands(&group.findings[0]);
        assert!(group.findings.iter().all(|found| first <= operands(found)));
    }
    assert!(elements(&groups[0].findings[0]) <= 2, "the smallest is on top");
}

#[test]
fn the_list_of_findings_names_the_file_to_read_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("findings.txt");
    let faulty = Faulty::default();
    let store = fast_store(directory.path());
    let unshrunk = Campaign { shrink_time: Some(Duration::ZERO), ..campaign(&faulty, Some(&store)) };
    run(&unshrunk);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("Findings of `broadcheck fuzz`: faulty 1 against reference "), "{text}");
    assert!(text.contains(", not shrunk yet"), "{text}");
    // Continued: what is shrunk meanwhile has other files.
    let earlier = Earlier::load(directory.path()).unwrap();
    let store = earlier.store(Vec::new());
    let report = run(&Campaign { earlier: Some(&earlier), ..campaign(&faulty, Some(&store)) });
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("not shrunk yet") && text.contains("\nThe run has finished.\n"), "{text}");
    let name = |found: &Found| found.file.as_ref()?.path().file_name()?.to_str().map(str::to_owned);
    let groups = report.groups();
    let first = groups.iter().flat_map(|group| &group.findings).find_map(|found| name(found)).unwrap();
    assert!(text.contains(&format!("\nRead first: {first}\n")), "{text}");
    for (place, group) in groups.iter().enumerate() {
        let head = format!("\n{}. {}: {} hits\n", place + 1, group.cause, group.hits());
        assert!(text.contains(&head), "{head}: {text}");
    }
    assert!(cases(directory.path()).keys().all(|name| text.contains(name)), "{text}");
    // A file of another program is left as it is.
    fs::write(&path, "mine").unwrap();
    let store = fast_store(directory.path());
    let report = run(&campaign(&faulty, Some(&store)));
    let error = report.unsaved.unwrap();
    assert!(
        error.ends_with("findings.txt: found another file, expected none or the findings of a run"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

/// Answers in batches, slowly, and fails each time.
struct Slow(Faulty<'static>);

impl Implementation for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, _: &Request) -> Outcome {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        thread::sleep(self.0.sleeps);
        Outcome::errored(ErrorKind::Crashed, "on purpose")
    }
    fn batch(&self) -> usize {
        256
    }
    fn run_many_until(&self, requests: &[&Request], deadline: Instant) -> Vec<Outcome> {
        let run = |request: &&Request| match Instant::now() < deadline {
            true => self.run(request),
            false => Outcome::errored(ErrorKind::Interrupted, "the time is over"),
        };
        requests.iter().map(run).collect()
    }
}

/// The requests that were answered in time count, and the others are asked when the run is continued.
#[test]
fn a_batch_is_cut_short_when_the_time_is_over() {
    let directory = tempfile::tempdir().unwrap();
    let store = fast_store(directory.path());
    let slow = Slow(Faulty { sleeps: Duration::from_millis(20), ..Faulty::default() });
    let time = Some(Duration::from_millis(300));
    let began = Instant::now();
    let limits =
        Campaign { requests: Some(40), time, shrink_time: Some(Duration::ZERO), ..campaign(&slow, None) };
    let report = run(&Campaign { store: Some(&store), ..limits });
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let Counts { requests, vacuous, disagreeing, .. } = report.counts;
    assert!(requests > 0 && requests < 20 && requests == vacuous + disagreeing, "{:?}", report.counts);
    let earlier = Earlier::load(directory.path()).unwrap();
    let (store, fast) = (earlier.store(Vec::new()), Slow(Faulty::default()));
    let rest =
        Campaign { time: None, requests: Some(40), earlier: Some(&earlier), ..campaign(&fast, Some(&store)) };
    let report = run(&Campaign { shrink_time: Some(Duration::ZERO), ..rest });
    assert_eq!(report.counts.requests, 40);
}

/// A state file of a short run, as text.
fn state(directory: &Path) -> String {
    let store = fast_store(directory);
    run(&Campaign { requests: Some(64), ..campaign(&Faulty::default(), Some(&store)) });
    fs::read_to_string(directory.join("fuzz.state")).unwrap()
}

fn resumed(directory: &Path, text: &str) -> Result<FuzzReport, String> {
    fs::write(directory.join("fuzz.state"), text).unwrap();
    let earlier = Earlier::load(directory)?;
    let store = earlier.store(Vec::new());
    let faulty = Faulty::default();
    let shrink_time = Some(Duration::ZERO);
    let same = Campaign { requests: Some(64), shrink_time, ..campaign(&faulty, Some(&store)) };
    fuzz(&Campaign { earlier: Some(&earlier), ..same }, &mut |_| ())
}

#[test]
fn a_wrong_state_is_an_error() {
    let directory = scratch();
    let path = directory.path();
    let text = state(path);
    assert!(resumed(path, &text).is_ok());
    let version = concat!("\"version\":\"", env!("CARGO_PKG_VERSION"));
    for (old, new, said) in [
        ("{\"broadcheck\"", "[", "expected a file that `broadcheck fuzz --out` wrote"),
        ("state of a run of fuzz", "report", "found `report` in format 1, expected `state of a run of fuzz`"),
        ("\"format\":1", "\"format\":2", "in format 2, expected"),
        (version, "\"version\":\"0.0.1", "found a run of broadcheck 0.0.1, expected one of"),
        ("\"name\":\"faulty\"", "\"name\":\"other\"", "right: found a run with other 1, expected faulty 1"),
        ("\"profile\":\"", "\"profile\":\"0", "profile: found a run that drew other requests"),
        ("\"done\":[[0,64]]", "\"done\":[[64,0]]", "done: found the range 64 to 0"),
        ("\"kind\":\"", "\"kind\":\"x", "disagreements[0]: kind: found `x"),
        ("\"place\":0", "\"place\":99", "place: found 99, expected the place of a request"),
        ("\"request\":\"{", "\"request\":\"", "request: "),
        (
            "\"status\":\"shrunk\"",
            "\"status\":{\"same_as\":4000}",
            "status: found the place 4000, expected one below",
        ),
        (
            "\"file\":{\"name\":\"",
            "\"file\":{\"name\":\"../",
            "expected the name of a case file in the directory",
        ),
        ("\"digest\":\"", "\"digest\":\"z", "file.digest: found `z"),
        ("\"finished\":true", "\"finished\":true,\"x\":1", "unknown field `x`"),
    ] {
        let wrong = text.replacen(old, new, 1);
        assert_ne!(wrong, text, "{old}");
        let error = resumed(path, &wrong).err().unwrap_or_else(|| panic!("{old} -> {new} is accepted"));
        assert!(error.contains(said) && error.contains("fuzz.state: "), "{old} -> {new}: {error}");
    }
    fs::remove_file(path.join("fuzz.state")).unwrap();
    assert!(Earlier::load(path).err().unwrap().contains("found no such file, expected the state of a run"));
    fs::create_dir(path.join("fuzz.state")).unwrap();
    assert!(Earlier::load(path).err().unwrap().contains("expected a regular file of at most"));
}

/// A damaged state is an error or a state; it never panics.
#[test]
fn a_damaged_state_does_not_panic() {
    let directory = scratch();
    let text = state(directory.path()).into_bytes();
    for number in 0..300_usize {
        let mut damaged = text.clone();
        let place = number.wrapping_mul(2_654_435_761) % damaged.len();
        match number % 3 {
            0 => damaged.truncate(place),
            1 => damaged[place] = b"0919[]{}\",x"[number / 3 % 11],
            _ => drop(damaged.drain(place..(place + 1 + number % 40).min(text.len()))),
        }
        if let Ok(parsed) = state::State::parse(&String::from_utf8_lossy(&damaged)) {
            let faulty = Faulty::default();
            let _ = parsed.entries(&campaign(&faulty, None), directory.path());
        }
    }
}

/// A run that compares each request with another form of itself.
fn of_rewrites<'a>(right: &'a dyn Implementation, store: Option<&'a Store>) -> Campaign<'a> {
    let plain = campaign(right, store);
    let profile = plain.profile.clone().with_rewrites(Rewrites::Only).with_rules(&[RuleSet::Numpy]);
    Campaign { profile, ..plain }
}

#[test]
fn rewrites_find_a_defect_without_the_other_side_and_a_case_has_both_requests() {
    let directory = scratch();
    let store = fast_store(directory.path());
    let faulty = Faulty::default();
    let report = run(&of_rewrites(&faulty, Some(&store)));
    assert!(report.counts.rewritten > 250 && report.counts.rewritten <= report.counts.requests);
    let of_product = |found: &&Found| {
        found.shrunk.disagreement.signature.oracle == "rewritten-times-one-faulty" && found.shrunk.minimal
    };
    let found = report.findings.iter().find(of_product).expect("a * 1 has another shape");
    let Question::Run(request) = &found.shrunk.request else { panic!("a request") };
    assert_eq!(request.operation().expression().unwrap().calls().count(), 0, "the base request is reduced");
    let text = fs::read_to_string(found.file.as_ref().unwrap().path()).unwrap();
    let cases = broadcheck_spec::load_str(&text, "case.yaml").unwrap().cases;
    let expressions: Vec<String> = cases
        .iter()
        .map(|case| case.request.operation().expression().unwrap().display(&case.request.names()))
        .collect();
    assert_eq!(expressions, ["a", "[multiply, a, k]"], "{text}");
    assert!(text.contains("with a * 1 in place of a"), "{text}");
    // The reference agrees with itself.
    let clean = run(&of_rewrites(&Reference, None));
    assert_eq!(clean.counts.disagreeing, 0);
    assert!(clean.counts.accepted > 100 && clean.counts.refused > 20, "{:?}", clean.counts);
}

#[test]
fn a_run_of_rewrites_that_was_cut_off_is_continued() {
    let whole = scratch();
    let complete = run(&of_rewrites(&Faulty::default(), Some(&fast_store(whole.path()))));
    for at in [40, 333] {
        let directory = scratch();
        let stop = AtomicBool::new(false);
        let faulty = Faulty { stops: Some((at, &stop)), ..Faulty::default() };
        let store = fast_store(directory.path());
        let first = run(&Campaign { stop: &stop, ..of_rewrites(&faulty, Some(&store)) });
        assert!(!first.complete);
        let earlier = Earlier::load(directory.path()).unwrap();
        let store = earlier.store(vec!["--seed=3".into()]).at_pace(Duration::ZERO);
        let faulty = Faulty::default();
        let rest = run(&Campaign { earlier: Some(&earlier), ..of_rewrites(&faulty, Some(&store)) });
        assert_eq!(rest.counts, complete.counts, "cut off at {at}");
        assert_eq!(findings(&rest), findings(&complete), "cut off at {at}");
        assert_eq!(cases(directory.path()), cases(whole.path()), "cut off at {at}");
    }
}

#[test]
fn some_requests_are_rewritten_for_either_side() {
    // Refuses what has a third operand, also if the second side does.
    struct Picky;
    impl Implementation for Picky {
        fn name(&self) -> &'static str {
            "picky"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn capabilities(&self) -> &Capabilities {
            Reference.capabilities()
        }
        fn run(&self, request: &Request) -> Outcome {
            match Reference.run(request) {
                Outcome::Success(_) if request.operands().len() > 2 => Outcome::Refusal(Refusal::default()),
                other => other,
            }
        }
        fn infer(&self, signature: &broadcheck_spec::Signature) -> Outcome<Inference> {
            Reference.infer(signature)
        }
    }
    let both = Campaign { left: &Picky, requests: Some(2_400), ..campaign(&Picky, None) };
    let report = run(&both);
    let of_rewrites = |found: &&Found| found.shrunk.disagreement.signature.oracle.starts_with("rewritten-");
    let numbers: Vec<u64> = report.findings.iter().filter(of_rewrites).map(|found| found.number).collect();
    assert_eq!(numbers.len(), report.findings.len(), "the sides agree with each other");
    let is_left = |number: &&u64| *number / REWRITTEN_EVERY % REWRITTEN_LEFT == REWRITTEN_LEFT - 1;
    let left = numbers.iter().filter(is_left).count();
    assert!((1..numbers.len()).contains(&left), "{left} of {numbers:?}");
    assert!((200..=300).contains(&report.counts.rewritten), "{}", report.counts.rewritten);
    let profile = both.profile.clone().with_rewrites(Rewrites::Never);
    let report = run(&Campaign { profile, ..both });
    assert_eq!((report.counts.rewritten, report.findings.len()), (0, 0));
}
