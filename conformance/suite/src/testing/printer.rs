//! Prints a run of tests in the format of Rust's own test harness.

use super::arguments::{Arguments, Color, Format};
use super::runner::{Counts, Ending, Failure, Label, Trial};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

pub(super) struct Printer {
    out: Box<dyn Write>,
    format: Format,
    colored: bool,
    /// The longest name, and the longest kind with its brackets, in characters.
    widths: (usize, usize),
}

impl Printer {
    /// # Errors
    /// The log file cannot be made.
    pub(super) fn new(arguments: &Arguments, trials: &[Trial]) -> io::Result<Printer> {
        let longest = |width: fn(&Label) -> usize| trials.iter().map(|trial| width(&trial.label)).max();
        let name = longest(|label| label.name.chars().count());
        let kind = longest(|label| kind(label).chars().count());
        let colored = match arguments.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => arguments.logfile.is_none() && is_colour_terminal(),
        };
        let out: Box<dyn Write> = match &arguments.logfile {
            Some(path) => Box::new(File::create(path)?),
            None => Box::new(io::stdout()),
        };
        let widths = (name.unwrap_or_default(), kind.unwrap_or_default());
        Ok(Printer { out, format: arguments.format, colored, widths })
    }

    pub(super) fn list(&mut self, trials: &[Trial]) -> io::Result<()> {
        trials.iter().try_for_each(|trial| writeln!(self.out, "{}: test", trial.label.listed()))
    }

    pub(super) fn title(&mut self, count: usize) -> io::Result<()> {
        if self.format == Format::Json {
            return self.event(&json!({"type": "suite", "event": "started", "test_count": count}));
        }
        let s = if count == 1 { "" } else { "s" };
        writeln!(self.out, "\nrunning {count} test{s}")
    }

    /// Printed before the result of a test is known.
    pub(super) fn start(&mut self, label: &Label) -> io::Result<()> {
        match self.format {
            Format::Terse => Ok(()),
            Format::Json => self.event(&json!({"type": "test", "event": "started", "name": label.name})),
            Format::Pretty => {
                let (name_width, kind_width) = self.widths;
                write!(self.out, "test {:kind_width$}{:name_width$} ... ", kind(label), label.name)?;
                self.out.flush()
            }
        }
    }

    pub(super) fn ending(&mut self, label: &Label, ending: &Ending) -> io::Result<()> {
        match self.format {
            Format::Json => {
                let mut event =
                    json!({"type": "test", "name": label.name, "event": word(ending).to_lowercase()});
                match ending {
                    Ending::Failed(Failure { message, .. }) => {
                        event["stdout"] = format!("Error: \"{message}\"\n").into();
                    }
                    Ending::Ignored(reason) if !reason.is_empty() => {
                        event["message"] = one_line(reason).into();
                    }
                    Ending::Ignored(_) | Ending::Passed | Ending::Differs => {}
                }
                self.event(&event)
            }
            Format::Pretty => {
                let text = match ending {
                    Ending::Ignored(reason) if !reason.is_empty() => format!("ignored, {}", one_line(reason)),
                    _ => word(ending).to_owned(),
                };
                let text = self.painted(&text, ending);
                writeln!(self.out, "{text}")
            }
            Format::Terse => {
                let letter = match ending {
                    Ending::Passed | Ending::Differs => ".",
                    Ending::Failed(_) => "F",
                    Ending::Ignored(_) => "i",
                };
                let text = self.painted(letter, ending);
                write!(self.out, "{text}")?;
                self.out.flush()
            }
        }
    }

    pub(super) fn failures(&mut self, failures: &[(Label, Failure)]) -> io::Result<()> {
        if self.format == Format::Json || failures.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\nfailures:\n")?;
        for (label, failure) in failures {
            writeln!(self.out, "---- {} ----\n{}\n", label.name, failure.message)?;
        }
        writeln!(self.out, "\nfailures:")?;
        failures.iter().try_for_each(|(label, _)| writeln!(self.out, "    {}", label.name))
    }

    pub(super) fn summary(&mut self, counts: Counts, elapsed: Duration) -> io::Result<()> {
        let Counts { passed, failed, ignored, filtered_out } = counts;
        let ending = if failed > 0 { Ending::Failed(Failure::default()) } else { Ending::Passed };
        let seconds = elapsed.as_secs_f64();
        if self.format == Format::Json {
            return self.event(&json!({
                "type": "suite", "event": word(&ending).to_lowercase(), "passed": passed, "failed": failed,
                "ignored": ignored, "measured": 0, "filtered_out": filtered_out, "exec_time": seconds,
            }));
        }
        let result = self.painted(word(&ending), &ending);
        writeln!(
            self.out,
            "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; \
             {filtered_out} filtered out; finished in {seconds:.2}s\n"
        )
    }

    /// Lines beneath the summary.
    pub(super) fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        lines.iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        writeln!(self.out, "{event}")
    }

    fn painted(&self, text: &str, ending: &Ending) -> String {
        let colour = match ending {
            Ending::Passed | Ending::Differs => 32,
            Ending::Failed(_) => 31,
            Ending::Ignored(_) => 33,
        };
        if self.colored { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Passed | Ending::Differs => "ok",
        Ending::Failed(_) => "FAILED",
        Ending::Ignored(_) => "ignored",
    }
}

/// A reason on one line, as the built-in harness shows it.
fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kind in brackets and a space, if there is one.
fn kind(label: &Label) -> String {
    if label.kind.is_empty() { String::new() } else { format!("[{}] ", label.kind) }
}

fn is_colour_terminal() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    io::stdout().is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}
