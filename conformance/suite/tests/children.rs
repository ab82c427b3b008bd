//! The tests of libraries that die: each fails the case that it dies of, and the run prints everything else.
//!
//! This program is also the test binary of such a library, if [`LIBRARY`] is set. Its checks run it again
//! with the variable, and read what it prints.

use broadcheck::spec::{Capabilities, Implementation, Outcome, Request};
use broadcheck::testing::Tests;
use broadcheck_reference::Reference;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio, exit};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The case file for which the program is the test binary of the faulty library.
const LIBRARY: &str = "BROADCHECK_TEST_LIBRARY";
/// Set for a library of which only one process can run at a time.
const SINGLE: &str = "BROADCHECK_TEST_SINGLE";

fn main() -> ExitCode {
    match std::env::var_os(LIBRARY) {
        Some(cases) => library(Path::new(&cases)),
        None => checks(),
    }
}

/// The test binary of the faulty library.
fn library(cases: &Path) -> ExitCode {
    let is_worker = std::env::args().nth(1).is_some_and(|first| first.starts_with("--broadcheck"));
    if std::env::var_os(SINGLE).is_some() && is_worker {
        eprint("the device is in use\n");
        return ExitCode::FAILURE;
    }
    let known = cases.with_file_name("known.yaml");
    let mut tests = match std::env::var("BROADCHECK_TEST_SEVERAL") {
        Ok(_) => {
            let faulty: Box<dyn Implementation + Send> = Box::new(Faulty::new());
            Tests::several([faulty, Box::new(Reference::new())])
        }
        Err(_) => Tests::new(Faulty::new()),
    };
    if known.is_file() {
        tests = tests.known(known);
    }
    let tests = tests.cases(cases).memory_limit(300 << 20);
    let tests = tests.test("added/passes", || Ok(()));
    let code = tests.test("added/aborts", || std::process::abort()).main();
    eprint("after main\n");
    code
}

fn eprint(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The reference, with a fault where an operand has the name of one.
struct Faulty(Reference, Capabilities);

impl Faulty {
    fn new() -> Faulty {
        let reference = Reference::new();
        let capabilities = reference.capabilities().clone();
        let dtypes = capabilities.dtypes.iter().copied().filter(|dtype| dtype.name() != "f16").collect();
        Faulty(reference, Capabilities { dtypes, ..capabilities })
    }
}

impl Implementation for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn version(&self) -> &str {
        "1.0"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.1
    }

    fn run(&self, request: &Request) -> Outcome {
        let operand = &request.operands()[0];
        fail(operand.name());
        // Within a sweep, the operands always have the same names.
        if operand.shape().lengths() == [7, 3] && request.operands()[1].shape().lengths() == [7, 1] {
            std::process::abort();
        }
        self.0.run(request)
    }
}

/// The fault with this name, if there is one.
fn fail(name: &str) {
    match name {
        "abort" => std::process::abort(),
        "overflow" => drop(black_box(deeper(black_box(1)))),
        "endless" => loop {
            sleep(Duration::from_millis(1));
        },
        "huge" => drop(black_box(vec![1u8; black_box(1 << 46)])),
        "touch" => drop(touch()),
        "exit" => exit(0),
        "panic" => panic!("it is wrong"),
        "bomb" => {
            let _bomb = Bomb;
            panic!("first");
        }
        "says" => {
            println!("the library says: half");
            print!("a line");
            eprint("the library warns\n");
        }
        "sudden" => kill(),
        "close" => close(),
        _ => {}
    }
}

fn deeper(depth: u64) -> u64 {
    let place = [black_box(depth); 64];
    if depth == 0 { 0 } else { deeper(depth + 1) + place[black_box(3)] }
}

/// Fills memory until something ends it.
fn touch() -> Vec<Vec<u8>> {
    let fill = |_| {
        sleep(Duration::from_millis(1));
        black_box(vec![1u8; 4 << 20])
    };
    (0..4096).map(fill).collect()
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("second");
    }
}

/// Kills this process from outside.
fn kill() {
    let process = std::process::id().to_string();
    let _ = Command::new("kill").args(["-9", &process]).status();
    sleep(Duration::from_secs(60));
}

/// Closes standard input and output: what the process may have received as a channel.
#[cfg(unix)]
fn close() {
    let null = fs::File::open("/dev/null").expect("every Unix has it");
    rustix::stdio::dup2_stdin(&null).expect("a file can be standard input");
    rustix::stdio::dup2_stdout(&null).expect("a file can be standard output");
}

