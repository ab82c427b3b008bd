//! Signatures that the fuzzer draws: their mix, wrong inferences that it finds and shrinks, and sessions with
//! declared shapes.

use broadcheck_fast::Fast;
use broadcheck_reference::Reference;
use broadcheck_search::fuzzing::{Campaign, Found, FuzzReport, common, drawn_signature, fuzz};
use broadcheck_search::generate::{Profile, Signatures};
use broadcheck_search::inference::Relation;
use broadcheck_search::shrink::propose_question;
use broadcheck_spec::json::Question;
use broadcheck_spec::{
    Accepts, Asked, Capabilities, Expectation, Implementation, Inference, Length, Operand, Outcome,
    PartialShape, Request, RuleSet, Signature, Unknown, load_str,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn campaign<'a>(right: &'a dyn Implementation, signatures: Signatures) -> Campaign<'a> {
    let both = common(Reference.capabilities(), right.capabilities()).unwrap();
    Campaign {
        left: &Reference,
        right,
        profile: Profile::within(&both).with_large(0).with_max_elements(64).with_signatures(signatures),
        seed: 11,
        requests: Some(400),
        time: None,
        jobs: 1,
        skips: false,
        exact: false,
        statistics: false,
        shrinking: (2_000, Duration::from_secs(30)),
        shrink_time: None,
        store: None,
        earlier: None,
        stop: &GO_ON,
    }
}

fn run(campaign: &Campaign<'_>) -> FuzzReport {
    fuzz(campaign, &mut |_| ()).unwrap()
}

