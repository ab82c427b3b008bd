//! The drawings of `explain`, in full. Each was checked by hand against its document.

mod inference;

use broadcheck_judge::explain::{Explanation, ShapeQuery};
use broadcheck_spec::{RuleSet, Rules, Shape, load_str};

fn shapes(texts: &[&str]) -> Vec<Shape> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn drawn(query: ShapeQuery) -> String {
    Explanation::new(query).draw(100).to_string()
}

fn elementwise(rules: Rules, texts: &[&str]) -> String {
    let shapes = shapes(texts);
    let flags = vec![None; shapes.len()];
    drawn(ShapeQuery::elementwise(rules, shapes, flags).unwrap())
}

fn xla(dimensions: &[i64]) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) }
}

#[track_caller]
fn assert_drawn(found: &str, expected: &str) {
    // The expected texts begin on the line after the quote, so that their columns look as printed.
    let expected = expected.strip_prefix('\n').unwrap_or(expected);
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn numpy_stretches_on_both_sides() {
    assert_drawn(
        &elementwise(Rules::Numpy, &["2x1x5", "4x1"]),
        "
numpy: (2,1,5) + (4,1) => (2,4,5)

  axis    0   1   2
  A       2   1*  5
  B       .   4   1*
  result  2   4   5

  * a stretched 1   . no axis: repeated along it
  accepted: the result is (2,4,5)
  NUMPY-3: The common lengths are the result
",
    );
}

#[test]
fn numpy_marks_only_the_incompatible_lengths() {
    assert_drawn(
        &elementwise(Rules::Numpy, &["3x1x5", "4x4x5", "5"]),
        "
numpy: (3,1,5) + (4,4,5) + (5) => refused

  axis  0   1   2
  A     3!  1   5
  B     4!  4   5
  C     .   .   5

  . no axis   ! incompatible
  refused: dimension_mismatch at axis 0: lengths 3, 4 and 1: those other than 1 differ
  NUMPY-2: On each axis all lengths other than 1 are equal
",
    );
}

#[test]
fn scalars_have_no_axes() {
    assert_drawn(
        &elementwise(Rules::Numpy, &["()", "()"]),
        "
numpy: () + () => ()

  A       ()
  B       ()
  result  ()

  accepted: the result is ()
  NUMPY-4: Rank 0 with rank 0 is rank 0
",
    );
}

#[test]
fn none_marks_the_missing_axis() {
    assert_drawn(
        &elementwise(Rules::None, &["2x3", "3"]),
        "
none: (2,3) + (3) => refused

  axis  0   1
  A     2   3
  B     -!  3

  ! incompatible
  refused: rank_mismatch: ranks 2 and 1: `none` requires equal ranks, even with a scalar
  NONE-1: The ranks are equal
",
    );
}

fn into(destination: &str, texts: &[&str]) -> String {
    drawn(ShapeQuery::into_destination(shapes(texts), destination.parse().unwrap()).unwrap())
}

#[test]
fn a_destination_may_be_larger_than_what_the_operands_have_in_common() {
    assert_drawn(
        &into("2x3", &["3", "1"]),
        "
numpy: (3) + (1) into (2,3) => (2,3)

  axis    0   1
  A       .   3
  B       .   1*
  into    2   3   the result is written here
  result  2   3

  * a stretched 1   . no axis: repeated along it
  accepted: the result is (2,3)
  INTO-1: The destination takes part in the common shape, and has it
",
    );
}

#[test]
fn a_destination_is_not_stretched() {
    assert_drawn(
        &into("5x1", &["5x2", "5x1"]),
        "
numpy: (5,2) + (5,1) into (5,1) => refused

  axis  0   1
  A     5   2!
  B     5   1
  into  5   1!  the result is written here

  ! incompatible
  refused: dimension_mismatch at axis 1: a destination of length 1 for 2 of the result
  INTO-1: The destination takes part in the common shape, and has it
",
    );
    assert_drawn(
        &into("3", &["2x3"]),
        "
numpy: (2,3) into (3) => refused

  axis  0   1
  A     2   3
  into  -!  3   the result is written here

  ! incompatible
  refused: rank_mismatch: a destination of rank 1 for a result of rank 2
  INTO-1: The destination takes part in the common shape, and has it
",
    );
}

#[test]
fn a_destination_that_has_no_common_shape_with_the_operands_is_refused_by_their_clause() {
    let drawing = into("3", &["2"]);
    assert!(drawing.contains("refused: dimension_mismatch at axis 0: lengths 2 and 3"), "{drawing}");
    assert!(drawing.ends_with("NUMPY-2: On each axis all lengths other than 1 are equal\n"), "{drawing}");
}

#[test]
fn pdpd_places_b_at_its_axis_and_drops_its_trailing_ones() {
    assert_drawn(
        &elementwise(Rules::Pdpd { axis: Some(1) }, &["2x3x4x5", "3x1"]),
        "
pdpd, axis 1: (2,3,4,5) + (3,1) => (2,3,4,5)

  axis    0   1   2   3
  A       2   3   4   5
  B       .   3   .   .   its trailing 1 is dropped (PDPD-3)
  result  2   3   4   5

  . no axis: repeated along it
  accepted: the result is (2,3,4,5)
  PDPD-6: The result has A's shape
",
    );
}

#[test]
fn pdpd_never_stretches_a() {
    assert_drawn(
        &elementwise(Rules::Pdpd { axis: Some(1) }, &["8x1x6x1", "7x1x5"]),
        "
pdpd, axis 1: (8,1,6,1) + (7,1,5) => refused

  axis  0   1   2   3
  A     8   1!  6   1
  B     .   7!  1   5

  . no axis   ! incompatible
  refused: dimension_mismatch at axis 1: length 1 of A and 7 of B: only a length 1 of B is stretched
  PDPD-5: Each length of B is 1 or equals A's; A is never stretched
",
    );
}

#[test]
fn pdpd_shows_how_far_b_reaches_beyond_a() {
    assert_drawn(
        &elementwise(Rules::Pdpd { axis: Some(3) }, &["2x3x4x5", "4x5"]),
        "
pdpd, axis 3: (2,3,4,5) + (4,5) => refused

  axis  0   1   2   3   4
  A     2   3   4   5   -!
  B     .   .   .   4   5

  . no axis   ! incompatible
  refused: axis_out_of_range: axis 3 plus 2 axes of B (without trailing axes of length 1) exceeds the rank of A, 4
  PDPD-4: B lies within A
",
    );
}

#[test]
fn pdpd_explains_that_an_operand_of_ones_is_dropped() {
    let refused = |shapes: &[&str]| {
        let text = elementwise(Rules::Pdpd { axis: None }, shapes);
        assert!(text.contains("refused: operand_count"), "{text}");
        assert!(!text.contains("dropped") && !text.contains("scalar"), "{text}");
        text
    };
    assert!(refused(&["2x3", "3", "4"]).contains("\n  A     (2,3)\n  B     (3)\n  C     (4)\n"));
    refused(&["2x3", "3", "4", "5"]);
    // Nothing is dropped if there are more than two operands, of ones or not.
    refused(&["2x3", "1x1", "()"]);
    let great = format!("{0}x{0}", i64::MAX);
    let remark = "all ones, dropped (PDPD-3): a scalar";
    let too_large = |b: &str| {
        let text = elementwise(Rules::Pdpd { axis: None }, &[&great, b]);
        assert!(text.contains("refused: too_large"), "{text}");
        text
    };
    assert!(too_large("1x1").contains(&format!("\n  B     (1,1)  {remark}\n")));
    assert!(too_large("()").contains("\n  B     ()\n"));
}

#[test]
fn xla_does_not_mention_absent_dimensions() {
    let text = elementwise(Rules::Xla { broadcast_dimensions: None }, &["2x3", "3", "4"]);
    assert!(text.contains("refused: operand_count") && text.contains("\n  B     (3)\n"), "{text}");
    let text = elementwise(Rules::Xla { broadcast_dimensions: None }, &["2x3", "3"]);
    assert!(text.contains("(3)  ! which axes? no broadcast_dimensions are given\n"), "{text}");
    let text = elementwise(xla(&[2]), &["2x3", "3"]);
    assert!(text.contains("(3)  ! its broadcast_dimensions are not valid axes\n"), "{text}");
}

#[test]
fn bidirectional_stretches_operand_and_target() {
    let query = ShapeQuery::broadcast(RuleSet::Bidirectional, Shape::from([3, 1]), Shape::from([2, 1, 6]));
    assert_drawn(
        &drawn(query.unwrap()),
        "
bidirectional: (3,1) to (2,1,6) => (2,3,6)

  axis     0   1   2
  operand  .   3   1*
  target   2   1*  6
  result   2   3   6

  * a stretched 1   . no axis: repeated along it
  accepted: the result is (2,3,6)
  BIDI-2: The result is the common shape, which need not be the target
",
    );
}

#[test]
fn numpy_broadcast_requires_the_target_to_have_every_axis() {
    let query = ShapeQuery::broadcast(RuleSet::Numpy, Shape::from([2, 3]), Shape::from([3]));
    assert_drawn(
        &drawn(query.unwrap()),
        "
numpy: (2,3) to (3) => refused

  axis     0   1
  operand  2   3
  target   -!  3

  ! incompatible
  refused: rank_mismatch: ranks 2 and 1: the target's rank is lower
  NUMPY-5: The operation `broadcast` goes in one direction
",
    );
}

#[test]
fn xla_draws_both_steps() {
    assert_drawn(
        &elementwise(xla(&[1, 2]), &["1x2", "4x3x1"]),
        "
xla, broadcast_dimensions (1,2): (1,2) + (4,3,1) => (4,3,2)

  axis              0   1   2
  lhs               .   1   2
  rhs               4   3   1*
  lhs after step 1  4   1*  2   in-dim: (4,1,2)
  result, step 2    4   3   2   degenerate: (4,3,2)

  * a stretched 1   . no axis: repeated along it
  accepted: the result is (4,3,2)
  XLA-8: Two steps: in-dim, then degenerate
",
    );
}

#[test]
fn xla_draws_a_matrix_with_a_gap_as_its_document_does() {
    assert_drawn(
        &elementwise(xla(&[0, 3]), &["2x3x4x5", "2x5"]),
        "
xla, broadcast_dimensions (0,3): (2,3,4,5) + (2,5) => (2,3,4,5)

  axis              0   1   2   3
  lhs               2   3   4   5
  rhs               2   .   .   5
  rhs after step 1  2   3   4   5   in-dim: (2,3,4,5)
  result, step 2    2   3   4   5   degenerate: (2,3,4,5)

  . no axis: repeated along it
  accepted: the result is (2,3,4,5)
  XLA-8: Two steps: in-dim, then degenerate
",
    );
}

#[test]
fn xla_cannot_place_an_operand_without_dimensions() {
    assert_drawn(
        &elementwise(Rules::Xla { broadcast_dimensions: None }, &["2x3", "3"]),
        "
xla: (2,3) + (3) => refused

  axis  0   1
  lhs   2   3
  rhs   (3)  ! which axes? no broadcast_dimensions are given

  refused: rank_mismatch: ranks 1 and 2 without broadcast_dimensions
  XLA-3: Different ranks need dimensions
",
    );
}

#[test]
fn theano_draws_the_flags() {
    let flags = vec![Some(vec![true, false]), None];
    let query = ShapeQuery::elementwise(Rules::Theano, shapes(&["1x4", "3x4"]), flags).unwrap();
    assert_drawn(
        &drawn(query),
        "
theano: (1,4) + (3,4) => (3,4)

  axis     0    1
  A       1T*  4F
  B       3F   4F
  result  3F   4F

  T broadcastable, F not   * a stretched 1
  accepted: the result is (3,4)
  THEANO-3: Axes flagged False are never stretched
",
    );
}

#[test]
fn theano_marks_a_flagged_axis_that_is_too_long() {
    let flags = vec![None, Some(vec![true])];
    let query = ShapeQuery::elementwise(Rules::Theano, shapes(&["3x2", "2"]), flags).unwrap();
    assert_drawn(
        &drawn(query),
        "
theano: (3,2) + (2) => refused

  axis   0    1
  A     3F   2F
  B      .   2T!

  T broadcastable, F not   . no axis   ! incompatible
  refused: flag_violation of B at axis 0: length 2 on an axis flagged broadcastable
  THEANO-1: A flag True promises the length 1
",
    );
}

#[test]
fn a_third_operand_is_refused_if_two_are_allowed() {
    assert_drawn(
        &elementwise(Rules::Xla { broadcast_dimensions: None }, &["2", "2", "2"]),
        "
xla: (2) + (2) + (2) => refused

  A     (2)
  B     (2)
  C     (2)

  refused: operand_count: 3 operands: xla takes one or two
  G-5: How many operands a rule set takes, and that all of them count
",
    );
}

#[test]
fn high_ranks_and_long_axes_are_drawn_in_blocks() {
    let ones = vec!["1"; 64].join("x");
    let great = format!("{}x7", i64::MAX / 8);
    let text = elementwise(Rules::Numpy, &[&ones, &great]);
    assert!(text.contains(&format!("{}", i64::MAX / 8)), "{text}");
    let table: Vec<&str> = text.lines().skip(2).take_while(|line| !line.contains(". no axis")).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 100), "{text}");
    let mut axes: Vec<usize> = Vec::new();
    for line in table.iter().filter_map(|line| line.strip_prefix("  axis")) {
        axes.extend(line.split_whitespace().map(|axis| axis.parse::<usize>().unwrap()));
    }
    assert_eq!(axes, (0..64).collect::<Vec<_>>());
}

