use super::*;
use crate::generate::{Profile, Seeded, request};
use broadcheck_fast::Fast;
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Outcome, Refusal, RefusalKind, Rules};

/// Judges every form of many requests, and returns how many of each form were accepted and refused.
fn counted(implementation: &dyn Implementation, requests: usize) -> Vec<[usize; 2]> {
    let profile = Profile::within(implementation.capabilities()).with_max_elements(64).with_large(0);
    let mut choices = Seeded::new(7);
    let mut counts = vec![[0; 2]; FORMS.len()];
    for _ in 0..requests {
        let request = request(&mut choices, &profile);
        for (form, count) in FORMS.iter().zip(&mut counts) {
            match Rewritten::new(implementation, form).judge(&request) {
                Judgement::Agreed(Answer::Accepted) => count[0] += 1,
                Judgement::Agreed(Answer::Refused) => count[1] += 1,
                Judgement::Vacuous(_) => {}
                other @ (Judgement::Convention(_) | Judgement::Disagreement(_)) => {
                    panic!("{}: {other:?}", form.name)
                }
            }
        }
    }
    counts
}

#[test]
fn every_form_holds_for_the_reference() {
    for (form, [accepted, refused]) in FORMS.iter().zip(counted(&Reference, 3_000)) {
        // No select of bools is drawn.
        let is_drawn = form.name != "select-by-logic";
        let enough = accepted >= 10 && refused >= 2;
        assert_eq!(enough, is_drawn, "{}: {accepted} accepted, {refused} refused", form.name);
    }
}

#[test]
fn every_form_holds_for_the_fast_engine() {
    for (form, [accepted, refused]) in FORMS.iter().zip(counted(&Fast::new(), 3_000)) {
        // No select of bools is drawn.
        let is_drawn = form.name != "select-by-logic";
        let enough = accepted >= 10 && refused >= 2;
        assert_eq!(enough, is_drawn, "{}: {accepted} accepted, {refused} refused", form.name);
    }
}

#[test]
fn names_are_unique_and_plain() {
    let mut names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORMS.len());
    for form in FORMS {
        assert!(form.name.chars().all(|char| char.is_ascii_lowercase() || char == '-'), "{}", form.name);
        let named = form_named(&format!("rewritten-{}-reference", form.name), "reference");
        assert!(named.is_some_and(|found| found.name == form.name));
    }
    assert!(form_named("rewritten-minus-zero-fast", "reference").is_none());
    assert!(form_named("reference-fast", "fast").is_none());
}

fn elementwise(rules: Rules, expression: Expression, shapes: [&[usize]; 2]) -> Request {
    let operand =
        |name, shape: &[usize]| Operand::dense(name, shape, vec![-0.0; shape.iter().product()]).unwrap();
    let operands = vec![operand("a", shapes[0]), operand("k", shapes[1])];
    Request::new(rules, Operation::Elementwise { expression }, operands).unwrap()
}

fn both(function: Function) -> Expression {
    Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap()
}

fn named(name: &str) -> &'static Form {
    FORMS.iter().find(|form| form.name == name).unwrap()
}

/// The expressions of a request in a form, and the shapes of the operands.
fn forms(name: &str, request: &Request) -> Vec<(String, Vec<Shape>)> {
    let of = |request: &Request| {
        let shapes = request.operands().iter().map(|operand| operand.shape().clone()).collect();
        (request.operation().expression().unwrap().display(&request.names()), shapes)
    };
    variants(named(name), request, &Reference).iter().map(of).collect()
}

#[test]
fn each_part_is_rewritten_by_itself() {
    let sum = elementwise(Rules::Numpy, both(Function::Add), [&[2, 3], &[3]]);
    let shapes = || vec![Shape::from([2, 3]), Shape::from([3]), Shape::from([])];
    let expected =
        ["[add, [subtract, a, k0], k]", "[add, a, [subtract, k, k0]]", "[subtract, [add, a, k], k0]"];
    assert_eq!(forms("minus-zero", &sum), expected.map(|text| (text.to_owned(), shapes())));
    let shapes = vec![Shape::from([2, 3]), Shape::from([3])];
    assert_eq!(forms("exchanged", &sum), [("[add, k, a]".to_owned(), shapes)]);
    assert_eq!(forms("turned-round", &sum), []);
}

#[test]
fn a_select_of_bools_is_rewritten_as_logic() {
    let all = [[false, false], [false, true], [true, false], [true, true]];
    let column = |place: usize| all.iter().map(|row| row[place]).collect::<Vec<bool>>();
    let operand = |name, shape: [usize; 2], values| Operand::dense(name, shape, values).unwrap();
    let operands = vec![
        operand("c", [2, 1], vec![false, true]),
        operand("a", [1, 4], column(0)),
        operand("b", [1, 4], column(1)),
    ];
    let arguments = (0..3).map(Expression::operand);
    let expression = Expression::call(Function::Select, arguments).unwrap();
    let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
    let [(text, _)] = &forms("select-by-logic", &request)[..] else { panic!("one part") };
    assert_eq!(text, "[logical_or, [logical_and, c, a], [logical_and, [logical_not, c], b]]");
    let judged = Rewritten::new(&Reference, named("select-by-logic")).judge(&request);
    assert_eq!(judged, Judgement::Agreed(Answer::Accepted));
}