#[cfg(not(unix))]
fn close() {}

fn checks() -> ExitCode {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases/numpy-examples.yaml");
    let tests = Tests::new(Reference::new()).cases(cases).in_process();
    CHECKS.iter().fold(tests, |tests, (name, check)| tests.test(&format!("children/{name}"), *check)).main()
}

type Check = fn() -> Result<(), String>;

const CHECKS: &[(&str, Check)] = &[
    ("a-death-fails-its-case", a_death_fails_its_case),
    ("each-death-has-its-reason", each_death_has_its_reason),
    ("a-hang-is-ended", a_hang_is_ended),
    ("output-of-the-library-is-kept", output_of_the_library_is_kept),
    ("a-closed-channel-is-survived", a_closed_channel_is_survived),
    ("a-known-death-passes", a_known_death_passes),
    ("a-sweep-names-its-request", a_sweep_names_its_request),
    ("one-thread-prints-in-order", one_thread_prints_in_order),
    ("every-format", every_format),
    ("dangerous-cases-run-last", dangerous_cases_run_last),
    ("without-processes-a-death-ends-the-run", without_processes_a_death_ends_the_run),
    ("a-library-for-one-process", a_library_for_one_process),
    ("a-draft-of-known-failures", a_draft_of_known_failures),
    ("a-worker-ends-with-its-parent", a_worker_ends_with_its_parent),
];

/// A directory with a case file, and what the test binary prints for it.
struct Fixture {
    directory: tempfile::TempDir,
}

impl Fixture {
    /// The sum of an operand with each of these names and another one.
    fn new(names: &[&str]) -> Fixture {
        let mut text = "format: 1\nrules: numpy\ncases:\n".to_owned();
        for name in names {
            let _ = write!(
                text,
                "  - id: numpy/death/{name}\n    title: A title.\n    clause: NUMPY-1\n    origin: hand\n    \
                 expression: [add, {name}, b]\n    operands:\n      \
                 - {{name: {name}, dtype: f64, shape: [2], values: [1, 2]}}\n      \
                 - {{name: b, dtype: f64, shape: [1], values: [10]}}\n    \
                 result: {{dtype: f64, shape: [2], values: [11, 12]}}\n"
            );
        }
        Fixture::of(&text)
    }

    fn of(text: &str) -> Fixture {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("cases.yaml"), text).expect("a file in it");
        Fixture { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("a program"));
        command.args(arguments).env(LIBRARY, self.path("cases.yaml")).stdin(Stdio::null());
        for name in ["NEXTEST", "BROADCHECK_IN_PROCESS", "BROADCHECK_TIME_LIMIT", "BROADCHECK_WRITE_KNOWN"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("the program runs"))
    }
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Ran {
    /// What is printed about a failure.
    fn failure(&self, name: &str) -> Result<&str, String> {
        let start = format!("---- {name} ----\n");
        let (_, rest) = self.stdout.split_once(&start).ok_or_else(|| self.differs(&start))?;
        Ok(rest.split("\n---- ").next().unwrap_or_default().split("\n\nfailures:").next().unwrap_or_default())
    }

    fn prints(&self, text: &str) -> Result<(), String> {
        if self.stdout.contains(text) { Ok(()) } else { Err(self.differs(text)) }
    }

    fn ends_with_status(&self, code: i32) -> Result<(), String> {
        if self.code == Some(code) { Ok(()) } else { Err(self.differs(&format!("status {code}"))) }
    }

    fn differs(&self, expected: &str) -> String {
        let Ran { code, stdout, stderr } = self;
        format!("expected {expected:?}, found status {code:?}\n{stdout}\nand on standard error\n{stderr}")
    }
}

fn contains(text: &str, part: &str) -> Result<(), String> {
    if text.contains(part) { Ok(()) } else { Err(format!("expected {part:?}, found\n{text}")) }
}

fn a_death_fails_its_case() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "c", "abort", "d", "overflow", "e", "panic", "f"]);
    for threads in ["--test-threads=1", "--test-threads=2"] {
        let ran = fixture.run(&[threads]);
        ran.ends_with_status(101)?;
        for name in ["a", "c", "d", "e", "f"] {
            ran.prints(&format!("test numpy/death/{name}"))?;
        }
        ran.prints("numpy/death/abort    ... FAILED")?;
        ran.prints("added/passes         ... ok")?;
        ran.prints("test result: FAILED. 6 passed; 4 failed; 0 ignored;")?;
        contains(ran.failure("numpy/death/panic")?, "outcome      panicked: it is wrong")?;
        contains(ran.failure("added/aborts")?, "its process")?;
        contains(&ran.stderr, "after main")?;
        if ran.stderr.matches("after main").count() != 1 {
            return Err(ran.differs("what follows main once"));
        }
    }
    Ok(())
}