#[test]
fn a_result_that_is_too_large_is_refused_and_still_drawn() {
    let text = elementwise(Rules::Numpy, &[&format!("{}x1", i64::MAX), "2"]);
    assert!(text.contains("refused: too_large"), "{text}");
    assert!(
        text.ends_with("  G-1: Lengths are not negative, and sizes are checked by arithmetic\n"),
        "{text}"
    );
    assert!(
        text.lines().any(|line| line.starts_with("  A") && line.contains(&i64::MAX.to_string())),
        "{text}"
    );
}

#[test]
fn invalid_queries_are_malformed() {
    let two = || shapes(&["2", "2"]);
    let message = |query: Result<ShapeQuery, broadcheck_spec::Malformed>| query.unwrap_err().to_string();
    assert!(
        message(ShapeQuery::elementwise(Rules::Bidirectional, two(), vec![None; 2]))
            .contains("not for elementwise")
    );
    assert!(message(ShapeQuery::elementwise(Rules::Numpy, vec![], vec![])).contains("no operand"));
    let flags = vec![Some(vec![true]), None];
    assert!(message(ShapeQuery::elementwise(Rules::Numpy, two(), flags)).contains("only under `theano`"));
    let flags = vec![Some(vec![true, true]), None];
    assert!(message(ShapeQuery::elementwise(Rules::Theano, two(), flags)).contains("2 flags for shape (2)"));
    assert!(
        message(ShapeQuery::elementwise(xla(&[0]), shapes(&["2"]), vec![None])).contains("single operand")
    );
    let target = ShapeQuery::broadcast(RuleSet::Theano, Shape::scalar(), Shape::scalar());
    assert!(message(target).contains("under `numpy`, `bidirectional`, `xla`, `leading` or `repeat`"));
}

