//! What is inferred of shapes with unknown lengths, and in words what each run must fulfil.

use crate::{assert_drawn, xla};
use broadcheck_judge::explain::InferenceExplanation;
use broadcheck_spec::{Accepts, PartialShape, RuleSet, Rules, Shape};

fn partial(texts: &[&str]) -> Vec<PartialShape> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn inferred(rules: Rules, texts: &[&str]) -> InferenceExplanation {
    let shapes = partial(texts);
    let flags = vec![None; shapes.len()];
    InferenceExplanation::elementwise(rules, shapes, flags).unwrap()
}

fn inferred_drawing(rules: Rules, texts: &[&str]) -> String {
    inferred(rules, texts).draw(100).to_string()
}

#[test]
fn unknown_lengths_are_drawn_with_what_each_run_must_fulfil() {
    assert_drawn(
        &inferred_drawing(Rules::Numpy, &["?x3", "2x1..3"]),
        "
numpy: (?,3) + (2,1..3) => (2,3)

  axis       0      1
  A          ?~     3
  B          2   1..3~
  result     2      3

  ~ stretched if it is 1
  inferred: the result is (2,3); some runs are accepted and others refused (depends)
  axis 0: the length of A must be 1 or 2
  axis 1: the length of B must be 1 or 3
  accepted, for example: (2,3) + (2,3) => (2,3)
  refused, for example: (0,3) + (2,3): dimension_mismatch at axis 0
  INFER-4: numpy, bidirectional, xla: a length that turns out to be 1 is stretched
",
    );
}

#[test]
fn every_kind_of_inference_is_explained() {
    let theano = |texts: &[&str], flags: &[&[bool]]| {
        let flags = flags.iter().map(|flags| Some(flags.to_vec())).collect();
        InferenceExplanation::elementwise(Rules::Theano, partial(texts), flags).unwrap()
    };
    let onto = |set, operand: &str, target: &str| {
        InferenceExplanation::broadcast(set, operand.parse().unwrap(), target.parse().unwrap()).unwrap()
    };
    let pdpd = |axis, texts: &[&str]| inferred(Rules::Pdpd { axis: Some(axis) }, texts);
    let all = [
        (
            inferred(Rules::None, &["...", "2x?"]),
            "inferred: the result is (2,?); some runs are accepted and others refused (depends)\n  the rank of A must be 2\n  \
             accepted, for example: (2,2) + (2,2) => (2,2)\n  refused, for example: () + (2,2): rank_mismatch\n  INFER-5",
        ),
        (inferred(Rules::None, &["1..3", "2..5"]), "axis 0: the lengths of A and B must be equal\n"),
        (inferred(Rules::None, &["?", "()"]), "  B     -!\n"),
        (
            inferred(Rules::Numpy, &["?", "1"]),
            "the result is (?); every run is accepted (always)\n  accepted, for example: (2) + (1) => (2)\n  INFER-4",
        ),
        (inferred(Rules::Numpy, &["?x2", "?x3"]), "  A     ?   2!\n  B     ?   3!\n"),
        (
            inferred(Rules::Numpy, &["?x2", "?x3"]),
            "refused before the run: dimension_mismatch at axis 1: lengths 2 and 3: no run would be accepted\n  refused, for \
             example: (2,2) + (2,3): dimension_mismatch at axis 1\n",
        ),
        (
            inferred(Rules::Numpy, &["..2", "..3", "?"]),
            "axis 0: the lengths of A, B and C must be equal, except where one is 1\n",
        ),
        (
            inferred(Rules::Numpy, &["...", "2x3"]),
            "  axis    -2   -1\n  A       (...)  any rank\n  B        2    3\n  result  (...)  any rank\n",
        ),
        (
            inferred(Rules::Numpy, &["...", "2x3"]),
            "the rank of A is unknown: its shape must fit the others\n  accepted, for example: (2,3) + (2,3) => (2,3)\n  \
             refused, for example: (4) + (2,3): dimension_mismatch at axis 1\n  INFER-10",
        ),
        (
            inferred(Rules::Numpy, &["...", "..."]),
            "the ranks of A and B are unknown: their shapes must fit the others",
        ),
        (inferred(Rules::Numpy, &["...", "2", "3"]), "  B      2!\n  C      3!\n"),
        (pdpd(0, &["?x3", "2"]), "axis 0: the length of A must be 2\n"),
        (pdpd(0, &["?x3", "?"]), "axis 0: the length of B must be 1 or equal that of A\n"),
        (
            pdpd(1, &["2x3", "?x?"]),
            "axis 1: the length of B must be 1 or 3\n  axis 2: the length of B must be 1\n  accepted, for example: (2,3) + \
             (3,1) => (2,3)\n",
        ),
        (pdpd(1, &["2x3", "?x2"]), "  A     2   3   .\n  B     .   ?   2!\n"),
        (pdpd(1, &["...", "3x?"]), "accepted, for example: (1,3,2) + (3,2) => (1,3,2)\n"),
        (pdpd(1, &["2x3", "..."]), "accepted, for example: (2,3) + () => (2,3)\n"),
        (
            onto(RuleSet::Bidirectional, "2x?", "?x1"),
            "bidirectional: (2,?) to (?,1) => (2,?)\n\n  axis     0   1\n  operand  2   ?~\n  target   ?~  1*\n  result   2   ?\n",
        ),
        (onto(RuleSet::Numpy, "2", "?"), "axis 0: the length of target must be 2\n"),
        (
            onto(RuleSet::Numpy, "?", "?"),
            "axis 0: the length of operand must be 1 or equal that of the target\n",
        ),
        (onto(RuleSet::Numpy, "4..8", "1"), "  operand  4..8!\n  target      1!\n"),
        (onto(RuleSet::Numpy, "2x?", "..."), "refused, for example: (2,2) to (): rank_mismatch\n  INFER-7"),
        (inferred(xla(&[0]), &["2", "?x3"]), "axis 0: the length of rhs must be 1 or 2\n"),
        (
            inferred(Rules::Xla { broadcast_dimensions: None }, &["?", "2x3"]),
            "  lhs   (?)  ! which axes? no broadcast_dimensions are given\n",
        ),
        (inferred(Rules::Xla { broadcast_dimensions: None }, &["?"]), "every run is accepted (always)"),
        (
            theano(&["?x?", "?x10"], &[&[false, true], &[true, false]]),
            "  A        ?F    ?T~\n  B        ?T~  10F\n  result   ?F   10F\n",
        ),
        (
            theano(&["?x?", "?x10"], &[&[false, true], &[true, false]]),
            "  axis 0: the length of B, flagged True, must be 1\n  axis 1: the length of A must be 1\n",
        ),
        (theano(&["?", "10"], &[&[false], &[false]]), "axis 0: the length of A must be 10\n"),
        (
            theano(&["?", "?"], &[&[false], &[false]]),
            "axis 0: the lengths of A and B, flagged False, must be equal\n",
        ),
        (theano(&["2..5", "3"], &[&[true], &[false]]), "  A     2..5T!\n"),
    ];
    for (explanation, expected) in all {
        let text = explanation.draw(100).to_string();
        assert!(text.contains(expected), "found:\n{text}\nexpected:\n{expected}");
    }
}

