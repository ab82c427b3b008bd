//! The map of how the rule sets differ, as one page: a matrix of the rule sets, and for each pair the
//! smallest request that they judge differently, drawn under both.

use super::STYLE;
use super::case::{DrawingView, drawing};
use crate::report::PRODUCT;
use crate::report::divergence::{answers, shapes, short};
use askama::Template;
use broadcheck_judge::explain::Explanation;
use broadcheck_search::diverge::{Disagreement, Divergence, Variant};
use broadcheck_spec::{Outcome, Request, write};

/// The beginning of every map.
pub const MAP_MARKER: &str = "<!doctype html>\n<!-- broadcheck map -->";

#[derive(Template)]
#[template(path = "diverge.html")]
struct Map {
    style: &'static str,
    product: &'static str,
    bounds: String,
    names: Vec<String>,
    rows: Vec<RowView>,
    variants: Vec<(String, String)>,
    /// The pairs with default attributes, then those in their variants.
    groups: Vec<(&'static str, Vec<PairView>)>,
    agreeing: usize,
    count: usize,
}

/// A row of the matrix: a rule set compared with each.
struct RowView {
    name: String,
    cells: Vec<CellView>,
}

enum CellView {
    Itself,
    Agree { anchor: String },
    Differ { anchor: String, shapes: String, words: String },
}

struct PairView {
    left: String,
    right: String,
    anchor: String,
    smallest: Option<SmallestView>,
}

struct SmallestView {
    shapes: String,
    sides: [SideView; 2],
}

/// The answer of a rule set to the smallest request.
struct SideView {
    name: String,
    answer: String,
    accepted: bool,
    clause: &'static str,
    drawing: DrawingView,
    request: String,
}

/// The whole page. `bounds` describes the shapes that were compared.
pub fn map(divergences: &[Divergence], bounds: &str) -> String {
    let is_default = |one: &&Divergence| one.left.is_default() && one.right.is_default();
    let (defaults, variants): (Vec<&Divergence>, Vec<&Divergence>) = divergences.iter().partition(is_default);
    let sets: Vec<Variant> = Variant::ALL.into_iter().filter(|variant| variant.is_default()).collect();
    let views = |pairs: &[&Divergence]| pairs.iter().map(|pair| pair_view(pair)).collect::<Vec<_>>();
    let others = Variant::ALL.into_iter().filter(|variant| !variant.is_default());
    let map = Map {
        style: STYLE,
        product: PRODUCT,
        bounds: bounds.into(),
        names: sets.iter().copied().map(short).collect(),
        rows: sets.iter().map(|&set| row(set, &sets, &defaults)).collect(),
        variants: others
            .map(|variant| (short(variant), format!("{}, {}", variant.rules(), variant.attributes())))
            .collect(),
        groups: vec![
            ("With the default attributes", views(&defaults)),
            ("With attributes that make the rule sets most alike", views(&variants)),
        ],
        agreeing: divergences.iter().filter(|one| one.smallest.is_none()).count(),
        count: divergences.len(),
    };
    map.render().expect("a page of texts can be written to a string")
}

fn row(set: Variant, sets: &[Variant], pairs: &[&Divergence]) -> RowView {
    let cell = |&other: &Variant| {
        let of_both = |pair: &&&Divergence| [(set, other), (other, set)].contains(&(pair.left, pair.right));
        match pairs.iter().find(of_both) {
            None => CellView::Itself,
            Some(pair) => match &pair.smallest {
                None => CellView::Agree { anchor: anchor(pair) },
                Some(smallest) => {
                    let mut said = answers(smallest);
                    if pair.left != set {
                        said.reverse();
                    }
                    let [own, others] = said;
                    CellView::Differ {
                        anchor: anchor(pair),
                        shapes: shapes(pair, smallest),
                        words: format!("{}: {own}; {}: {others}", short(set), short(other)),
                    }
                }
            },
        }
    };
    RowView { name: short(set), cells: sets.iter().map(cell).collect() }
}

fn anchor(pair: &Divergence) -> String {
    format!("{}--{}", short(pair.left), short(pair.right)).replace(' ', "-")
}

fn pair_view(pair: &Divergence) -> PairView {
    PairView {
        left: short(pair.left),
        right: short(pair.right),
        anchor: anchor(pair),
        smallest: pair.smallest.as_ref().map(|smallest| smallest_view(pair, smallest)),
    }
}

fn smallest_view(pair: &Divergence, smallest: &Disagreement) -> SmallestView {
    let [left, right] = answers(smallest);
    SmallestView {
        shapes: shapes(pair, smallest),
        sides: [
            side(pair.left, left, &smallest.left, &smallest.left_outcome),
            side(pair.right, right, &smallest.right, &smallest.right_outcome),
        ],
    }
}

fn side(variant: Variant, answer: String, request: &Request, outcome: &Outcome) -> SideView {
    let explanation = Explanation::of_request(request);
    SideView {
        name: variant.to_string(),
        answer,
        accepted: matches!(outcome, Outcome::Success(_)),
        clause: explanation.clause,
        drawing: drawing(&explanation),
        request: write::request_to_yaml(request),
    }
}
