//! A library with a single dtype is asked nearly every case about shapes and alignment.
//!
//! `cargo test -p broadcheck --test retyping -- --nocapture` prints how many cases each dtype is asked.

use broadcheck::relations::{Extent, RELATION_SWEEPS, RelationSweep};
use broadcheck::retype::{ORDER, asked};
use broadcheck::run::Status;
use broadcheck::sweeps::run_sweep;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Case, DType, ErrorKind, Implementation, Location, OperationKind, Outcome, Request, RuleSet,
    Suite, Sweep,
};

/// A library with every function, and operands of one dtype.
fn only(dtype: DType) -> Capabilities {
    let named =
        Capabilities { broadcast_in_dim: true, permuted: true, cotangent: true, ..Capabilities::all() };
    Capabilities { dtypes: vec![dtype], ..named }
}

/// Whether a case is about shapes, alignment or views: its clause is one of a rule set or G-1, G-2, G-4, G-5
/// or G-6, and it is not a gradient, which integers do not have.
fn is_about_shapes(case: &Case) -> bool {
    let clause = &case.clause;
    let is_other = clause.starts_with("V-") || clause.starts_with("GRAD-") || clause == "G-3";
    !is_other && !is_gradient(case)
}

fn is_gradient(case: &Case) -> bool {
    case.request.operation().kind() == OperationKind::Gradient
}

/// How a library is asked a case: as written, or in its dtype; `None` if it is not asked.
type How = Option<Written>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    AsItIs,
    InItsDtype,
}

/// How a library with this dtype alone is asked each of these cases.
fn how(cases: &[Case], dtype: DType) -> Vec<(&Case, How)> {
    let capabilities = only(dtype);
    let how = |case| {
        let retyped = asked(case, &capabilities).ok()?.retyped.is_some();
        Some(if retyped { Written::InItsDtype } else { Written::AsItIs })
    };
    cases.iter().map(|case| (case, how(case))).collect()
}

/// How many of the cases for which something holds are asked: as written, and in all.
fn counts(all: &[(&Case, How)], holds: impl Fn(&Case) -> bool) -> (usize, usize) {
    let of = || all.iter().filter(|(case, _)| holds(case)).filter_map(|&(_, how)| how);
    (of().filter(|&how| how == Written::AsItIs).count(), of().count())
}

/// A row of the printed table.
fn row(cells: impl IntoIterator<Item = String>) {
    println!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | "));
}

fn cell((before, after): (usize, usize)) -> String {
    format!("{before} → {after}")
}

#[test]
fn one_dtype_is_enough_for_nine_in_ten_cases() {
    let suite = Suite::builtin().unwrap();
    let f64_alone = only(DType::F64);
    let is_of_f64 = |case: &Case| f64_alone.covers(&case.request).is_ok();
    let is_shape = |case: &Case| is_of_f64(case) && is_about_shapes(case);
    // GRAD-3 is about the formulas: exponentials, infinities, NaN.
    let is_sum = |case: &Case| {
        is_of_f64(case) && is_gradient(case) && !case.clause.starts_with("V-") && case.clause != "GRAD-3"
    };
    let shapes = suite.cases.iter().filter(|case| is_shape(case)).count();
    let sums = suite.cases.iter().filter(|case| is_sum(case)).count();
    let names = RuleSet::ALL.map(|set| set.name().to_owned());
    let last = [format!("shapes ({shapes})"), format!("gradient sums ({sums})")];
    row(["dtype".to_owned()].into_iter().chain(names).chain(["all".to_owned()]).chain(last));
    row(vec!["---".to_owned(); RuleSet::ALL.len() + 4]);
    for dtype in ORDER.into_iter().chain([DType::Bool]) {
        let found = how(&suite.cases, dtype);
        let sets = RuleSet::ALL.map(|set| cell(counts(&found, |case| case.request.rules().set() == set)));
        let [all, shape_counts, sum_counts] =
            [counts(&found, |_| true), counts(&found, is_shape), counts(&found, is_sum)];
        row([dtype.to_string()].into_iter().chain(sets).chain([all, shape_counts, sum_counts].map(cell)));
        let share = |(_, asked): (usize, usize), cases: usize| 100 * asked / cases;
        if dtype != DType::Bool {
            let found = share(shape_counts, shapes);
            assert!(found >= 90, "{dtype} is asked {found} % of the cases about shapes");
        }
        // Sums of more than 256 are not exact in bf16.
        let expected = match dtype {
            DType::F64 | DType::F32 | DType::F16 => 90,
            DType::Bf16 => 60,
            _ => 0,
        };
        let found = share(sum_counts, sums);
        assert!(found >= expected, "{dtype} is asked {found} % of the sums of gradients");
    }
}

/// The reference, as a library with one dtype. A request in another dtype is an error.
struct Only(Capabilities);

impl Implementation for Only {
    fn name(&self) -> &'static str {
        "only"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn run(&self, request: &Request) -> Outcome {
        if let Err(reason) = self.0.covers(request) {
            return Outcome::errored(ErrorKind::Reported, reason);
        }
        Reference::new().run(request)
    }
}

#[test]
fn patterns_and_relations_are_checked_in_the_dtype_of_the_library() {
    let small = |relation: &RelationSweep| {
        let cases = relation.count(&Extent::new(2, 2));
        sweep(relation.name, relation.requests.rules, [("max_rank", 2), ("max_length", 2)], cases)
    };
    let patterns = sweep("numpy-patterns", RuleSet::Numpy, [("operands", 6), ("length", 3)], 63);
    let sweeps: Vec<Sweep> = RELATION_SWEEPS.iter().map(small).chain([patterns]).collect();
    for dtype in ORDER {
        let library = Only(only(dtype));
        for sweep in &sweeps {
            let judged = run_sweep(&library, sweep, None).judged;
            let needs_gradients = sweep.sweep.ends_with("adjoint") || sweep.sweep.contains("gradient");
            let expected = if needs_gradients && dtype != DType::F64 && dtype != DType::F32 {
                Status::Skipped
            } else {
                Status::Passed
            };
            assert_eq!(judged.status, expected, "{dtype}, {}: {}", sweep.sweep, judged.detail);
            let other = expected == Status::Passed && dtype != DType::F64;
            assert_eq!(judged.retyped, other.then_some(dtype), "{}", sweep.sweep);
        }
    }
}

fn sweep(name: &str, rules: RuleSet, with: [(&str, u64); 2], cases: u128) -> Sweep {
    Sweep {
        id: format!("{rules}/a-sweep"),
        title: "A sweep.".into(),
        clause: "NUMPY-2".into(),
        examples: Vec::new(),
        sources: Vec::new(),
        sweep: name.into(),
        with: with.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        expected_cases: cases.try_into().unwrap(),
        note: None,
        location: Location::default(),
    }
}