/// XLA-12: as under `numpy`, the target is never stretched to the operand.
#[test]
fn a_target_on_named_axes_is_not_said_to_be_stretched() {
    let [operand, target] = ["2x?", "?x?"].map(|text| partial(&[text]).remove(0));
    let text = InferenceExplanation::broadcast(xla(&[1, 0]), operand, target).unwrap().draw(100).to_string();
    let expected = "  axis 0: the length of operand must be 1 or equal that of the target\n  axis 1: the length of \
                    target must be 2\n";
    assert!(text.contains(expected), "{text}");
}

/// REPEAT-3 and REPEAT-4, before the run.
#[test]
fn conditions_under_repeat_are_about_multiples() {
    let onto = |operand: &str, target: &str| {
        let [operand, target] = [operand, target].map(|text| partial(&[text]).remove(0));
        InferenceExplanation::broadcast(RuleSet::Repeat, operand, target).unwrap()
    };
    let of = |a: &str, b: &str| inferred(Rules::Repeat, &[a, b]);
    for (explanation, expected) in [
        (of("4..10", "3"), "  axis 0: the length of A must be a multiple of 3\n"),
        (of("?", "2"), "  axis 0: the length of A must be a multiple of 2\n"),
        (of("12", "?"), "  axis 0: the length of B must divide 12\n"),
        (of("1", "?"), "  axis 0: the length of B must be 1\n"),
        (of("1..9", "4..5"), "  axis 0: the length of A must be a multiple of the length of B\n"),
        (of("?x5", "?x2"), "each length of A must be a multiple of that of B, or both have no elements\n"),
        (onto("2", "?"), "  axis 0: the length of target must be a multiple of 2\n"),
        (onto("?", "12"), "  axis 0: the length of operand must divide 12\n"),
        (onto("?x3", "3"), "  in front of target: the length of operand must be 1\n"),
        (
            onto("?x2", "?x5"),
            "  each length of target must be a multiple of that of operand, or both have no elements\n",
        ),
        (onto("1x?", "0x5"), "  operand  1*  ?~\n  target   0   5\n  result   0   5\n"),
        (of("4", "?x3"), "  axis      0\n  A         4!\n  B     ?   3!\n"),
    ] {
        let text = explanation.draw(100).to_string();
        assert!(text.contains(expected), "found:\n{text}\nexpected:\n{expected}");
    }
}

