//! What a bench found, printed as Markdown and left as JSON in `target/performance`, from where `benches/report` puts
//! it into `PERFORMANCE.md`: no number is copied by hand.
#![allow(clippy::print_stdout, reason = "this is what a bench is for")]

use super::{At, is_quick};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A table under a name.
pub(crate) struct Table {
    name: &'static str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: &'static str, header: &[&str]) -> Table {
        Table { name, header: header.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row, and prints it: some take a while.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.header.len(), "a cell per column");
        if self.rows.is_empty() {
            println!("\n| {} |\n|{}", self.header.join(" | "), "---|".repeat(self.header.len()));
        }
        println!("| {} |", cells.join(" | "));
        self.rows.push(cells);
    }
}

/// A goal, what was asked and what was measured.
pub(crate) struct Goal {
    goal: String,
    asked: String,
    measured: String,
    met: bool,
}

/// A goal that a figure stays at or below a bound.
pub(crate) fn goal_at_most(goal: impl Into<String>, bound: f64, measured: f64, unit: &str) -> Goal {
    Goal {
        goal: goal.into(),
        asked: format!("≤ {bound}{unit}"),
        measured: format!("{}{unit}", figure(measured)),
        met: measured <= bound,
    }
}

/// A goal that a figure stays at or above a bound.
pub(crate) fn goal_at_least(goal: impl Into<String>, bound: f64, measured: f64, unit: &str) -> Goal {
    Goal {
        goal: goal.into(),
        asked: format!("≥ {bound}{unit}"),
        measured: format!("{}{unit}", figure(measured)),
        met: measured >= bound,
    }
}

/// A number with as many decimals as it deserves.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 20.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// All that one bench found.
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
            goal.asked,
            goal.measured
        );
        self.goals.push(goal);
    }

    /// Leaves everything as JSON; a quick run leaves nothing, for its figures mean nothing.
    pub(crate) fn write(self) {
        if is_quick() {
            return;
        }
        let tables: Vec<Value> = self
            .tables
            .into_iter()
            .map(|table| json!({"name": table.name, "header": table.header, "rows": table.rows}))
            .collect();
        let goal = |goal: Goal| json!({"goal": goal.goal, "asked": goal.asked, "measured": goal.measured, "met": goal.met});
        let goals: Vec<Value> = self.goals.into_iter().map(goal).collect();
        let level = At::detect().level().name();
        let all = json!({"bench": self.bench, "level": level, "tables": tables, "goals": goals});
        let text = serde_json::to_string_pretty(&all).unwrap();
        std::fs::write(directory().join(format!("{}.json", self.bench)), text + "\n").unwrap();
    }
}

/// Where results go.
pub(crate) fn directory() -> PathBuf {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/performance"));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}
