//! The report as one page that needs nothing else: a matrix of rule sets and clauses over the implementations, and
//! every case with its drawing, request and outcomes. It reads without JavaScript, which only filters; statuses are
//! told by a sign and a word, colour repeats them.

mod case;
mod cell;
mod map;
mod page;

pub use map::{MAP_MARKER, map};

use super::Report;
use askama::Template as _;
use broadcheck_spec::Suite;

/// How a report in HTML begins: a file that begins so is ours.
pub const MARKER: &str = "<!doctype html>\n<!-- broadcheck report -->";

/// The style of every page.
const STYLE: &str = include_str!("../../../templates/page.css");

/// The whole page. The suite holds the cases that the report is about.
pub fn render(report: &Report, suite: &Suite) -> String {
    page::Page::new(report, suite).render().expect("a page of texts can be written to a string")
}
