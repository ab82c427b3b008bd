//! Plans for signatures: the same bits and refusals as new plans, for whatever lengths come one after the
//! other; clear errors; many threads.

mod support;

use broadcheck_fast::{Level, Misfit, NoPlan, Output, Plan, SignaturePlan, View, Wanted};
use broadcheck_spec::{
    Accepts, Asked, DType, Data, Expression, Function, Length, Operand, OperandType, Operation, PartialShape,
    Refusal, RefusalKind, Request, RuleSet, Rules, Shape, Signature, Tensor,
};
use support::{Random, broadcast, operand, request, small, value};

/// An operand of a signature.
fn typed(name: &str, dtype: DType, shape: &str) -> OperandType {
    OperandType::new(name, dtype, shape.parse::<PartialShape>().unwrap()).unwrap()
}

fn call(function: Function) -> Expression {
    Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap()
}

/// The signature of a function of two operands.
fn of_two(rules: Rules, function: Function, dtype: DType, shapes: [&str; 2]) -> Signature {
    let operands = vec![typed("a", dtype, shapes[0]), typed("b", dtype, shapes[1])];
    Signature::new(rules, Asked::Expression(call(function)), operands).unwrap()
}

fn doubles(tensor: &Tensor) -> (Vec<usize>, Vec<f64>) {
    let values = tensor.values().iter().map(|value| value.as_f64().expect("a float")).collect();
    (tensor.shape().to_vec(), values)
}

/// The refusal by which a run ended.
fn refusal<T: std::fmt::Debug>(result: Result<T, Misfit>) -> Refusal {
    match result {
        Err(Misfit::NoPlan(NoPlan::Refused(refusal))) => refusal,
        other => panic!("not a refusal: {other:?}"),
    }
}

#[test]
fn lengths_that_do_not_fit_leave_nothing_behind() {
    let signature = of_two(Rules::Numpy, Function::Add, DType::F64, ["?", "?"]);
    let plan = Plan::for_signature(&signature).unwrap();
    let (short, long) = ([1.0, 2.0], [10.0, 20.0, 30.0]);
    let run = |a: &[f64], b: &[f64]| plan.run(&[View::dense(a, &[a.len()]), View::dense(b, &[b.len()])]);
    for _ in 0..3 {
        assert_eq!(doubles(&run(&short, &short).unwrap()), (vec![2], vec![2.0, 4.0]));
        for _ in 0..2 {
            let refused = refusal(run(&short, &long));
            assert_eq!((refused.kind, refused.axis), (Some(RefusalKind::DimensionMismatch), Some(0)));
        }
        assert_eq!(doubles(&run(&short, &short).unwrap()), (vec![2], vec![2.0, 4.0]));
        assert_eq!(doubles(&run(&long, &long).unwrap()), (vec![3], vec![20.0, 40.0, 60.0]));
        assert_eq!(doubles(&run(&long, &short[..1]).unwrap()), (vec![3], vec![11.0, 21.0, 31.0]));
        assert_eq!(doubles(&run(&short[..1], &long).unwrap()), (vec![3], vec![11.0, 21.0, 31.0]));
        assert_eq!(doubles(&run(&short[..1], &[]).unwrap()), (vec![0], vec![]));
        refusal(run(&[], &long));
    }
}

/// More lengths than plans are kept for come round again and again, in different orders.
#[test]
fn lengths_whose_plans_are_no_longer_kept_are_planned_again() {
    let signature = of_two(Rules::Numpy, Function::Subtract, DType::F64, ["?", "?"]);
    let plan = Plan::for_signature(&signature).unwrap();
    let values: Vec<f64> = (0u8..30).map(f64::from).collect();
    for step in [1, 7, 11, 1] {
        for turn in 0..40 {
            let count = 1 + turn * step % 20;
            let (shape, last) = ([count], [values[count]]);
            let expected: Vec<f64> = values[..count].iter().map(|value| value - last[0]).collect();
            let views = [View::dense(&values[..count], &shape), View::dense(&last[..], &[1])];
            let found = plan.run(&views).unwrap();
            assert_eq!(doubles(&found), (vec![count], expected), "step {step}, turn {turn}");
        }
        refusal(plan.run(&[View::dense(&values[..2], &[2]), View::dense(&values[..3], &[3])]));
    }
}