fn each_death_has_its_reason() -> Result<(), String> {
    let names = ["a", "abort", "overflow", "huge", "touch", "exit", "bomb", "sudden"];
    let ran = Fixture::new(&names).run(&["numpy/"]);
    ran.ends_with_status(101)?;
    ran.prints("numpy/death/a        ... ok")?;
    ran.prints("test result: FAILED. 1 passed; 7 failed; 0 ignored; 0 measured; 2 filtered out;")?;
    let mut reasons = vec![
        ("overflow", "has overflowed its stack"),
        ("huge", "memory allocation of 70368744177664 bytes failed"),
        ("exit", "outcome      its process ended with exit status 0 before the test did"),
        ("bomb", "non-unwinding panic. aborting"),
    ];
    if cfg!(target_os = "linux") {
        reasons.extend([
            ("abort", "outcome      its process was killed by signal 6 (SIGABRT)"),
            ("overflow", "outcome      its process was killed by signal 6 (SIGABRT)"),
            ("touch", "outcome      used more than 300 MiB of memory (Tests::memory_limit), so its process"),
            ("sudden", "outcome      its process was killed by signal 9 (SIGKILL)"),
        ]);
    }
    for (name, reason) in reasons {
        let text = ran.failure(&format!("numpy/death/{name}"))?;
        contains(text, reason)?;
        contains(text, "request      numpy, elementwise")?;
        contains(text, &format!("rerun        cargo test -- --exact 'numpy/death/{name}'"))?;
    }
    // A death is not blamed on what another test wrote.
    let other = ran.failure("numpy/death/exit")?;
    if other.contains("allocation") {
        Err(format!("expected no foreign words, found\n{other}"))
    } else {
        Ok(())
    }
}

fn a_hang_is_ended() -> Result<(), String> {
    let ran = Fixture::new(&["a", "endless", "c"]).run(&["numpy/", "--time-limit=2"]);
    ran.ends_with_status(101)?;
    ran.prints("test numpy/death/a       ... ok")?;
    ran.prints("test numpy/death/c       ... ok")?;
    let text = ran.failure("numpy/death/endless")?;
    contains(text, "outcome      made no progress for 2 s (--time-limit), so its process was killed")
}

fn output_of_the_library_is_kept() -> Result<(), String> {
    let ran = Fixture::new(&["a", "says", "c"]).run(&["numpy/", "--test-threads=1"]);
    ran.ends_with_status(0)?;
    ran.prints("the library says: half\n")?;
    ran.prints("a line")?;
    ran.prints("test result: ok. 3 passed; 0 failed;")?;
    contains(&ran.stderr, "the library warns\n")
}

fn a_closed_channel_is_survived() -> Result<(), String> {
    let ran = Fixture::new(&["a", "close", "c"]).run(&["numpy/", "--test-threads=1"]);
    ran.ends_with_status(0)?;
    ran.prints("test result: ok. 3 passed; 0 failed;")
}

fn a_known_death_passes() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "abort"]);
    let entry = "{case: numpy/death/abort, reason: it aborts, url: 'https://example.org/1'}";
    let text = format!("implementation: faulty\nknown:\n  - {entry}\n");
    fs::write(fixture.path("known.yaml"), text).map_err(|error| error.to_string())?;
    let ran = fixture.run(&["numpy/"]);
    ran.ends_with_status(0)?;
    ran.prints("test [known] numpy/death/abort ... ok")
}

const SWEEP: &str = "format: 1\nrules: numpy\nsweeps:\n  - id: numpy/long/tails\n    title: A title.\n    \
                     clause: NUMPY-3\n    sweep: numpy-long\n    with: {from: 1, to: 20}\n    \
                     expect: {cases: 260}\n";

fn a_sweep_names_its_request() -> Result<(), String> {
    let ran = Fixture::of(SWEEP).run(&["numpy/"]);
    ran.ends_with_status(101)?;
    let text = ran.failure("numpy/long/tails")?;
    contains(text, "after the request numpy ")?;
    contains(text, " a (7,3) b (7,1)")
}

