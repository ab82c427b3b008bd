//! The arguments of a test binary: those of Rust's own test harness that `cargo test` and cargo-nextest use,
//! and a few for the processes that the tests run in. These can also be set by environment variables, because
//! `cargo test -- --ARGUMENT` reaches every test binary of a package.

use std::num::NonZero;
use std::time::Duration;

/// The argument, always the first, of a process that runs tests for its parent.
pub(super) const WORKER: &str = "--broadcheck-worker";

pub(super) const HELP: &str = "\
Usage: [OPTIONS] [FILTER]...

Runs the tests whose names contain a FILTER; all of them without one.

Options:
      --exact                    Run the tests whose names are a FILTER
      --skip FILTER              Leave out the tests whose names contain FILTER; may be repeated
      --ignored                  Run only the tests that are ignored otherwise
      --include-ignored          Run these and the others
      --list                     List the tests and run none
      --test-threads N           Number of threads [default: one per processor]
      --format pretty|terse|json One line per test, one character per test, or one JSON object per event
  -q, --quiet                    The same as --format terse
      --color auto|always|never  Colours in the output [default: auto, on a terminal]
      --logfile PATH             Write the output to this file
      --test                     Accepted; there is nothing but tests
      --bench                    Run benchmarks only: there are none, and every test is ignored
      --nocapture, --show-output Accepted; output is never captured
  -Z unstable-options            Accepted
      --in-process               Run the tests in this process, where a crash ends the run
      --time-limit SECONDS       Fail a test that makes no progress for this long [default: 60]
      --min-asked PERCENT        Fail if less of the shape cases of a declared rule set was asked
      --write-known FILE         Write a draft of a known-failures file that lists what failed
  -h, --help                     Print this help

The environment variables BROADCHECK_IN_PROCESS=1, BROADCHECK_TIME_LIMIT, BROADCHECK_MIN_ASKED and
BROADCHECK_WRITE_KNOWN set the same.
";

/// What the arguments request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) filters: Vec<String>,
    pub(super) skip: Vec<String>,
    pub(super) exact: bool,
    pub(super) ignored: bool,
    pub(super) include_ignored: bool,
    pub(super) list: bool,
    pub(super) bench: bool,
    pub(super) help: bool,
    pub(super) test_threads: Option<NonZero<usize>>,
    pub(super) format: Format,
    pub(super) color: Color,
    pub(super) logfile: Option<String>,
    /// Whether this process runs tests for its parent.
    pub(super) worker: bool,
    pub(super) in_process: bool,
    pub(super) time_limit: Option<Duration>,
    pub(super) min_asked: Option<u8>,
    pub(super) write_known: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// One line per test.
    #[default]
    Pretty,
    /// One character per test.
    Terse,
    /// One object per event and line.
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Color {
    /// If the output is a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// The first invalid argument, and what was expected.
    pub(super) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments::default();
        let mut arguments = arguments.into_iter();
        let mut format = None;
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                read.filters.extend(arguments.by_ref());
                break;
            }
            // `--name value`, `--name=value`, and `-Zvalue` as well.
            let (name, mut attached) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => match argument.strip_prefix("-Z") {
                    Some(value) if !value.is_empty() => ("-Z", Some(value.to_owned())),
                    _ => (argument.as_str(), None),
                },
            };
            let given = attached.is_some();
            let mut value = || {
                attached
                    .take()
                    .or_else(|| arguments.next())
                    .ok_or_else(|| format!("{name}: found no value, expected one"))
            };
            match name {
                "--skip" => read.skip.push(value()?),
                "--test-threads" => read.test_threads = Some(threads(&value()?)?),
                "--format" => format = Some(choice(name, &value()?, &FORMATS)?),
                "--color" => read.color = choice(name, &value()?, &COLORS)?,
                "--logfile" => read.logfile = Some(value()?),
                "--time-limit" => read.time_limit = Some(seconds(name, &value()?)?),
                "--min-asked" => read.min_asked = Some(percent(name, &value()?)?),
                "--write-known" => read.write_known = Some(file(name, value()?)?),
                "-Z" => choice(name, &value()?, &[("unstable-options", ())])?,
                _ if given => return Err(unexpected(&argument)),
                "--exact" => read.exact = true,
                "--ignored" => read.ignored = true,
                "--include-ignored" => read.include_ignored = true,
                "--list" => read.list = true,
                "--bench" => read.bench = true,
                "--in-process" => read.in_process = true,
                WORKER => read.worker = true,
                "--test" | "--nocapture" | "--no-capture" | "--show-output" => {}
                "-q" | "--quiet" => read.format = Format::Terse,
                "-h" | "--help" => read.help = true,
                filter if !filter.starts_with('-') => read.filters.push(argument),
                _ => return Err(unexpected(&argument)),
            }
        }
        if read.format == Format::Terse && format.is_some() {
            return Err("found --quiet and --format, expected one of them".into());
        }
        read.format = format.unwrap_or(read.format);
        Ok(read)
    }

    /// These arguments, and what the environment sets where they set nothing.
    ///
    /// # Errors
    /// The first invalid variable, and what was expected.
    pub(super) fn with_environment(
        mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Arguments, String> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let name = "BROADCHECK_IN_PROCESS";
        if let Some(value) = variable(name) {
            self.in_process |= choice(name, &value, &[("1", true), ("0", false)])?;
        }
        let name = "BROADCHECK_TIME_LIMIT";
        if let (None, Some(value)) = (self.time_limit, variable(name)) {
            self.time_limit = Some(seconds(name, &value)?);
        }
        let name = "BROADCHECK_MIN_ASKED";
        if let (None, Some(value)) = (self.min_asked, variable(name)) {
            self.min_asked = Some(percent(name, &value)?);
        }
        let name = "BROADCHECK_WRITE_KNOWN";
        if let (None, Some(value)) = (&self.write_known, variable(name)) {
            if variable("NEXTEST").is_some() {
                return Err(format!(
                    "{name}: found nextest, which runs each test in its own process, expected `cargo test`"
                ));
            }
            self.write_known = Some(value);
        }
        Ok(self)
    }
}