/// Between runs with equal lengths, everything else that a kept plan depends on changes.
#[test]
fn strides_offsets_and_ranks_are_part_of_what_a_plan_is_kept_for() {
    let signature = of_two(Rules::Numpy, Function::Subtract, DType::F64, ["...", "2"]);
    let plan = Plan::for_signature(&signature).unwrap();
    let (a, b) = ([1.0, 2.0, 3.0, 4.0], [10.0, 100.0]);
    let run = |view: View<'_>| doubles(&plan.run(&[view, View::dense(&b[..], &[2])]).unwrap());
    for _ in 0..2 {
        let rows = vec![-9.0, -98.0, -7.0, -96.0];
        assert_eq!(run(View::dense(&a[..], &[2, 2])), (vec![2, 2], rows.clone()));
        assert_eq!(run(View::strided(&a[..], &[2, 2], &[2, 1], 0)), (vec![2, 2], rows.clone()));
        let columns = vec![-9.0, -97.0, -8.0, -96.0];
        assert_eq!(run(View::strided(&a[..], &[2, 2], &[1, 2], 0)), (vec![2, 2], columns));
        assert_eq!(run(View::strided(&a[..], &[2], &[-1], 1)), (vec![2], vec![-8.0, -99.0]));
        assert_eq!(run(View::strided(&a[..], &[2], &[-1], 3)), (vec![2], vec![-6.0, -97.0]));
        assert_eq!(run(View::dense(&a[..2], &[1, 2])), (vec![1, 2], vec![-9.0, -98.0]));
        assert_eq!(run(View::dense(&a[..1], &[])), (vec![2], vec![-9.0, -99.0]));
    }
}

#[test]
fn a_target_arrives_at_the_run() {
    let signature = |target: &str| {
        let asked = Asked::TargetShape(target.parse::<PartialShape>().unwrap());
        Signature::new(Rules::Numpy, asked, vec![typed("a", DType::F64, "?")]).unwrap()
    };
    let plan = Plan::for_signature(&signature("?x?")).unwrap();
    let (row, one) = ([7.0, 8.0], [9.0]);
    let (row, one) = (View::dense(&row[..], &[2]), View::dense(&one[..], &[1]));
    for _ in 0..2 {
        assert_eq!(doubles(&plan.run_onto(&[row], &[1, 2]).unwrap()), (vec![1, 2], vec![7.0, 8.0]));
        assert_eq!(refusal(plan.run_onto(&[row], &[2, 1])).axis, Some(1));
        assert_eq!(doubles(&plan.run_onto(&[row], &[2, 2]).unwrap()).1, [7.0, 8.0, 7.0, 8.0]);
        assert_eq!(doubles(&plan.run_onto(&[one], &[2, 1]).unwrap()), (vec![2, 1], vec![9.0, 9.0]));
        let mut out = [0.0; 3];
        plan.run_onto_into(&[one], &[1, 3], Output::from(&mut out[..])).unwrap();
        assert_eq!(out, [9.0; 3]);
    }
    let error = plan.run(&[row]).unwrap_err().to_string();
    assert_eq!(error, "target: found none, expected one, because the signature does not know all of it");
    let error = plan.run_onto(&[row], &[2]).unwrap_err().to_string();
    assert_eq!(error, "target: found rank 1, expected 2");

    let known = Plan::for_signature(&signature("2x2")).unwrap();
    assert_eq!(doubles(&known.run(&[row]).unwrap()).1, [7.0, 8.0, 7.0, 8.0]);
    assert_eq!(known.run(&[row]).unwrap(), known.run_onto(&[row], &[2, 2]).unwrap());
    let error = known.run_onto(&[row], &[2, 3]).unwrap_err().to_string();
    assert_eq!(error, "target, axis 1: found length 3, expected 2");
}