fn text(report: &FuzzReport) -> String {
    let one = |found: &Found| {
        let shrunk = &found.shrunk;
        format!("{}: {}\n{:?}", shrunk.disagreement.signature, shrunk.disagreement.detail, shrunk.request)
    };
    report.findings.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// How many signatures of a rule set there are of each kind.
#[derive(Debug, Default)]
struct Mix {
    all: usize,
    always: usize,
    depends: usize,
    refused: usize,
    sampled: usize,
    unranked: usize,
    bounds: usize,
    many: usize,
}

#[test]
fn signatures_have_every_outcome_under_every_rule_set() {
    let profile = Profile::within(Reference.capabilities());
    let mut relation = Relation::trying(3_000);
    let mut mixes: BTreeMap<RuleSet, Mix> = BTreeMap::new();
    for number in 0..1_500 {
        let signature = drawn_signature(3, number, &profile).unwrap();
        assert_eq!(drawn_signature(3, number, &profile).as_ref(), Some(&signature));
        let runs = relation.runs(&signature);
        assert!(runs.expressible, "{signature:?}");
        let mix = mixes.entry(signature.rules().set()).or_default();
        mix.all += 1;
        mix.sampled += usize::from(!runs.complete);
        mix.many += usize::from(signature.operands().len() > 2);
        let unknown: Vec<Unknown> = signature.shapes().flat_map(Unknown::of).collect();
        mix.unranked += usize::from(unknown.contains(&Unknown::Rank));
        mix.bounds += usize::from(unknown.contains(&Unknown::Bound) || unknown.contains(&Unknown::Interval));
        match &runs.expectation {
            Expectation::Refusal(_) => mix.refused += 1,
            Expectation::Result(result) if result.accepts == Some(Accepts::Always) => mix.always += 1,
            Expectation::Result(_) => mix.depends += 1,
        }
    }
    println!("{mixes:#?}");
    assert_eq!(mixes.len(), RuleSet::ALL.len());
    for (rules, mix) in &mixes {
        let of_eight = |count: usize| count * 8 / mix.all;
        for share in [mix.always, mix.depends, mix.refused] {
            assert!(share * 12 > mix.all && of_eight(share) < 6, "{rules}: {mix:?}");
        }
        assert!(mix.sampled * 8 < mix.all, "{rules}: {mix:?}");
        assert!(mix.bounds * 4 > mix.all, "{rules}: {mix:?}");
        let unranked = !matches!(rules, RuleSet::Xla | RuleSet::Theano);
        assert_eq!(mix.unranked > 0, unranked, "{rules}: {mix:?}");
        let many = !matches!(rules, RuleSet::Bidirectional);
        assert_eq!(mix.many > 0, many, "{rules}: {mix:?}");
    }
}

#[test]
fn signatures_are_within_the_capabilities() {
    let all = Reference.capabilities();
    for capabilities in [
        Capabilities { unknown: vec![Unknown::Length], ..all.clone() },
        Capabilities { unknown: Vec::new(), max_rank: Some(2), ..all.clone() },
        Capabilities { unknown: vec![Unknown::Interval], max_operands: Some(1), ..all.clone() },
        Capabilities { without_infer: vec![RuleSet::Numpy, RuleSet::Xla], static_flags: true, ..all.clone() },
        Capabilities { operations: Vec::new(), rules: vec![RuleSet::Numpy], ..all.clone() },
    ] {
        let profile = Profile::within(&capabilities);
        let only = if capabilities.operations.is_empty() { Signatures::Only } else { Signatures::Some };
        assert_eq!(profile.signatures(), only);
        for number in 0..200 {
            let signature = drawn_signature(1, number, &profile).unwrap();
            assert_eq!(capabilities.covers_signature(&signature), Ok(()));
        }
    }
    let none = Profile::within(&Capabilities { infer: false, ..all.clone() });
    assert_eq!((none.signatures(), drawn_signature(1, 1, &none)), (Signatures::Never, None));
}

/// A side that only infers, and so declares no operation, can be compared with another.
#[test]
fn an_implementation_that_only_infers_is_asked_nothing_else() {
    let all = Reference.capabilities();
    let only = Capabilities { operations: Vec::new(), ..all.clone() };
    let both = common(all, &only).unwrap();
    assert_eq!(Profile::within(&both).signatures(), Signatures::Only);
    let neither = Capabilities { infer: false, ..only };
    assert!(common(all, &neither).unwrap_err().contains("no operation in common"));
}

#[test]
fn the_reference_and_fast_infer_the_same() {
    let fast = Fast::new();
    let report = run(&Campaign { requests: Some(2_000), ..campaign(&fast, Signatures::Only) });
    assert!(report.findings.is_empty(), "{}", text(&report));
    let inferred = report.counts.inferred;
    assert_eq!((report.counts.requests, inferred.signatures, inferred.wider), (0, 2_000, 0));
    assert_eq!(inferred.always + inferred.depends + inferred.refused, 2_000);
    assert!(report.summary().starts_with("2000 signatures in "), "{}", report.summary());
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn the_reference_and_fast_infer_the_same_of_many_signatures() {
    let fast = Fast::new();
    let report = run(&Campaign { requests: Some(200_000), jobs: 2, ..campaign(&fast, Signatures::Only) });
    println!("{}", report.summary());
    assert!(report.findings.is_empty(), "{}", text(&report));
}

#[test]
fn signatures_and_sessions_are_mixed_in() {
    let fast = Fast::new();
    let report = run(&campaign(&fast, Signatures::Some));
    assert!(report.findings.is_empty(), "{}", text(&report));
    assert_eq!((report.counts.requests, report.counts.inferred.signatures), (400, 50));
    assert!(report.counts.declared > 20, "{:?}", report.counts);
    let without = run(&campaign(&fast, Signatures::Never)).counts;
    assert_eq!((without.inferred.signatures, without.accepted), (0, report.counts.accepted));
}

/// The reference, with what it infers changed.
struct Changed(fn(&Signature, Inference) -> Inference);

impl Implementation for Changed {
    fn name(&self) -> &'static str {
        "changed"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        Reference.run(request)
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        match Reference.infer(signature) {
            Outcome::Success(inference) => Outcome::Success((self.0)(signature, inference)),
            other => other,
        }
    }
}

/// Wrong for three operands alone: with an unknown length among them, the last axis is what it is in the
/// first.
fn first_of_three(signature: &Signature, inference: Inference) -> Inference {
    let mut shape = inference.shape.clone();
    if let (Asked::Expression(_), [first, _, _], PartialShape::Ranked(lengths)) =
        (signature.asked(), signature.operands(), &mut shape)
        && let (Some(last), Some(wrong)) =
            (lengths.last_mut(), first.shape().lengths().and_then(<[Length]>::last))
        && !signature.is_known()
    {
        *last = *wrong;
    }
    Inference { shape, ..inference }
}

#[test]
fn a_wrong_inference_becomes_a_small_case_that_shows_it() {
    let changed = Changed(first_of_three);
    let campaign = Campaign { requests: Some(1200), ..campaign(&changed, Signatures::Only) };
    let report = run(&campaign);
    let unsound: Vec<&Found> = report
        .findings
        .iter()
        .filter(|found| found.shrunk.disagreement.signature.kind.to_string() == "unsound shape")
        .collect();
    assert!(!unsound.is_empty(), "{}", text(&report));
    let group = report.groups().into_iter().find(|group| group.cause.starts_with("unsound shape")).unwrap();
    assert!(group.hits() > 3, "{}", group.cause);
    for found in unsound {
        let shrunk = &found.shrunk;
        assert!(shrunk.reproduced() && shrunk.minimal, "{}", text(&report));
        let Question::Infer(signature) = &shrunk.request else { panic!("a signature") };
        assert_eq!(signature.operands().len(), 3);
        let axes: usize = signature.shapes().map(|shape| shape.rank().unwrap_or(1)).sum();
        assert!(axes <= 3, "{signature:?}");
        let bounds = signature.shapes().flat_map(Unknown::of).filter(|&unknown| unknown != Unknown::Length);
        assert_eq!(bounds.count(), 0, "{signature:?}");
        let sides = campaign.sides(shrunk, found.number);
        let proposal = propose_question(shrunk, &sides).unwrap();
        let file = load_str(&proposal.yaml, "case.yaml").unwrap();
        let [case] = &file.inferences[..] else { panic!("{}", proposal.yaml) };
        assert_eq!(case.request, *signature);
        let judged = broadcheck::run::run_inferences(&changed, &[case], None, false);
        assert!(judged[0].status.is_failure(), "{}", proposal.yaml);
        let judged = broadcheck::run::run_inferences(&Reference, &[case], None, true);
        assert!(!judged[0].status.is_failure(), "{}", proposal.yaml);
    }
}

/// Forgets what is known of a length with bounds.
fn forgetful(signature: &Signature, inference: Inference) -> Inference {
    let forget = |length: &Length| if length.number().is_some() { *length } else { Length::UNKNOWN };
    match &inference.shape {
        PartialShape::Ranked(lengths) if !signature.is_known() => {
            let shape = PartialShape::Ranked(lengths.iter().map(forget).collect());
            Inference { shape, ..inference }
        }
        PartialShape::Ranked(_) | PartialShape::Unranked => inference,
    }
}

#[test]
fn wider_answers_are_disagreements_only_where_exactness_is_asked() {
    let forgetful = Changed(forgetful);
    let sound = campaign(&forgetful, Signatures::Only);
    let report = run(&sound);
    assert!(report.findings.is_empty() && report.counts.inferred.wider > 20, "{}", text(&report));
    let report = run(&Campaign { exact: true, ..sound });
    assert!(report.counts.inferred.disagreeing > 20 && report.counts.inferred.wider == 0);
    let wider = |found: &Found| found.shrunk.disagreement.signature.kind.to_string() == "wider than exact";
    assert!(report.findings.iter().all(wider), "{}", text(&report));
}

/// Keeps the outcome of the first request with declared shapes, and returns it for all with the same ones.
#[derive(Default)]
struct Stale(Mutex<HashMap<String, Outcome>>);

impl Implementation for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        static DECLARED: std::sync::LazyLock<Capabilities> = std::sync::LazyLock::new(|| Capabilities {
            declared: true,
            infer: false,
            ..Reference.capabilities().clone()
        });
        &DECLARED
    }
    fn run(&self, request: &Request) -> Outcome {
        if request.declared().next().is_none() {
            return Reference.run(request);
        }
        let operands: Vec<String> = request
            .operands()
            .iter()
            .map(|operand: &Operand| {
                format!("{} {:?} {:?}", operand.dtype(), operand.declared(), operand.broadcastable())
            })
            .collect();
        let operation = request.operation().expression();
        let key = format!("{:?} {operation:?} {:?} {operands:?}", request.rules(), request.declared_target());
        let mut kept = self.0.lock().unwrap();
        kept.entry(key).or_insert_with(|| Reference.run(request)).clone()
    }
}

