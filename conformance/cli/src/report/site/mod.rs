//! A static site of the results of several systems: a page per system, rule set, clause, case and finding,
//! and a search over all of them. Links are relative and nothing comes from elsewhere, so that the pages work
//! from a disk. Everything can be read without JavaScript, which only filters and searches.

mod case;
mod clause;
pub(crate) mod finding;
mod front;
mod history;
mod markdown;
mod overview;
mod rules;
mod search;
mod system;
#[cfg(test)]
mod tests;
mod world;

use super::html::STYLE;
use super::{PRODUCT, Report, plural};
use crate::history::History;
use askama::Template;
use broadcheck_spec::Suite;
use world::World;

/// What a site is made of.
pub(crate) struct Input<'a> {
    /// The merged report, with texts that are safe to show.
    pub(crate) report: &'a Report,
    /// For each run, the versions of the suites that it comes from.
    pub(crate) suites: &'a [Vec<String>],
    /// For each run, the `--impl` that asks it; `None` if the reader has to know its command.
    pub(crate) commands: &'a [Option<String>],
    /// What the reader must know about how the reports were merged.
    pub(crate) notes: &'a [String],
    /// The suite of this version.
    pub(crate) suite: &'a Suite,
    /// The histories of systems, if there are any.
    pub(crate) histories: &'a [History],
}

/// A file of the site: its path, with `/` between directories, and its content.
pub(crate) type Page = (String, String);

/// Every file of the site.
pub(crate) fn pages(input: &Input<'_>) -> Vec<Page> {
    let world = World::new(input);
    let mut pages: Vec<Page> = vec![
        ("site.css".into(), format!("{STYLE}{}", include_str!("../../../templates/site/site.css"))),
        ("site.js".into(), include_str!("../../../templates/site/site.js").into()),
        ("search-index.js".into(), search::index(&world)),
        ("search.html".into(), search::page()),
        ("index.html".into(), front::page(&world)),
        ("rules.html".into(), overview::rules(&world)),
        ("clauses.html".into(), overview::clauses(&world)),
        ("findings.html".into(), overview::findings(&world)),
    ];
    pages.extend(world.systems.iter().enumerate().map(|(place, _)| system::page(&world, place)));
    pages.extend(broadcheck_spec::RuleSet::ALL.into_iter().map(|rules| rules::page(&world, rules)));
    pages.extend(broadcheck_spec::clauses::ALL.iter().map(|clause| clause::page(&world, clause)));
    pages.extend(world.findings.iter().map(|finding| finding::page(&world, finding)));
    pages.extend(world.cases.iter().map(|case| case::page(&world, case)));
    pages
}

/// What every page has around its content.
struct Frame {
    title: String,
    /// The way from the page to the site's directory: empty, or `../` once or more.
    root: String,
    /// The item of the navigation to which the page belongs.
    here: &'static str,
    product: &'static str,
}

impl Frame {
    /// `path` is that of the page.
    fn new(title: impl Into<String>, path: &str, here: &'static str) -> Frame {
        let root = "../".repeat(path.matches('/').count());
        Frame { title: title.into(), root, here, product: PRODUCT }
    }
}

fn rendered(page: &impl Template) -> String {
    page.render().expect("a page of texts can be written to a string")
}

/// `1 case`, `2 cases`. Templates pass references.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn counted(count: &usize, what: &str) -> String {
    plural(*count, what)
}