/// REPEAT-2: the axes of the result are A's, and those of B in front of them have no number.
#[test]
fn axes_in_front_of_a_have_no_number() {
    assert_drawn(
        &inferred_drawing(Rules::Repeat, &["3", "?x?"]),
        "
repeat: (3) + (?,?) => (3)

  axis        0
  A           3
  B       ?   ?~
  result      3

  ~ stretched if it is 1
  inferred: the result is (3); some runs are accepted and others refused (depends)
  in front of A: the length of B must be 1
  axis 0: the length of B must divide 3
  accepted, for example: (3) + (1,3) => (3)
  refused, for example: (3) + (0,3): rank_mismatch
  INFER-14: repeat: the result lies within A's shape, rounded to multiples of B's lengths
",
    );
}

/// Each rule set with small partial shapes: the examples are what they are called, and there are both where
/// the answer is `depends`.
#[test]
fn examples_of_runs_are_found_for_every_inference() {
    let lengths = ["0", "1", "3", "?", "..2", "..1", "1..2", "2..", "2..3", "4.."];
    let vectors: Vec<PartialShape> = lengths.iter().map(|length| length.parse().unwrap()).collect();
    let mut shapes = partial(&["()", "...", "1x?", "?x3", "?x2.."]);
    shapes.extend(vectors);
    let ranked = |shape: &&PartialShape| shape.rank().is_some();
    for a in &shapes {
        for b in &shapes {
            for set in RuleSet::ALL {
                let has_rank = ranked(&a) && ranked(&b);
                let needs_rank = matches!(set, RuleSet::Xla | RuleSet::Theano);
                if needs_rank && !has_rank {
                    continue;
                }
                if set.has(broadcheck_spec::OperationKind::Broadcast) {
                    check_examples(&InferenceExplanation::broadcast(set, a.clone(), b.clone()).unwrap());
                }
                if !set.has(broadcheck_spec::OperationKind::Elementwise) {
                    continue;
                }
                let attributes: Vec<Rules> = match Rules::from(set) {
                    Rules::Pdpd { .. } => [None, Some(0), Some(1)].map(|axis| Rules::Pdpd { axis }).into(),
                    Rules::Xla { .. } => [None, Some(vec![0]), Some(vec![1])]
                        .map(|broadcast_dimensions| Rules::Xla { broadcast_dimensions })
                        .into(),
                    bare => vec![bare],
                };
                for rules in attributes {
                    let flags = |flag: bool, shape: &PartialShape| {
                        shape.rank().filter(|_| set == RuleSet::Theano).map(|rank| vec![flag; rank])
                    };
                    for flag in [false, true] {
                        let flags = vec![flags(flag, a), flags(false, b)];
                        let shapes = vec![a.clone(), b.clone()];
                        check_examples(
                            &InferenceExplanation::elementwise(rules.clone(), shapes, flags).unwrap(),
                        );
                    }
                }
            }
        }
    }
}

fn check_examples(explanation: &InferenceExplanation) {
    let text = explanation.draw(100).to_string();
    let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
    let (accepted, refused) = (lines("  accepted, for example: "), lines("  refused, for example: "));
    assert!(accepted.iter().all(|line| line.contains(" => ")), "{text}");
    assert!(refused.iter().all(|line| !line.contains(" => ") && line.contains(": ")), "{text}");
    let expected = match &explanation.decision {
        _ if explanation.signature().is_known() => (0, 0),
        Ok(inference) => (1, usize::from(inference.accepts == Some(Accepts::Depends))),
        Err(_) => (0, 1),
    };
    assert_eq!((accepted.len(), refused.len()), expected, "{text}");
    let Ok(inference) = &explanation.decision else { return };
    let depends = inference.accepts == Some(Accepts::Depends);
    assert_eq!(text.contains(" must "), depends, "a condition is named where there is one: {text}");
    if let Some(run) = accepted.first() {
        let result = run.rsplit_once(" => ").unwrap().1.parse::<Shape>().unwrap();
        assert!(inference.shape.admits(&result), "{text}");
    }
}

#[test]
fn partial_shapes_without_ranks_are_malformed_where_ranks_are_known() {
    let message = |rules: Rules| {
        let flags = vec![None; 2];
        InferenceExplanation::elementwise(rules, partial(&["...", "2"]), flags).unwrap_err().to_string()
    };
    for rules in [Rules::Theano, Rules::Xla { broadcast_dimensions: None }] {
        assert!(message(rules).contains("an unknown rank under the rule set"));
    }
    assert!(message(Rules::Bidirectional).contains("not for elementwise"));
}

#[test]
fn many_lengths_are_explained_quickly() {
    let shapes = partial(&["?"; 20_000]);
    let flags = vec![None; shapes.len()];
    let text = InferenceExplanation::elementwise(Rules::Numpy, shapes, flags).unwrap().draw(100).to_string();
    assert!(text.contains("  axis 0: the lengths of A, B, C, D, E, F, G, H and 19992 more must be equal"));
    let wide = partial(&[&vec!["?"; 10_000].join("x"), &vec!["2"; 10_000].join("x")]);
    let text =
        InferenceExplanation::elementwise(Rules::None, wide, vec![None; 2]).unwrap().draw(100).to_string();
    assert!(text.contains("9992 more axes may be refused"), "{}", &text[text.len() - 2000..]);
}