const FORMATS: [(&str, Format); 3] =
    [("pretty", Format::Pretty), ("terse", Format::Terse), ("json", Format::Json)];

const COLORS: [(&str, Color); 3] =
    [("auto", Color::Auto), ("always", Color::Always), ("never", Color::Never)];

fn choice<T: Copy>(name: &str, found: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let chosen = choices.iter().find(|(name, _)| *name == found).map(|(_, chosen)| *chosen);
    chosen.ok_or_else(|| format!("{name}: found `{found}`, expected {}", names.join(" or ")))
}

fn threads(found: &str) -> Result<NonZero<usize>, String> {
    found.parse().map_err(|_| format!("--test-threads: found `{found}`, expected a number from 1"))
}

/// A time limit. Shorter ones than a second would fail tests on a busy machine.
fn seconds(name: &str, found: &str) -> Result<Duration, String> {
    let seconds = found.parse().ok().filter(|&seconds| seconds > 0);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("{name}: found `{found}`, expected a number of seconds from 1"))
}

fn percent(name: &str, found: &str) -> Result<u8, String> {
    let percent = found.parse().ok().filter(|&percent| percent <= 100);
    percent.ok_or_else(|| format!("{name}: found `{found}`, expected a percentage from 0 to 100"))
}

fn file(name: &str, found: String) -> Result<String, String> {
    if found.is_empty() { Err(format!("{name}: found an empty name, expected a file")) } else { Ok(found) }
}