fn one_thread_prints_in_order() -> Result<(), String> {
    let ran = Fixture::new(&["a", "abort", "c", "panic", "d"]).run(&["numpy/", "--test-threads=1"]);
    ran.prints(
        "\nrunning 5 tests\n\
         test numpy/death/a     ... ok\n\
         test numpy/death/abort ... FAILED\n\
         test numpy/death/c     ... ok\n\
         test numpy/death/panic ... FAILED\n\
         test numpy/death/d     ... ok\n\n\
         failures:\n\n\
         ---- numpy/death/abort ----\n",
    )
}

fn every_format() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "abort", "c"]);
    fixture.run(&["numpy/", "-q", "--test-threads=1"]).prints("\nrunning 3 tests\n.F.\nfailures:\n")?;
    let exact = fixture.run(&["--exact", "numpy/death/abort"]);
    exact.ends_with_status(101)?;
    exact.prints("test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out;")?;
    let json = fixture.run(&["numpy/", "--format=json", "-Zunstable-options"]);
    let mut events = Vec::new();
    for line in json.stdout.lines() {
        let event = serde_json::from_str::<serde_json::Value>(line);
        events.push(event.map_err(|_| json.differs("one JSON object per line"))?);
    }
    let passed = serde_json::json!({"event": "ok", "name": "numpy/death/c", "type": "test"});
    if !events.contains(&passed) {
        return Err(json.differs(&passed.to_string()));
    }
    fixture.run(&["--list", "--format", "terse"]).prints(
        "added/passes: test\nadded/aborts: test\nnumpy/death/a: test\nnumpy/death/abort: test\nnumpy/death/c: test\n",
    )?;
    let log = fixture.path("log");
    let logged = fixture.run(&["numpy/", "--logfile", &log.to_string_lossy()]);
    logged.ends_with_status(101)?;
    let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
    contains(&text, "test result: FAILED. 2 passed; 1 failed;")?;
    let half = SWEEP.replace("numpy-long\n", "numpy-long-dtypes\n").replace("260", "100");
    let text = format!("{half}cases:\n{}", case_of_f16());
    Fixture::of(&text).run(&["numpy/half"]).prints("test numpy/half ... ignored, no f16\n")
}

fn case_of_f16() -> &'static str {
    "  - id: numpy/half\n    title: A title.\n    clause: V-1\n    origin: hand\n    expression: [negate, a]\n    \
     operands:\n      - {name: a, dtype: f16, shape: [1], values: [1]}\n    \
     result: {dtype: f16, shape: [1], values: [-1]}\n"
}

/// In a library that takes 0 for a missing axis, the first case has 2^32 elements.
const DANGEROUS: &str = "format: 1\nrules: numpy\ncases:\n  \
    - id: numpy/empty\n    title: A title.\n    clause: NUMPY-1\n    origin: hand\n    expression: [add, a, b]\n    \
    operands:\n      - {name: a, dtype: f64, shape: [65536, 1, 0], values: []}\n      \
    - {name: b, dtype: f64, shape: [65536, 1], strides: [0, 0], values: [1]}\n    \
    result: {dtype: f64, shape: [65536, 65536, 0], values: []}\n  \
    - id: numpy/large\n    title: A title.\n    clause: G-1\n    origin: hand\n    expression: [negate, a]\n    \
    operands:\n      - {name: a, dtype: f64, shape: [4294967296, 4294967296], strides: [0, 0], values: [1]}\n    \
    refusal: {kind: too_large}\n  \
    - id: numpy/small\n    title: A title.\n    clause: NUMPY-1\n    origin: hand\n    expression: [negate, a]\n    \
    operands:\n      - {name: a, dtype: f64, shape: [1], values: [1]}\n    \
    result: {dtype: f64, shape: [1], values: [-1]}\n";

fn dangerous_cases_run_last() -> Result<(), String> {
    let ran = Fixture::of(DANGEROUS).run(&["numpy/", "--test-threads=1"]);
    ran.ends_with_status(0)?;
    ran.prints(
        "test              numpy/small ... ok\n\
         test              numpy/empty ... ok\n\
         test [convention] numpy/large ... ok\n",
    )
}

fn without_processes_a_death_ends_the_run() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "abort", "c"]);
    let ran = fixture.run(&["numpy/", "--in-process", "--test-threads=1"]);
    let missing = |ran: &Ran| match ran.stdout.contains("test result") {
        true => Err(ran.differs("an aborted run")),
        false => Ok(()),
    };
    missing(&ran)?;
    ran.prints("test numpy/death/a     ... ok\n")?;
    let set = fixture.command(&["numpy/"]).env("BROADCHECK_IN_PROCESS", "1").output();
    missing(&Ran::from(set.map_err(|error| error.to_string())?))?;
    Fixture::new(&["a", "c"]).run(&["numpy/", "--in-process"]).ends_with_status(0)
}