#[test]
fn a_stale_answer_to_declared_shapes_is_found_by_a_session() {
    let stale = Stale::default();
    let campaign = Campaign { requests: Some(1_000), ..campaign(&stale, Signatures::Some) };
    let report = run(&campaign);
    assert!(report.counts.declared > 60 && report.counts.disagreeing == 0, "{:?}", report.counts);
    assert!(!report.findings.is_empty());
    let mut accepted = 0;
    for found in &report.findings {
        let class = &found.shrunk.disagreement.signature;
        assert_eq!(class.oracle, "declared-stale");
        let Question::Run(request) = &found.shrunk.request else { panic!("a request") };
        assert!(request.declared().next().is_some(), "{}", text(&report));
        assert!(found.shrunk.disagreement.detail.contains("with the declared shapes "));
        accepted += usize::from(class.kind.to_string().starts_with("right accepts "));
        let sides = campaign.sides(&found.shrunk, found.number);
        let Ok(proposal) = propose_question(&found.shrunk, &sides) else { continue };
        assert!(proposal.yaml.contains("declared"), "{}", proposal.yaml);
        let file = load_str(&proposal.yaml, "case.yaml").unwrap();
        assert!(file.cases.iter().all(|case| case.request == *request), "{}", proposal.yaml);
    }
    assert!(accepted > 0, "a request that does not fit is answered with the one before: {}", text(&report));
}