#[test]
fn errors_name_the_operand_and_the_axis() {
    let signature = of_two(Rules::Numpy, Function::Add, DType::F32, ["?x3", "1..3"]);
    let plan = Plan::for_signature(&signature).unwrap();
    assert_eq!((plan.shape().to_string(), plan.dtype()), ("(?,3)".into(), DType::F32));
    assert_eq!((plan.accepts(), plan.broadcastable()), (Accepts::Depends, None));
    let (a, b, ints) = ([0.0f32; 6], [0.0f32; 3], [0i32; 3]);
    let row = View::dense(&b[..], &[3]);
    let error = |views: &[View<'_>]| plan.run(views).unwrap_err().to_string();
    let of_a = |a: View<'_>| error(&[a, row]);
    assert_eq!(error(&[row]), "found 1 operand buffers, expected 2");
    assert_eq!(of_a(row), "operand 0: found rank 1, expected 2");
    assert_eq!(of_a(View::dense(&a[..], &[3, 2])), "operand 0, axis 1: found length 2, expected 3");
    assert_eq!(of_a(View::dense(&a[..5], &[2, 3])), "operand 0: found 5 values, expected at least 6");
    let strided = |strides, offset| of_a(View::strided(&a[..], &[2, 3], strides, offset));
    assert_eq!(strided(&[1], 0), "operand 0: found 1 strides, expected 2, one per axis");
    assert_eq!(strided(&[3, -1], 1), "operand 0: found position -1, expected none below 0");
    assert_eq!(strided(&[3, 1], 1), "operand 0: found 6 values, expected at least 7");
    assert_eq!(
        strided(&[i64::MIN, i64::MIN], 0),
        format!("operand 0: found position {}, expected none below 0", 3 * i128::from(i64::MIN))
    );
    let matrix = View::dense(&a[..], &[2, 3]);
    let of_b = |b: View<'_>| error(&[matrix, b]);
    let four = [0.0f32; 4];
    assert_eq!(of_b(View::dense(&four[..], &[4])), "operand 1, axis 0: found length 4, expected 1..3");
    assert_eq!(of_b(View::dense(&ints[..], &[3])), "operand 1: found dtype i32, expected f32");
    assert_eq!(
        of_b(View::dense(&b[..], &[2])),
        "dimension_mismatch at axis 1: lengths 3 and 2 cannot be broadcast together"
    );
    let mut out = [0.0f32; 5];
    let wrong = plan.run_into(&[matrix, row], Output::from(&mut out[..])).unwrap_err().to_string();
    assert_eq!(wrong, "output: found 5 values of f32, expected 6 of f32");
    let target = plan.run_onto(&[matrix, row], &[2, 3]).unwrap_err().to_string();
    assert_eq!(target, "target: found one, expected none, because the signature has an expression");
    // A buffer that becomes too short is noticed also where the plan is kept.
    plan.run(&[matrix, row]).unwrap();
    assert_eq!(of_a(View::dense(&a[..5], &[2, 3])), "operand 0: found 5 values, expected at least 6");
}

#[test]
fn huge_shapes_are_refused_and_never_allocated() {
    let plan = Plan::for_signature(&of_two(Rules::Numpy, Function::Add, DType::U8, ["?x?", "?"])).unwrap();
    let byte = [1u8];
    let one = View::dense(&byte[..], &[1]);
    let view = |shape| View::strided(&byte[..], shape, &[0, 0], 0);
    let refused = refusal(plan.run(&[view(&[1 << 40, 1 << 40]), one]));
    assert_eq!(refused.kind, Some(RefusalKind::TooLarge));
    let refused = refusal(plan.run(&[View::dense(&byte[..], &[usize::MAX, 2]), one]));
    assert_eq!(refused.kind, Some(RefusalKind::TooLarge));
    let limit = plan.run(&[view(&[1 << 20, 1 << 20]), one]).unwrap_err();
    assert_eq!(limit, Misfit::NoPlan(NoPlan::TooManyElements { found: 1 << 40 }));
    assert_eq!(plan.run(&[View::dense(&byte[..], &[1, 1]), one]).unwrap().values(), &Data::from(vec![2u8]));
}

#[test]
fn what_never_fits_has_no_plan() {
    let refused = |rules, shapes| match Plan::for_signature(&of_two(rules, Function::Add, DType::F32, shapes))
    {
        Err(NoPlan::Refused(refusal)) => (refusal.kind, refusal.axis),
        other => panic!("{other:?}"),
    };
    let mismatch = Some(RefusalKind::DimensionMismatch);
    assert_eq!(refused(Rules::Numpy, ["?x2", "?x3"]), (mismatch, Some(1)));
    assert_eq!(refused(Rules::None, ["..2", "3"]), (mismatch, Some(0)));
    assert_eq!(refused(Rules::None, ["?", "?x?"]), (Some(RefusalKind::RankMismatch), None));
    let bools = Plan::for_signature(&of_two(Rules::Numpy, Function::Add, DType::Bool, ["?", "?"]));
    assert!(matches!(
        bools,
        Err(NoPlan::Refused(Refusal { kind: Some(RefusalKind::UnsupportedFunction), .. }))
    ));
    let known =
        Plan::for_signature(&of_two(Rules::Numpy, Function::Add, DType::F32, ["1048576x1", "1048576"]));
    assert_eq!(known.unwrap_err(), NoPlan::TooManyElements { found: 1 << 40 });
    let sum = of_two(Rules::Numpy, Function::Add, DType::F32, ["?", "?"]);
    let none = SignaturePlan::new(&sum, Wanted::Gradient { wrt: 2 }, Level::detect()).unwrap_err();
    assert_eq!(none.to_string(), "found a gradient with respect to operand 2, expected one of 2 operands");
}

/// The gradient of a·b by a, for an a that is stretched in some runs only.
#[test]
fn gradients_are_summed_where_the_run_stretches() {
    let product = of_two(Rules::Numpy, Function::Multiply, DType::F64, ["?", "?"]);
    let plain = SignaturePlan::new(&product, Wanted::Gradient { wrt: 0 }, Level::detect()).unwrap();
    let weighted = SignaturePlan::new(&product, Wanted::Vjp { wrt: 0 }, Level::detect()).unwrap();
    assert_eq!(plain.shape().to_string(), "(?)");
    let (a, b, g) = ([2.0, 3.0], [10.0, 20.0], [1.0, -1.0]);
    let [full, one, b, g] = [
        View::dense(&a[..], &[2]),
        View::dense(&a[..1], &[1]),
        View::dense(&b[..], &[2]),
        View::dense(&g[..], &[2]),
    ];
    for _ in 0..2 {
        assert_eq!(doubles(&plain.run(&[full, b]).unwrap()), (vec![2], vec![10.0, 20.0]));
        assert_eq!(doubles(&plain.run(&[one, b]).unwrap()), (vec![1], vec![30.0]));
        assert_eq!(doubles(&weighted.run(&[full, b, g]).unwrap()), (vec![2], vec![10.0, -20.0]));
        assert_eq!(doubles(&weighted.run(&[one, b, g]).unwrap()), (vec![1], vec![-10.0]));
        let short = weighted.run(&[full, b, one]);
        assert_eq!(refusal(short).kind, Some(RefusalKind::DimensionMismatch));
        let halves = [0.0f32; 2];
        let other = weighted.run(&[full, b, View::dense(&halves[..], &[2])]);
        assert_eq!(refusal(other).kind, Some(RefusalKind::DTypeMismatch));
    }
    let onto = Signature::new(
        Rules::Numpy,
        Asked::TargetShape(PartialShape::Unranked),
        vec![typed("a", DType::F64, "?")],
    );
    let counted = SignaturePlan::new(&onto.unwrap(), Wanted::Gradient { wrt: 0 }, Level::detect()).unwrap();
    assert_eq!(doubles(&counted.run_onto(&[full], &[3, 2]).unwrap()), (vec![2], vec![3.0, 3.0]));
    assert_eq!(doubles(&counted.run_onto(&[one], &[3, 2]).unwrap()), (vec![1], vec![6.0]));
}

#[test]
fn threads_share_a_plan() {
    fn shared<T: Send + Sync>() {}
    shared::<SignaturePlan>();
    let signature = of_two(Rules::Numpy, Function::Add, DType::F64, ["?", "?"]);
    let plan = Plan::for_signature(&signature).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..5 {
            let plan = &plan;
            scope.spawn(move || {
                for round in 0..400 {
                    let length = 1 + thread + round / 100;
                    let a: Vec<f64> = (0..length).map(|at| at as f64).collect();
                    let sum = plan.run(&[View::dense(&a[..], &[length]), View::dense(&[0.5][..], &[1])]);
                    let expected: Vec<f64> = a.iter().map(|value| value + 0.5).collect();
                    assert_eq!(doubles(&sum.unwrap()), (vec![length], expected));
                    refusal(plan.run(&[
                        View::dense(&a[..], &[length]),
                        View::dense(&vec![0.0; length + 8][..], &[length + 8]),
                    ]));
                }
            });
        }
    });
}