fn a_library_for_one_process() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "c"]);
    let ran = fixture.command(&["numpy/"]).env(SINGLE, "1").output().map_err(|error| error.to_string())?;
    let ran = Ran::from(ran);
    ran.ends_with_status(0)?;
    ran.prints("test result: ok. 2 passed; 0 failed;")?;
    contains(
        &ran.stderr,
        "note: cannot start a process for the tests (its process ended with exit status 1",
    )?;
    contains(&ran.stderr, "the device is in use")?;
    contains(&ran.stderr, "so the tests run in this one, where a crash ends the run")
}

fn a_draft_of_known_failures() -> Result<(), String> {
    let fixture = Fixture::new(&["a", "abort", "panic"]);
    let draft = fixture.path("draft.yaml");
    let name = draft.to_string_lossy();
    let ran = fixture.run(&["numpy/", "--write-known", &name]);
    ran.ends_with_status(101)?;
    contains(&ran.stderr, "2 entries; fill in each url before you use it")?;
    let text = fs::read_to_string(&draft).map_err(|error| ran.differs(&error.to_string()))?;
    contains(&text, "from a run of faulty 1.0: 2 of 3 failed.\n")?;
    contains(&text, "implementation: \"faulty\"\nversions: {from: \"1.0\"}\nknown:\n  # A title.\n")?;
    contains(
        &text,
        "  - case: \"numpy/death/panic\"\n    reason: \"panicked: it is wrong\"\n    url: \"\"\n",
    )?;
    // With the addresses, it is a file of known failures.
    fs::write(fixture.path("known.yaml"), text.replace("\"\"", "https://example.org"))
        .map_err(|error| error.to_string())?;
    fixture.run(&["numpy/"]).ends_with_status(0)?;
    let again = fixture.run(&["numpy/", "--write-known", &name]);
    again.ends_with_status(1)?;
    contains(&again.stderr, "draft.yaml: found a file, expected a name that is not taken")?;
    let unchanged = fs::read_to_string(&draft).map_err(|error| error.to_string())?;
    if unchanged != text {
        return Err(format!("expected the file unchanged, found\n{unchanged}"));
    }
    // Everything that fails is known now, so there is nothing to write.
    let nothing = fixture.path("nothing.yaml");
    let ran = fixture.run(&["numpy/", "--write-known", &nothing.to_string_lossy()]);
    contains(&ran.stderr, "found no new failure, so ")?;
    if nothing.exists() {
        return Err("expected no file for no failure".into());
    }
    let several = Fixture::new(&["a", "abort"]);
    let mut command = several.command(&["numpy/"]);
    command
        .env("BROADCHECK_TEST_SEVERAL", "1")
        .env("BROADCHECK_WRITE_KNOWN", several.path("known-draft.yaml"));
    let ran = Ran::from(command.output().map_err(|error| error.to_string())?);
    ran.ends_with_status(101)?;
    let text =
        fs::read_to_string(several.path("known-draft-faulty.yaml")).map_err(|_| ran.differs("a draft"))?;
    contains(&text, "  - case: \"numpy/death/abort\"\n")?;
    if several.path("known-draft-reference.yaml").exists() {
        return Err("expected no draft for an implementation without failures".into());
    }
    Ok(())
}

/// A test that hangs does not outlive a killed parent.
fn a_worker_ends_with_its_parent() -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let fixture = Fixture::new(&["endless"]);
    let mut parent = fixture
        .command(&["numpy/", "--time-limit", "1000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let cases = fixture.path("cases.yaml");
    let workers = || -> usize {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_worker = |path: PathBuf| {
            let read = |name| fs::read(path.join(name)).unwrap_or_default();
            let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
            has(&read("cmdline"), b"--broadcheck-worker")
                && has(&read("environ"), cases.as_os_str().as_encoded_bytes())
        };
        entries.filter(|entry| is_worker(entry.path())).count()
    };
    let within = |wanted: usize| {
        let began = Instant::now();
        while workers() != wanted {
            if began.elapsed() > Duration::from_secs(20) {
                return Err(format!("expected {wanted} workers within 20 s, found {}", workers()));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    };
    let started = within(1);
    // Until the test has begun: otherwise the worker is idle, and ends without further ado.
    sleep(Duration::from_millis(500));
    parent.kill().map_err(|error| error.to_string())?;
    parent.wait().map_err(|error| error.to_string())?;
    started?;
    within(0)
}
