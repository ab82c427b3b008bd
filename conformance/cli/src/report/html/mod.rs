//! The report as one self-contained page: a matrix of rule sets and clauses by implementation, and every case
//! with its drawing, request and outcomes. JavaScript only filters: the page is complete without it. Signs
//! and words show the status; colours repeat them.

pub(super) mod case;
pub(super) mod cell;
mod map;
mod page;

pub use map::{MAP_MARKER, map};

use super::Report;
use askama::Template as _;
use broadcheck_spec::Suite;

/// The beginning of every HTML report.
pub const MARKER: &str = "<!doctype html>\n<!-- broadcheck report -->";

/// The style of every page.
pub(super) const STYLE: &str = include_str!("../../../templates/page.css");

/// The whole page. `suite` contains the cases of the report.
pub fn render(report: &Report, suite: &Suite) -> String {
    page::Page::new(report, suite).render().expect("a page of texts can be written to a string")
}