fn unexpected(found: &str) -> String {
    format!("found `{found}`, expected an option of --help, or a filter")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_of_cargo_and_nextest_are_accepted() {
        assert_eq!(parse("").unwrap(), Arguments::default());
        let listed = parse("--list --format terse --ignored").unwrap();
        assert!(listed.list && listed.ignored && listed.format == Format::Terse);
        let one = parse("--exact numpy/a --nocapture").unwrap();
        assert!(one.exact && one.filters == ["numpy/a"]);
        let many = parse("numpy/ xla/ --skip a --skip=b --test-threads=3 -q --color never --include-ignored")
            .unwrap();
        assert_eq!((many.filters.len(), many.skip.len()), (2, 2));
        assert_eq!((many.test_threads, many.format), (NonZero::new(3), Format::Terse));
        assert!(many.color == Color::Never && many.include_ignored);
        assert_eq!(parse("-Z unstable-options --format=json").unwrap().format, Format::Json);
        assert_eq!(parse("-Zunstable-options -- --list").unwrap().filters, ["--list"]);
        assert_eq!(parse("a=b").unwrap().filters, ["a=b"]);
        assert_eq!(parse("--logfile x").unwrap().logfile.as_deref(), Some("x"));
    }

    #[test]
    fn invalid_arguments_are_errors() {
        for (line, message) in [
            ("--lst", "found `--lst`, expected an option of --help, or a filter"),
            ("--list=yes", "found `--list=yes`, expected an option of --help, or a filter"),
            ("--skip", "--skip: found no value, expected one"),
            ("--test-threads 0", "--test-threads: found `0`, expected a number from 1"),
            ("--format junit", "--format: found `junit`, expected pretty or terse or json"),
            ("--color=red", "--color: found `red`, expected auto or always or never"),
            ("-q --format json", "found --quiet and --format, expected one of them"),
            ("--time-limit 0.5", "--time-limit: found `0.5`, expected a number of seconds from 1"),
            ("--time-limit 0", "--time-limit: found `0`, expected a number of seconds from 1"),
            ("--min-asked 101", "--min-asked: found `101`, expected a percentage from 0 to 100"),
            ("--write-known=", "--write-known: found an empty name, expected a file"),
            ("--in-process=1", "found `--in-process=1`, expected an option of --help, or a filter"),
            ("-Zother", "-Z: found `other`, expected unstable-options"),
        ] {
            assert_eq!(parse(line).unwrap_err(), message, "{line}");
        }
    }

    #[test]
    fn the_environment_sets_what_the_arguments_do_not() {
        let with = |line: &str, variables: &[(&str, &str)]| {
            let found = |name: &str| variables.iter().find(|(known, _)| *known == name);
            parse(line).unwrap().with_environment(|name| found(name).map(|(_, value)| (*value).to_owned()))
        };
        let set = [
            ("BROADCHECK_IN_PROCESS", "1"),
            ("BROADCHECK_TIME_LIMIT", "5"),
            ("BROADCHECK_MIN_ASKED", "90"),
            ("BROADCHECK_WRITE_KNOWN", "known.yaml"),
        ];
        let read = with("", &set).unwrap();
        assert!(read.in_process && read.time_limit == Some(Duration::from_secs(5)));
        assert_eq!((read.write_known.as_deref(), read.min_asked), (Some("known.yaml"), Some(90)));
        assert_eq!(with("--min-asked 70", &set).unwrap().min_asked, Some(70));
        let read = with("--time-limit 7 --write-known=mine.yaml", &set).unwrap();
        assert_eq!(
            (read.time_limit, read.write_known.as_deref()),
            (Some(Duration::from_secs(7)), Some("mine.yaml"))
        );
        assert_eq!(with("--in-process", &[("BROADCHECK_IN_PROCESS", "0")]), parse("--in-process"));
        assert_eq!(with("", &[("BROADCHECK_IN_PROCESS", "")]), parse(""));
        for (name, value, message) in [
            ("BROADCHECK_IN_PROCESS", "yes", "BROADCHECK_IN_PROCESS: found `yes`, expected 1 or 0"),
            (
                "BROADCHECK_TIME_LIMIT",
                "1m",
                "BROADCHECK_TIME_LIMIT: found `1m`, expected a number of seconds from 1",
            ),
        ] {
            assert_eq!(with("", &[(name, value)]).unwrap_err(), message);
        }
        let error = with("", &[("BROADCHECK_WRITE_KNOWN", "x"), ("NEXTEST", "1")]).unwrap_err();
        assert!(error.starts_with("BROADCHECK_WRITE_KNOWN: found nextest"), "{error}");
    }
}
