//! The results of a bench, printed as Markdown and written as JSON to `target/performance`, from where
//! `benches/report` copies them to `PERFORMANCE.md` and `benches/results`.
#![allow(clippy::print_stdout, reason = "a bench prints its results")]

use super::{At, is_quick};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A table with a name.
pub(crate) struct Table {
    name: &'static str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: &'static str, header: &[&str]) -> Table {
        Table { name, header: header.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row and prints it at once, because some take a while.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.header.len(), "a row has one cell per column");
        if self.rows.is_empty() {
            println!("\n| {} |\n|{}", self.header.join(" | "), "---|".repeat(self.header.len()));
        }
        println!("| {} |", cells.join(" | "));
        self.rows.push(cells);
    }
}

/// A goal: the target and the measured value.
pub(crate) struct Goal {
    goal: String,
    target: String,
    measured: String,
    met: bool,
}

/// A goal with an upper bound.
pub(crate) fn goal_at_most(goal: impl Into<String>, bound: f64, measured: f64, unit: &str) -> Goal {
    Goal {
        goal: goal.into(),
        target: format!("≤ {bound}{unit}"),
        measured: format!("{}{unit}", figure(measured)),
        met: measured <= bound,
    }
}

/// A goal with a lower bound.
pub(crate) fn goal_at_least(goal: impl Into<String>, bound: f64, measured: f64, unit: &str) -> Goal {
    Goal {
        goal: goal.into(),
        target: format!("≥ {bound}{unit}"),
        measured: format!("{}{unit}", figure(measured)),
        met: measured >= bound,
    }
}

/// A number with a suitable number of decimals.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 20.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// All results of one bench.
pub(crate) struct Results {
    bench: &'static str,
    tables: Vec<Table>,
    goals: Vec<Goal>,
}

impl Results {
    pub(crate) fn new(bench: &'static str) -> Results {
        println!("{bench}: level {}", At::detect().level());
        Results { bench, tables: Vec::new(), goals: Vec::new() }
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub(crate) fn goal(&mut self, goal: Goal) {
        println!(
            "{} {}: {}, measured {}",
            if goal.met { "met:" } else { "missed:" },
            goal.goal,
            goal.target,
            goal.measured
        );
        self.goals.push(goal);
    }

    /// Writes everything as JSON. A quick run writes nothing, because its figures are meaningless.
    pub(crate) fn write(self) {
        if is_quick() {
            return;
        }
        let tables: Vec<Value> = self
            .tables
            .into_iter()
            .map(|table| json!({"name": table.name, "header": table.header, "rows": table.rows}))
            .collect();
        let goal = |goal: Goal| json!({"goal": goal.goal, "target": goal.target, "measured": goal.measured, "met": goal.met});
        let goals: Vec<Value> = self.goals.into_iter().map(goal).collect();
        let level = At::detect().level().name();
        let all = json!({"bench": self.bench, "level": level, "tables": tables, "goals": goals});
        let text = serde_json::to_string_pretty(&all).unwrap();
        std::fs::write(directory().join(format!("{}.json", self.bench)), text + "\n").unwrap();
    }
}

/// The directory of the results.
pub(crate) fn directory() -> PathBuf {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/performance"));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}
