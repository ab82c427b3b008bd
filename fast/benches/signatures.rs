//! Plans for signatures beside plans of fixed shapes: runs with the lengths of the run before, runs with
//! others, and planning. The data are so small that hardly anything else takes time.
#![allow(clippy::print_stdout, reason = "a bench prints its results")]

mod support;

use broadcheck_fast::{Input, Plan, SignaturePlan, View, Wanted};
use broadcheck_spec::{Asked, Expression, OperandType, PartialShape, Rules, Signature};
use std::hint::black_box;
use support::data::{Aligned, request};
use support::race::{Clock, Rounds};
use support::results::figure;
use support::{Arrays, At, Real, Results, Table, elementwise, goal_at_most, race, single_thread, sum_of};

/// A sum of some operands: what is declared, and the shapes of two runs.
struct Case<'a> {
    name: &'a str,
    declared: &'a [&'a str],
    runs: [&'a [&'a [usize]]; 2],
}

/// The signature of a sum of operands with these declared shapes.
fn signature(declared: &[&str], sum: Expression) -> Signature {
    let operand = |(place, shape): (usize, &&str)| {
        let shape: PartialShape = shape.parse().unwrap();
        OperandType::new(format!("x{place}"), broadcheck_spec::DType::F64, shape).unwrap()
    };
    let operands = declared.iter().enumerate().map(operand).collect();
    Signature::new(Rules::Numpy, Asked::Expression(sum), operands).unwrap()
}

/// The nanoseconds that runs with the lengths of the run before take beyond those of a fixed plan.
fn measure(at: At, case: &Case<'_>, table: &mut Table) -> f64 {
    let count = case.declared.len();
    let arrays = case.runs.map(Arrays::<f64>::of);
    let requests = case.runs.map(|shapes| request::<f64>(shapes, elementwise(sum_of(count))));
    let plans = requests.each_ref().map(|request| Plan::with_level(request, at.level()).unwrap());
    let inputs: [Vec<Input<'_>>; 2] = [arrays[0].inputs(), arrays[1].inputs()];
    let views: [Vec<View<'_>>; 2] = std::array::from_fn(|run| {
        let operands = inputs[run].iter().zip(case.runs[run]);
        operands.map(|(&input, &shape)| View::dense(input, shape)).collect()
    });
    let made = || signature(case.declared, sum_of(count));
    let plan = |signature: &Signature| SignaturePlan::new(signature, Wanted::Value, at.level()).unwrap();
    let [same, other] = [plan(&made()), plan(&made())];
    let counts = plans.each_ref().map(|plan| plan.shape().iter().product::<usize>());
    let mut out = Aligned::<f64>::zeros(counts[0].max(counts[1]));
    let (mut turn, mut turn_of_new) = (0, 0);
    let known = made();
    let race = race(
        Rounds { count: 41, seconds: 1e-3, clock: Clock::Thread },
        &mut *out,
        &mut [
            &mut |out: &mut [f64]| {
                plans[0].run_into(&inputs[0], f64::output(&mut out[..counts[0]])).unwrap();
            },
            &mut |out| same.run_into(&views[0], f64::output(&mut out[..counts[0]])).unwrap(),
            &mut |out| {
                turn ^= 1;
                other.run_into(&views[turn], f64::output(&mut out[..counts[turn]])).unwrap();
            },
            &mut |out| {
                turn_of_new ^= 1;
                let turn = turn_of_new;
                let plan = Plan::with_level(&requests[turn], at.level()).unwrap();
                plan.run_into(&inputs[turn], f64::output(&mut out[..counts[turn]])).unwrap();
            },
            &mut |_| {
                black_box(plan(&known));
            },
        ],
    );
    let nanoseconds = |competitor| race.seconds(competitor) * 1e9;
    let mut cells = vec![case.name.to_owned()];
    cells.extend((0..5).map(|competitor| figure(nanoseconds(competitor))));
    cells.extend([race.ratio(1, 0), race.ratio(2, 3)].map(figure));
    table.row(cells);
    nanoseconds(1) - nanoseconds(0)
}

fn main() {
    single_thread();
    let mut results = Results::new("signatures");
    let header = [
        "sum of f64",
        "fixed plan, ns",
        "same lengths, ns",
        "other lengths, ns",
        "new plan and run, ns",
        "planning the signature, ns",
        "same lengths over a fixed plan",
        "other lengths over a new plan",
    ];
    let mut table = Table::new("runs", &header);
    let cases = [
        Case {
            name: "(?,3) + (?): (2,3) + (3), and (3,3) + (1)",
            declared: &["?x3", "?"],
            runs: [&[&[2, 3], &[3]], &[&[3, 3], &[1]]],
        },
        Case {
            name: "(?) + (?): 100 and 1, and 101 and 1",
            declared: &["?", "?"],
            runs: [&[&[100], &[1]], &[&[101], &[1]]],
        },
        Case {
            name: "(?,?,?) + (?,?): (4,5,6) + (5,6), and (4,5,7) + (5,1)",
            declared: &["?x?x?", "?x?"],
            runs: [&[&[4, 5, 6], &[5, 6]], &[&[4, 5, 7], &[5, 1]]],
        },
        Case {
            name: "three of unknown rank: (4,6), (6) and (), and (4,7), (7) and (1)",
            declared: &["...", "...", "..."],
            runs: [&[&[4, 6], &[6], &[]], &[&[4, 7], &[7], &[1]]],
        },
    ];
    let at = At::detect();
    let beyond: Vec<f64> = cases.iter().map(|case| measure(at, case, &mut table)).collect();
    results.table(table);
    for (case, beyond) in cases.iter().zip(beyond) {
        let name = format!("same lengths, beyond a fixed plan, {}", case.name);
        results.goal(goal_at_most(name, 30.0, beyond, " ns"));
    }
    results.write();
}
