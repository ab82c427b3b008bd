//! Inference over small signatures: the built-in implementations are exact, and wrong answers are found,
//! shrunk and written as cases.

use broadcheck_fast::Fast;
use broadcheck_reference::Reference;
use broadcheck_search::exhaustive::Progress;
use broadcheck_search::inference::{
    Bounds, Finding, FindingKind, InferReport, Relation, exhaust, propose, shrink,
};
use broadcheck_spec::{
    Accepts, Capabilities, Convention, Expectation, Implementation, Inference, Length, Outcome, PartialShape,
    Refusal, Request, RuleSet, Signature, Unknown, load_str,
};

fn run(bounds: &Bounds, implementations: &[&dyn Implementation]) -> InferReport {
    exhaust(bounds, implementations, &Progress::silent()).unwrap()
}

/// A sample of the default bounds.
fn sample() -> Bounds {
    Bounds::default().every(211)
}

fn findings(report: &InferReport) -> String {
    report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Runs these bounds, and checks the report of the built-in implementations.
fn assert_exact(bounds: &Bounds) -> InferReport {
    let report = run(bounds, &[&Reference, &Fast::new()]);
    assert!(report.held(), "{}", findings(&report));
    assert_eq!(u128::from(report.signatures()), bounds.signatures());
    for count in &report.rules {
        assert_eq!(count.signatures, count.always + count.depends + count.refused, "{}", count.rules);
        assert!(count.always > 0 && count.depends > 0 && count.refused > 0, "{}", count.rules);
        for one in &count.implementations {
            assert_eq!((one.exact, one.wider, one.conventions), (count.signatures, 0, 0));
        }
        assert_eq!(count.implementations[1].compared, count.signatures, "{}", count.rules);
        // What is not sampled is proved.
        assert!(count.sampled * 100 <= count.signatures, "{}: {}", count.rules, count.sampled);
    }
    report
}

#[test]
fn the_reference_and_fast_are_exact_for_small_signatures() {
    assert_exact(&sample());
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_reference_and_fast_are_exact_for_all_signatures_of_the_default_bounds() {
    let report = assert_exact(&Bounds::default());
    assert!(report.signatures() > 122_351, "as many as the design checked");
}

/// The reference, with its answers changed.
struct Changed {
    capabilities: Capabilities,
    change: fn(&Signature, Inference) -> Result<Inference, Refusal>,
}

impl Changed {
    fn new(change: fn(&Signature, Inference) -> Result<Inference, Refusal>) -> Changed {
        let capabilities = Capabilities { conventions: Vec::new(), ..Reference.capabilities().clone() };
        Changed { capabilities, change }
    }
}

impl Implementation for Changed {
    fn name(&self) -> &'static str {
        "changed"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn run(&self, request: &Request) -> Outcome {
        Reference.run(request)
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        match Reference.infer(signature) {
            Outcome::Success(inference) => match (self.change)(signature, inference) {
                Ok(inference) => Outcome::Success(inference),
                Err(refusal) => Outcome::Refusal(refusal),
            },
            other => other,
        }
    }
}

/// Forgets what is known of lengths that are not numbers, and of lengths 0.
fn forgetful(_: &Signature, inference: Inference) -> Result<Inference, Refusal> {
    let forget = |length: &Length| match length.number() {
        Some(number) if number > 0 => *length,
        _ => Length::UNKNOWN,
    };
    let shape = match &inference.shape {
        PartialShape::Ranked(lengths) => PartialShape::Ranked(lengths.iter().map(forget).collect()),
        PartialShape::Unranked => PartialShape::Unranked,
    };
    Ok(Inference { shape, accepts: None, ..inference })
}

#[test]
fn wider_answers_are_counted_and_fail_only_where_exactness_is_asked() {
    let changed =
        Changed::new(
            |signature, inference| {
                if signature.is_known() { Ok(inference) } else { forgetful(signature, inference) }
            },
        );
    let report = run(&sample(), &[&Reference, &changed]);
    assert!(report.held(), "{}", findings(&report));
    let wider: u64 = report.rules.iter().map(|count| count.implementations[1].wider).sum();
    assert!(wider > 100 && !report.wider.is_empty(), "{wider}");
    let report = run(&sample().exactly(true), &[&Reference, &changed]);
    assert_eq!(report.finding_count, wider);
    assert!(report.findings.iter().all(|finding| finding.kind == FindingKind::Wider));
    // With all lengths known, there is nothing to forget.
    let report = run(&sample(), &[&Changed::new(forgetful)]);
    assert!(report.findings.iter().all(|finding| finding.signature.is_known()), "{}", findings(&report));
    assert!(!report.held());
}

/// Promises that every run is accepted.
fn promising(_: &Signature, inference: Inference) -> Result<Inference, Refusal> {
    Ok(Inference { accepts: Some(Accepts::Always), ..inference })
}

/// Refuses what is not accepted in every run.
fn strict(_: &Signature, inference: Inference) -> Result<Inference, Refusal> {
    match inference.accepts {
        Some(Accepts::Depends) => Err(Refusal::default()),
        Some(Accepts::Always) | None => Ok(inference),
    }
}

#[test]
fn an_unsound_answer_becomes_a_small_case() {
    let only_numpy = Bounds::new(2, 3, &[RuleSet::Numpy]).unwrap().every(97);
    for (change, kind) in [
        (promising as fn(&Signature, Inference) -> Result<Inference, Refusal>, "accepted"),
        (strict, "refused"),
    ] {
        let changed = Changed::new(change);
        let report = run(&only_numpy, &[&changed]);
        assert!(!report.held());
        let finding = report.findings.last().unwrap();
        assert_eq!(finding.kind, FindingKind::Runs(kind), "{finding}");
        let smallest = shrink(finding, &changed).unwrap();
        let axes: usize = smallest.signature.shapes().map(|shape| shape.rank().unwrap_or(1)).sum();
        assert!(axes <= 2, "{smallest}");
        let proposal = propose(&smallest, "a test").unwrap();
        let file = load_str(&proposal.yaml, "case.yaml").unwrap();
        assert_eq!(file.inferences.len(), 1, "{}", proposal.yaml);
        assert_eq!(file.inferences[0].request, smallest.signature);
        let exact = Reference.infer(&smallest.signature);
        let runs = Relation::default().runs(&smallest.signature);
        assert_eq!(file.inferences[0].expectation, runs.expectation);
        assert!(matches!(exact, Outcome::Success(_)), "{smallest}");
    }
}

#[test]
fn which_refusal_is_reported_is_a_convention() {
    /// The reference, with every refusal on axis 0.
    struct First(Capabilities);
    impl Implementation for First {
        fn name(&self) -> &'static str {
            "first"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn capabilities(&self) -> &Capabilities {
            &self.0
        }
        fn run(&self, request: &Request) -> Outcome {
            Reference.run(request)
        }
        fn infer(&self, signature: &Signature) -> Outcome<Inference> {
            match Reference.infer(signature) {
                Outcome::Refusal(refusal) if refusal.axis.is_some() => Outcome::Refusal(refusal.at_axis(0)),
                other => other,
            }
        }
    }
    let capabilities = |conventions| First(Capabilities { conventions, ..Reference.capabilities().clone() });
    let free = run(&sample(), &[&capabilities(Vec::new())]);
    assert!(free.held(), "{}", findings(&free));
    assert!(free.rules.iter().any(|count| count.implementations[0].conventions > 0));
    let bound = run(&sample(), &[&capabilities(Convention::ALL.to_vec())]);
    assert!(bound.findings.iter().all(|finding| finding.kind == FindingKind::Runs("refusal")));
    assert!(!bound.held());
}

#[test]
fn signatures_outside_the_capabilities_are_not_sent() {
    let lengths = Changed {
        capabilities: Capabilities { unknown: vec![Unknown::Length], ..Reference.capabilities().clone() },
        change: |signature, inference| {
            let only = signature.shapes().flat_map(Unknown::of).all(|unknown| unknown == Unknown::Length);
            if only { Ok(inference) } else { Err(Refusal::default()) }
        },
    };
    let report = run(&sample(), &[&lengths]);
    assert!(report.held(), "{}", findings(&report));
    assert!(report.rules.iter().all(|count| count.implementations[0].not_asked > 0));
    let none = Changed { capabilities: Capabilities::all(), change: |_, inference| Ok(inference) };
    let report = run(&sample(), &[&none]);
    assert!(report.asked_nothing("changed") && !report.held());
}

/// The signature of `a + b`: their shapes, the rule set, and another line of the case.
fn sum(rules: &str, [a, b]: [&str; 2], line: &str) -> Signature {
    let text = format!(
        "format: 1\nrules: {rules}\ncases:\n  - id: {rules}/x\n    title: X.\n    clause: INFER-4\n    origin: hand\n    \
         operation: infer\n    expression: [add, a, b]\n    operands:\n      - {{name: a, dtype: f32, shape: {a}}}\n      \
         - {{name: b, dtype: f32, shape: {b}}}\n    {line}\n    refusal: {{kind: any}}\n"
    );
    load_str(&text, "x.yaml").unwrap().inferences.remove(0).request
}

/// Lengths near 2^64, and more axes than can be tried one by one.
#[test]
fn large_signatures_are_judged_as_far_as_they_are_tried() {
    let signature = |left: &str, right: &str| sum("numpy", [left, right], "");
    let mut relation = Relation::default();
    let huge = signature("[{max: 18446744073709551615}, 5]", "[\"?\", {min: 1, max: 18446744073709551614}]");
    let runs = relation.runs(&huge);
    assert!(runs.complete && runs.expressible);
    let Expectation::Result(exact) = &runs.expectation else { panic!("accepted") };
    assert_eq!(exact.shape.to_string(), "(?,5)");
    let many = "[\"?\", \"?\", \"?\", \"?\", \"?\", \"?\", 3]";
    let runs = relation.runs(&signature(many, many));
    assert!(!runs.complete && runs.tried > 1000);
    let Expectation::Result(seen) = &runs.expectation else { panic!("accepted") };
    assert_eq!(seen.accepts, Some(Accepts::Depends));
    let wide = signature(many, many);
    assert_eq!(
        runs.judge(&wide, &Reference.infer(&wide)),
        broadcheck_judge::inferred::Inferred::Exact,
        "nothing follows from results that were not seen"
    );
}

/// Every A that is tried has too few axes for the largest axis, and one that has enough would be accepted.
#[test]
fn nothing_follows_from_the_ranks_that_were_tried_where_an_axis_is_beyond_them() {
    let with_axis = |a: &str, axis: &str| sum("pdpd", [a, "[]"], &format!("axis: {axis}"));
    let mut relation = Relation::default();
    for (a, axis, complete) in [
        ("\"...\"", "9223372036854775807", false),
        ("\"...\"", "9", false),
        ("\"...\"", "8", true),
        ("\"...\"", "-2", true),
        ("[\"?\"]", "9", true),
    ] {
        let signature = with_axis(a, axis);
        let runs = relation.runs(&signature);
        assert_eq!(runs.complete, complete, "{a}, {axis}");
        let judged = runs.judge(&signature, &Reference.infer(&signature));
        assert_eq!(judged, broadcheck_judge::inferred::Inferred::Exact, "{a}, {axis}");
    }
}

#[test]
fn findings_do_not_depend_on_the_number_of_threads() {
    let changed = Changed::new(promising);
    let in_threads = |count: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| run(&sample().keeping(7), &[&Reference, &changed]))
    };
    let (one, three) = (in_threads(1), in_threads(3));
    let texts = |report: &InferReport| report.findings.iter().map(Finding::to_string).collect::<Vec<_>>();
    assert_eq!((texts(&one).len(), one.finding_count), (7, three.finding_count));
    assert_eq!((texts(&one), one.rules), (texts(&three), three.rules));
}
