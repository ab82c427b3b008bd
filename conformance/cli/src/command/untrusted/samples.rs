//! Seeds for the targets: samples of every input, from the help, the embedded files and a kit.

use super::super::{Cli, Error, export};
use crate::embedded;
use broadcheck_search::generate::seeds::Seed;
use broadcheck_search::oracle::protocol::{requests, signatures};
use broadcheck_spec::{Convention, DType, Function, RefusalKind, RuleSet, json};
use clap::CommandFactory as _;

/// A report with every field that is read.
const REPORT: &str = r#"{"suite": {"version": "0.2.0"}, "interrupted": false, "implementations": [{"name": "mine",
"version": "1.0", "asked": [{"rules": "numpy"}], "conventions": [{"name": "zero-signs", "declared": true}],
"cases": [{"id": "numpy/a", "status": "passed", "detail": "", "title": "a title", "rules": "numpy", "nature": "rule",
"convention": null, "retyped": "f32", "finding": 7}, {"id": "numpy/b", "status": "failed", "detail": "a\nb"},
{"id": "numpy/c", "status": "known failure", "detail": "known", "finding": 7}, {"id": "theano/d", "status": "skipped",
"detail": "no dtype f16", "rules": "theano"}]}]}"#;

/// A history with every field that is read.
const HISTORY: &str = r#"{"system": "mine", "listed": [{"version": "1.0", "date": "2026-01-02"}, {"version": "1.1"}],
"versions": [{"version": "1.0", "date": "2026-01-02", "suite": {"version": "0.2.0", "ids": "00"}, "sweep_sample": 20,
"python": "3.11", "beside": ["numpy 2.0"], "counts": {"passed": 1, "failed": 1, "differs": 1, "skipped": 1},
"outcomes": "padfesn", "failures": {"d": "wrong", "e": "crashed"}},
{"version": "1.2", "counts": {"passed": 6, "failed": 0}, "outcomes": "6p"}],
"unable": [{"version": "0.9", "reason": "no wheel"}], "cases": ["a", "b", "c", "d", "e", "f", "g"]}"#;

/// What the first version of the manifest contained.
const FIRST_MANIFEST: &str = r#"{"kit": "broadcheck-cases", "version": "0.1.0", "format": 1, "licence": "MIT OR Apache-2.0",
"cases": {"numpy": 2, "total": 2}, "cases_of_sweeps": 0, "files": [{"path": "json/numpy/a.json", "sha256": "00",
"cases": 2}]}"#;

const JOURNAL: &str = r#"{"journal": "broadcheck-export", "aside": ["json/a"], "put": [{"path": "json/b", "sha256": "00"}],
"manifest": "00"}"#;

/// The seeds of a target; none for an unknown target.
///
/// # Errors
/// The built-in suite cannot be read.
pub fn seeds(target: &str) -> Result<Vec<Seed>, String> {
    Ok(match target {
        "command_line" => numbered(command_lines().into_iter().chain(options())),
        "option_value" => numbered(option_values()),
        "explain" => {
            let lines = command_lines().into_iter();
            numbered(lines.filter_map(|line| Some(line.strip_prefix("explain\0")?.to_owned())))
        }
        "known_file" => {
            numbered(embedded::files("known").map(|(_, text)| String::from_utf8_lossy(text).into()))
        }
        "history_file" => numbered(
            embedded::files("history")
                .map(|(_, text)| String::from_utf8_lossy(text).into())
                .chain([HISTORY.into()]),
        ),
        "report" => numbered([REPORT.into(), format!("{REPORT}\0{}", REPORT.replace("passed", "failed"))]),
        "manifest" => {
            let sample = export::sample_manifest().map_err(|error| match error {
                Error::Input(message) => message,
                Error::Output(error) => error.to_string(),
                Error::Interrupted => "interrupted".into(),
            })?;
            numbered([sample, FIRST_MANIFEST.into(), JOURNAL.into()])
        }
        "serve" => numbered(sessions()),
        _ => Vec::new(),
    })
}

fn numbered(texts: impl IntoIterator<Item = String>) -> Vec<Seed> {
    let seed = |(number, text): (usize, String)| Seed { name: format!("{number:03}"), bytes: text.into() };
    texts.into_iter().enumerate().map(seed).collect()
}

/// The examples in the help of each command, as words separated by NUL.
fn command_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for command in Cli::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter_map(|line| line.trim().strip_prefix("broadcheck ")) {
            lines.extend(shell_words::split(line).map(|words| words.join("\0")));
        }
    }
    lines
}

/// Each command with each of its options and each of their possible values.
fn options() -> Vec<String> {
    let mut lines = Vec::new();
    for command in Cli::command().get_subcommands() {
        for option in command.get_arguments().filter_map(|argument| Some((argument, argument.get_long()?))) {
            let (argument, name) = option;
            let start = format!("{}\0--{name}", command.get_name());
            let values = argument.get_possible_values();
            lines.extend(values.iter().map(|value| format!("{start}\0{}", value.get_name())));
            lines.push(start);
        }
    }
    lines
}

/// Values of options, after the letter of their kind.
fn option_values() -> Vec<String> {
    let fixed = ["t10s", "t1m 500ms", "j4", "s2x3", "s()", "s0", "gnumpy/{zero,[a-c]}/*?\nnumpy/zero/a1"];
    let export = ["x1.5MiB", "xnone", "xall", "xzero-signs,gradient-ties", "xpython,go"];
    let mut values: Vec<String> = fixed.into_iter().chain(export).map(str::to_owned).collect();
    values.extend(RuleSet::ALL.map(|rules| format!("r{}", rules.name())));
    values.extend(DType::ALL.map(|dtype| format!("d{dtype}")));
    values.extend(Function::ALL.iter().map(|function| format!("f{function}")));
    values.extend(Convention::ALL.map(|convention| format!("c{convention}")));
    values.extend(RefusalKind::ALL.iter().map(|kind| format!("k{}", kind.name())));
    values
}

/// What a client of `serve` sends: a message each, and all of them in one session.
fn sessions() -> Vec<String> {
    let run = |(place, request)| {
        format!("{{\"cmd\":\"run\",\"seq\":{},\"request\":{}}}\n", place + 1, json::request_to_value(request))
    };
    let mut messages = vec!["{\"cmd\":\"start\",\"version\":1}\n".to_owned()];
    messages.extend(requests().iter().enumerate().map(run));
    let infer = |(place, signature)| {
        let (seq, signature) = (requests().len() + 1 + place, json::signature_to_value(signature));
        format!("{{\"cmd\":\"run\",\"seq\":{seq},\"request\":{signature}}}\n")
    };
    messages.extend(signatures().iter().enumerate().map(infer));
    let batched = |(place, request)| {
        format!("{{\"seq\":{},\"request\":{}}}", place + 1, json::request_to_value(request))
    };
    let batch: Vec<String> = requests().iter().take(3).enumerate().map(batched).collect();
    messages.push(format!("{{\"cmd\":\"batch\",\"requests\":[{}]}}\n", batch.join(",")));
    messages.push("{\"cmd\":\"stop\"}\n".to_owned());
    let whole = messages.concat();
    messages.push(whole);
    messages
}
