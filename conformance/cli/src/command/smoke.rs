//! `broadcheck smoke`: checks a harness step by step, for the person who writes it.

use super::named::{Hiding, parse_name};
use super::time::parse_time;
use super::{Ended, Error, FAILED, PASSED, WRONG_INPUT, interrupt, print, print_and_end};
use crate::adapters;
use crate::report::clean::visible;
use crate::report::plural;
use anstyle::{AnsiColor, Style};
use broadcheck_harness::Options;
use broadcheck_harness::smoke::{Ending, Found, Step, Wrong, smoke};
use std::fmt::Write as _;
use std::time::Duration;

/// Check step by step that a command speaks the protocol
///
/// Sends the simplest messages that show how a harness reads and writes: start, a refusal, a scalar, an axis
/// of length 0, minus zero, NaN, large integers, a long line, several requests at once, stop. Then it sends
/// what a library may not support, and says which field of the answer to `start` declares that. Use
/// `broadcheck check` to test whether the broadcasting is right.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck smoke --impl 'python3 my_harness.py'

The command is split into words as in a shell, but runs without one. conformance/PROTOCOL.md describes the messages.

Exit status: 0 every step passed, 1 some steps failed, 2 the command does not start or does not answer `start`.")]
pub(super) struct Args {
    /// Command, or adapter:NAME
    #[arg(long = "impl", value_name = "COMMAND")]
    implementation: String,

    /// Name to show in place of the command and of its arguments
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    impl_name: Option<String>,

    /// Time limit for one answer
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

pub(super) fn run(args: &Args) -> Ended {
    let options = Options { interrupt: Some(interrupt::flag()), ..Options::within(args.timeout) };
    let command = &args.implementation;
    let hiding = args.impl_name.as_ref().map(|name| Hiding::new(command, name));
    let hidden = |text: &str| hiding.as_ref().map_or_else(|| text.to_owned(), |hiding| hiding.hide(text));
    let unusable = |message: String| Error::Input(hidden(&format!("--impl {command}: {message}")));
    let started = match command.strip_prefix(adapters::PREFIX) {
        Some(name) => adapters::command(name).map_err(unusable)?,
        None => command.clone(),
    };
    let (mut passed, mut wrong, mut left_out, mut advised) = (0, 0, 0, 0);
    let mut unwritten = None;
    let ending = smoke(&started, &options, &mut |step| {
        match step.found {
            Found::Passed(_) => passed += 1,
            Found::Wrong(_) => wrong += 1,
            Found::LeftOut(_) => left_out += 1,
            Found::Advised(_) => advised += 1,
        }
        if let Err(error) = print(&hidden(&shown(step))) {
            unwritten.get_or_insert(error);
        }
    });
    if let Some(error) = unwritten {
        return Err(error);
    }
    let ending = ending.map_err(unusable)?;
    let (word, status) = match ending {
        Ending::Passed => ("ok", PASSED),
        Ending::Failed => ("FAILED", FAILED),
        Ending::NotStarted => ("cannot start", WRONG_INPUT),
    };
    let passed = plural(passed, "step");
    let advised = if advised == 0 { String::new() } else { format!(", {advised} with advice") };
    print_and_end(&format!("{word}: {passed} passed, {wrong} failed, {left_out} left out{advised}\n"), status)
}

fn shown(step: &Step) -> String {
    let (green, yellow) = (AnsiColor::Green.on_default(), AnsiColor::Yellow.on_default());
    let (red, dim) = (AnsiColor::Red.on_default().bold(), Style::new().dimmed());
    let (style, word) = match step.found {
        Found::Passed(_) => (green, "ok"),
        Found::Wrong(_) => (red, "WRONG"),
        Found::LeftOut(_) => (dim, "left out"),
        Found::Advised(_) => (yellow, "advice"),
    };
    let mut text = format!("{style}{word:<8}{style:#}  {}\n", visible(&step.name));
    match &step.found {
        Found::Passed(words) => part(&mut text, "", words),
        Found::LeftOut(why) | Found::Advised(why) => part(&mut text, "", why),
        Found::Wrong(Wrong { sent, found, expected, hint }) => {
            part(&mut text, "sent", sent.as_deref().unwrap_or_default());
            part(&mut text, "found", found);
            part(&mut text, "expected", expected);
            part(&mut text, "hint", hint);
        }
    }
    text
}

fn part(text: &mut String, name: &str, words: &str) {
    let width = if name.is_empty() { 0 } else { 10 };
    for (place, line) in visible(words).lines().enumerate() {
        let name = if place == 0 { name } else { "" };
        let _ = writeln!(text, "          {name:<width$}{line}");
    }
}