/// What is known of a length before a run.
fn declared(random: &mut Random, length: usize) -> Length {
    let above = Some(length + random.below(3));
    match random.below(8) {
        0 => Length::exactly(length),
        1 => Length::bounded(length.saturating_sub(random.below(2)), above).unwrap(),
        2 => Length::bounded(0, above).unwrap(),
        3 => Length::bounded(length.saturating_sub(1), None).unwrap(),
        _ => Length::UNKNOWN,
    }
}

fn declared_shape(random: &mut Random, rules: RuleSet, shape: &[usize]) -> PartialShape {
    let has_ranks = matches!(rules, RuleSet::Xla | RuleSet::Theano);
    if !has_ranks && random.chance(15) {
        return PartialShape::Unranked;
    }
    PartialShape::Ranked(shape.iter().map(|&length| declared(random, length)).collect())
}

/// A signature that admits a request.
fn signature_of(random: &mut Random, request: &Request) -> Signature {
    let rules = request.rules().set();
    let asked = match (request.operation().target_shape(), request.operation().expression()) {
        (Some(target), _) => Asked::TargetShape(declared_shape(random, rules, target)),
        (None, Some(expression)) => Asked::Expression(expression.clone()),
        (None, None) => unreachable!("an operation has an expression or a target"),
    };
    let mut operands = Vec::new();
    for operand in request.operands() {
        let shape = declared_shape(random, rules, operand.shape());
        let made = OperandType::new(operand.name(), operand.dtype(), shape).unwrap();
        operands.push(match operand.broadcastable() {
            Some(flags) => made.with_broadcastable(flags.to_vec()).unwrap(),
            None => made,
        });
    }
    Signature::new(request.rules().clone(), asked, operands).unwrap()
}