#[test]
fn a_broadcast_on_named_axes_is_drawn_on_the_target() {
    let query = |list: &[i64], operand: &str, target: &str| {
        let [operand, target] = [operand, target].map(|text| shapes(&[text]).remove(0));
        Explanation::new(ShapeQuery::broadcast(xla(list), operand, target).unwrap())
    };
    for (list, operand, target, clause, rows) in [
        (&[1, 0][..], "2x3", "3x2", "XLA-13", ["operand  3   2", "target   3   2"]),
        (&[1, 0], "2x3", "4x5", "XLA-12", ["operand  3!  2", "target   4!  5"]),
        (&[0, 0], "2x2", "2x2", "XLA-11", ["operand  (2,2)  ! its broadcast_dimensions", "target   2   2"]),
        (&[0], "2x2", "2x2", "XLA-9", ["operand  (2,2)  ! its broadcast_dimensions", "target   2   2"]),
        (&[2], "2", "2x2", "XLA-10", ["operand  (2)  ! its broadcast_dimensions", "target   2   2"]),
    ] {
        let explanation = query(list, operand, target);
        assert_eq!(explanation.clause, clause);
        let text = explanation.draw(100).to_string();
        for row in rows {
            assert!(text.contains(row), "{row} in {text}");
        }
    }
}