#[test]
fn the_added_operand_suits_the_rule_set() {
    let of = |rules| elementwise(rules, both(Function::Add), [&[2, 3], &[2, 3]]);
    let (_, shapes) = &forms("times-one", &of(Rules::None))[0];
    assert_eq!(shapes[2], Shape::from([2, 3]));
    assert_eq!(forms("times-one", &of(Rules::Pdpd { axis: None })), []);
    assert_eq!(forms("times-one", &of(Rules::Xla { broadcast_dimensions: None })), []);
    assert_eq!(forms("double-negation", &of(Rules::Pdpd { axis: None })).len(), 3);
}

/// An implementation that answers some requests otherwise than the reference.
struct Other(fn(&Request) -> Option<Outcome>);

impl Implementation for Other {
    fn name(&self) -> &'static str {
        "other"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        (self.0)(request).unwrap_or_else(|| Reference.run(request))
    }
}

#[test]
fn a_lost_sign_and_a_new_refusal_are_found() {
    let sum = elementwise(Rules::Numpy, both(Function::Add), [&[2], &[2]]);
    // x - 0 is computed as x + 0.
    let signless = Other(|request| {
        let has_difference =
            request.operation().expression()?.calls().any(|call| call.function() == Function::Subtract);
        let plus = broadcheck_spec::Tensor::new([2], vec![0.0, 0.0]).unwrap();
        has_difference.then(|| Outcome::Success(plus.into()))
    });
    let found = Rewritten::new(&signless, named("minus-zero")).judge(&sum).disagreement().unwrap();
    assert_eq!(found.signature.slug(), "numpy/rewritten-minus-zero-other/values/plain-add-f64");
    assert!(
        found.detail.starts_with("with a - 0 in place of a, as [add, [subtract, a, k0], k]: "),
        "{}",
        found.detail
    );
    assert_eq!(found.rewritten.unwrap().operands().len(), 3);
    let picky = Other(|request| {
        let kind = Some(RefusalKind::OperandCount);
        (request.operands().len() > 2).then(|| Outcome::Refusal(Refusal { kind, ..Refusal::default() }))
    });
    assert!(Rewritten::new(&picky, named("times-one")).judge(&sum).disagreement().is_some());
    assert!(Rewritten::new(&picky, named("exchanged")).judge(&sum).disagreement().is_none());
}

#[test]
fn a_request_that_is_not_answered_as_it_is_says_nothing_about_its_form() {
    let sum = elementwise(Rules::Numpy, both(Function::Add), [&[2], &[2]]);
    fn crash() -> Option<Outcome> {
        Some(Outcome::errored(broadcheck_spec::ErrorKind::Panicked, "panicked"))
    }
    let judged = |answer| Rewritten::new(&Other(answer), named("times-one")).judge(&sum);
    assert!(matches!(judged(|_| crash()), Judgement::Vacuous(_)));
    let judged_twice = judged(|request| if request.operands().len() > 2 { crash() } else { None });
    assert!(judged_twice.is_breakage());
    let skips = |request: &Request| {
        (request.operands().len() > 2).then(|| Outcome::Skipped { reason: "three operands".into() })
    };
    assert!(matches!(judged(skips), Judgement::Vacuous(_)));
}

#[test]
fn two_answers_that_are_wrong_in_the_same_way_agree() {
    let operand =
        |name, shape: &[usize]| Operand::dense(name, shape, vec![1.0; shape.iter().product()]).unwrap();
    let operation = Operation::Into { expression: Expression::operand(0), destination: 1 };
    let operands = vec![operand("a", &[0]), operand("b", &[])];
    let request = Request::new(Rules::Numpy, operation, operands).unwrap();
    // As numexpr answers: the result has not the shape of the destination.
    let other = Other(|_| {
        let empty = broadcheck_spec::Tensor::new([0], Vec::<f64>::new()).unwrap();
        let buffer = Some(vec![1.0].into());
        Some(Outcome::Success(broadcheck_spec::Success { buffer, ..empty.into() }))
    });
    let judged = Rewritten::new(&other, named("times-one")).judge(&request);
    assert_eq!(judged, Judgement::Agreed(Answer::Accepted));
}

#[test]
fn a_turn_always_chooses_the_same_form() {
    let sum = elementwise(Rules::Numpy, both(Function::Add), [&[2], &[2]]);
    let chosen_at = |turn| chosen(turn, &sum, &Reference).unwrap();
    let names: Vec<&str> = (0..FORMS.len() as u64).map(|turn| chosen_at(turn).form.name).collect();
    assert_eq!(names[..3], ["double-negation", "exchanged", "exchanged"]);
    for turn in 0..200 {
        let (one, other) = (chosen_at(turn), chosen_at(turn));
        assert_eq!((one.form.name, &one.request), (other.form.name, &other.request));
    }
    assert_ne!(chosen_at(0).request, chosen_at(FORMS.len() as u64).request, "another part");
}