fn wanted(operation: &Operation) -> Wanted {
    match operation {
        Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Broadcast { .. } => Wanted::Value,
        Operation::Gradient { wrt, .. } => Wanted::Gradient { wrt: *wrt },
        Operation::Vjp { wrt, .. } => Wanted::Vjp { wrt: *wrt },
    }
}

/// The request with every length changed in the same way, or only those of one operand: what fits then fits
/// or does not.
fn resized(random: &mut Random, request: &Request, only: Option<usize>) -> Option<Request> {
    let more = 1 + random.below(3);
    let changed = |shape: &Shape| -> Vec<usize> {
        shape.iter().map(|&length| if length > 1 { length + more } else { length }).collect()
    };
    let mut operands = Vec::new();
    for (place, old) in request.operands().iter().enumerate() {
        if only.is_some_and(|only| only != place) {
            operands.push(old.clone());
            continue;
        }
        let shape = changed(old.shape());
        if shape.iter().product::<usize>() > 1 << 12 {
            return None;
        }
        let draw = if request.operation().wrt().is_some() { small } else { value };
        let made = operand(random, place, &shape, old.dtype(), draw);
        operands.push(match old.broadcastable() {
            Some(flags) => made.with_broadcastable(flags.to_vec()).unwrap(),
            None => made,
        });
    }
    let operation = match request.operation() {
        Operation::Broadcast { target_shape } if only.is_none() => {
            Operation::Broadcast { target_shape: Shape::new(changed(target_shape)) }
        }
        Operation::Vjp { .. } => return None,
        other => other.clone(),
    };
    Request::new(request.rules().clone(), operation, operands).ok()
}