/// The drawing of a request with the expression `add(a, b)`, whose operands have these dtypes and shapes.
fn requested(operands: &[(&str, &str, &str)], line: &str) -> String {
    let operand = |(name, dtype, shape): &(&str, &str, &str)| {
        let shape: Shape = shape.parse().unwrap();
        let values = vec!["1"; shape.count().unwrap()].join(", ");
        let lengths = shape.to_string().replace(['(', ')'], "");
        format!("      - {{name: {name}, dtype: {dtype}, shape: [{lengths}], values: [{values}]}}\n")
    };
    let operands: String = operands.iter().map(operand).collect();
    let text = format!(
        "format: 1\nrules: numpy\ncases:\n  - id: numpy/x\n    title: X.\n    clause: INTO-1\n    origin: hand\n    \
         expression: [add, a, b]\n    operands:\n{operands}    {line}\n    refusal: {{kind: any}}\n"
    );
    let case = load_str(&text, "x.yaml").unwrap().cases.remove(0);
    Explanation::of_request(&case.request).draw(100).to_string()
}

#[test]
fn an_operation_in_place_shows_the_destination_among_what_is_read() {
    let (a, b, d) = (("a", "f64", "2x3"), ("b", "f64", "3"), ("d", "f64", "2x3"));
    let in_place = requested(&[a, b], "into: a");
    assert!(in_place.starts_with("numpy: (2,3) + (3) into (2,3) => (2,3)\n"), "{in_place}");
    assert!(in_place.contains("  a       2   3   the result is written here\n"), "{in_place}");
    let apart = requested(&[a, b, d], "into: d");
    assert!(apart.starts_with("numpy: (2,3) + (3) into (2,3) => (2,3)\n"), "{apart}");
    assert!(apart.contains("  d       2   3   the result is written here\n"), "{apart}");
    let cast = requested(&[("a", "f32", "2"), ("b", "f32", "2"), ("d", "f64", "2")], "into: d");
    assert!(cast.contains("INTO-2") && cast.contains("dtype_mismatch"), "{cast}");
    let mixed = requested(&[("a", "f32", "2"), ("b", "f64", "2"), ("d", "f64", "2")], "into: d");
    assert!(mixed.contains("G-3"), "the types of the expression come first: {mixed}");
}

#[test]
fn a_cotangent_has_a_row_of_its_own() {
    let gradient = "operation: gradient\n    wrt: a\n    cotangent: g";
    let (a, b) = (("a", "f64", "2"), ("b", "f64", "2x2"));
    assert_drawn(
        &requested(&[a, b, ("g", "f64", "3x2")], gradient),
        "
numpy: (2) + (2,2) => refused

  axis  0   1
  a     .   2
  b     2   2
  g     3!  2   weighs the result

  . no axis   ! incompatible
  refused: dimension_mismatch at axis 0: a cotangent of length 3 for 2 of the result
  GRAD-4: A cotangent weighs the result
",
    );
    let vector = requested(&[a, b, ("g", "f64", "2")], gradient);
    assert!(vector.contains("  g     (2)  ! its rank is not that of the result\n"), "{vector}");
}