/// The gradient with a random cotangent.
fn weighted(random: &mut Random, request: Request) -> Option<Request> {
    let (rules, operation, operands) = request.into_parts();
    let (expression, wrt) = match operation {
        Operation::Gradient { expression, wrt } => (expression, wrt),
        other => return Request::new(rules, other, operands).ok(),
    };
    let forward = Operation::Elementwise { expression: expression.clone() };
    let forward = Request::new(rules.clone(), forward, operands.clone()).ok()?;
    let plan = Plan::new(&forward).ok()?;
    let cotangent = operand(random, 9, plan.shape(), plan.dtype(), small);
    let operation = Operation::Vjp { expression, wrt, target_shape: None, cotangent: Box::new(cotangent) };
    Request::new(rules, operation, operands).ok()
}

/// The request with operands of other shapes, under other rules.
fn reshaped(
    random: &mut Random,
    request: &Request,
    rules: Rules,
    shapes: &[Vec<usize>],
    target: Option<Vec<usize>>,
) -> Option<Request> {
    let draw = if request.operation().wrt().is_some() { small } else { value };
    let made = |(place, (old, shape)): (usize, (&Operand, &Vec<usize>))| {
        operand(random, place, shape, old.dtype(), draw)
    };
    let operands = request.operands().iter().zip(shapes).enumerate().map(made).collect();
    let operation = match target {
        Some(target) => Operation::Broadcast { target_shape: Shape::new(target) },
        None => request.operation().clone(),
    };
    Request::new(rules, operation, operands).ok()
}

/// The request under `leading`, with the axes of each shape in the opposite order.
fn leading(random: &mut Random, request: &Request) -> Option<Request> {
    let reversed = |shape: &Shape| -> Vec<usize> { shape.iter().rev().copied().collect() };
    let shapes: Vec<Vec<usize>> = request.operands().iter().map(|old| reversed(old.shape())).collect();
    let target = request.operation().target_shape().map(reversed);
    reshaped(random, request, Rules::Leading, &shapes, target)
}

/// The request under `repeat`, with lengths of A that usually are multiples of B's.
fn repeat(random: &mut Random, request: &Request) -> Option<Request> {
    let rank = if random.chance(3) { 5 } else { random.below(5) };
    let of_a: Vec<usize> = (0..rank).map(|_| random.pick(&[0, 1, 2, 3, 4, 4, 6, 6])).collect();
    let first = random.below(rank + 1);
    let spoil = random.chance(15);
    let mut divisor = |length: usize| match random.below(4) {
        _ if spoil && random.chance(30) => length + 1,
        0 => 1,
        1 if length.is_multiple_of(2) => (length / 2).max(1),
        2 if length.is_multiple_of(3) => (length / 3).max(1),
        _ => length,
    };
    let mut of_b: Vec<usize> = of_a[first..].iter().map(|&length| divisor(length)).collect();
    if first == 0 && random.chance(20) {
        of_b.insert(0, 1);
    }
    if request.operation().target_shape().is_some() {
        reshaped(random, request, Rules::Repeat, &[of_b], Some(of_a))
    } else {
        reshaped(random, request, Rules::Repeat, &[of_a, of_b], None)
    }
}

/// Sometimes the request under `leading` or `repeat`, which `support` does not draw.
fn under_other_rules(random: &mut Random, request: Request) -> Option<Request> {
    let may_repeat = request.rules().set() != RuleSet::Theano && request.operands().len() <= 2;
    match request.rules() {
        Rules::Numpy if random.chance(25) => leading(random, &request),
        _ if may_repeat && random.chance(20) => repeat(random, &request),
        _ => Some(request),
    }
}

/// What came of a run, or of a request without a signature.
fn outcome(result: Result<Tensor, Misfit>) -> Result<Tensor, String> {
    result.map_err(|misfit| match misfit {
        Misfit::NoPlan(NoPlan::Refused(refusal)) => {
            format!("{:?} {:?} {:?}", refusal.kind, refusal.axis, refusal.operand)
        }
        other => other.to_string(),
    })
}

fn fresh(request: &Request, level: Level) -> Result<Tensor, Misfit> {
    let inputs: Vec<_> = request.with_values().map(|operand| operand.values().into()).collect();
    Ok(Plan::with_level(request, level)?.run(&inputs)?)
}

fn run(plan: &SignaturePlan, request: &Request) -> Result<Tensor, Misfit> {
    let views: Vec<View<'_>> = request.with_values().map(View::from).collect();
    match request.operation().target_shape() {
        Some(target) => plan.run_onto(&views, target),
        None => plan.run(&views),
    }
}

/// The runs of a session: a request, others of its signature, and the first again.
fn session(random: &mut Random, request: &Request) -> Vec<Request> {
    let mut others = vec![resized(random, request, None)];
    for place in 0..request.operands().len() {
        others.push(resized(random, request, Some(place)));
    }
    let first = || std::iter::once(request.clone());
    let between = others.into_iter().flatten().flat_map(|other| [other, request.clone()]);
    first().chain(first()).chain(between).collect()
}

/// Whether a signature admits a request.
fn admits(signature: &Signature, request: &Request) -> bool {
    let shapes = request.operands().iter().map(Operand::shape).chain(request.operation().target_shape());
    signature.shapes().zip(shapes).all(|(declared, shape)| declared.admits(shape))
}

#[test]
fn runs_have_the_bits_and_refusals_of_new_plans() {
    let levels: Vec<Level> = Level::available().collect();
    let (mut accepted, mut refused, mut outside, mut rules) = (0, 0, 0, std::collections::BTreeMap::new());
    for seed in 0..5_000u64 {
        let mut random = Random(7_000_000 + seed);
        let scale = if random.chance(5) { 20 } else { 1 };
        let drawn = if random.chance(15) { broadcast(&mut random) } else { request(&mut random, scale) };
        let Some(drawn) = drawn.and_then(|drawn| under_other_rules(&mut random, drawn)) else { continue };
        let drawn = if random.chance(40) { weighted(&mut random, drawn) } else { Some(drawn) };
        let Some(drawn) = drawn else { continue };
        let signature = signature_of(&mut random, &drawn);
        let level = random.pick(&levels);
        let plan = match SignaturePlan::new(&signature, wanted(drawn.operation()), level) {
            Ok(plan) => plan,
            Err(none) => {
                let fresh = fresh(&drawn, level);
                assert!(fresh.is_err(), "seed {seed}: {none}, but {signature:?} admits {drawn:?}");
                continue;
            }
        };
        for (step, asked) in session(&mut random, &drawn).iter().enumerate() {
            let found = outcome(run(&plan, asked));
            if !admits(&signature, asked) {
                outside += 1;
                assert!(found.unwrap_err().contains("found length"), "seed {seed}, step {step}");
                continue;
            }
            let expected = outcome(fresh(asked, level));
            assert_eq!(found, expected, "seed {seed}, step {step}: {signature:?} {asked:?}");
            match &found {
                Ok(tensor) => {
                    accepted += 1;
                    *rules.entry(asked.rules().set()).or_insert(0) += 1;
                    assert!(plan.shape().admits(tensor.shape()) && plan.dtype() == tensor.dtype());
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 6_000 && refused > 1_000 && outside > 2_000, "{accepted} {refused} {outside}");
    assert!(rules.len() == RuleSet::ALL.len() && rules.values().all(|&runs| runs > 200), "{rules:?}");
}
