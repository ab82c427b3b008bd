//! Plans for signatures beside plans of fixed shapes: runs with the lengths of the run before, with two
//! lengths in turn, and with lengths that are not kept; and planning. The data are so small that hardly
//! anything else takes time.
#![allow(clippy::print_stdout, reason = "a bench prints its results")]

mod support;

use broadcheck_fast::{Input, Plan, SignaturePlan, View, Wanted};
use broadcheck_spec::{Asked, Expression, OperandType, PartialShape, Request, Rules, Signature};
use std::hint::black_box;
use support::data::{Aligned, request};
use support::race::{Clock, Rounds};
use support::results::figure;
use support::{Arrays, At, Real, Results, Table, elementwise, goal_at_most, race, single_thread, sum_of};

/// A sum of some operands: what is declared, and the shapes of each run.
struct Case<'a> {
    name: &'a str,
    declared: &'a [&'a str],
    run: fn(usize) -> Vec<Vec<usize>>,
}

/// The runs with different lengths. The plans of the first ones are kept for good. The others are more than
/// are kept, so each of them is planned when its turn comes.
const RUNS: usize = 32;
const FIRST: usize = 8;

/// One run: the plan of its shapes, its operands and the elements of its result.
struct Run {
    shapes: Vec<Vec<usize>>,
    arrays: Arrays<f64>,
    request: Request,
    plan: Plan,
    count: usize,
}

impl Run {
    fn of(shapes: Vec<Vec<usize>>, at: At) -> Run {
        let lengths: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let arrays = Arrays::<f64>::of(&lengths);
        let request = request::<f64>(&lengths, elementwise(sum_of(shapes.len())));
        let plan = Plan::with_level(&request, at.level()).unwrap();
        let count = plan.shape().iter().product();
        Run { shapes, arrays, request, plan, count }
    }

    fn views(&self) -> Vec<View<'_>> {
        let operands = self.arrays.inputs().into_iter().zip(&self.shapes);
        operands.map(|(input, shape)| View::dense(input, shape)).collect()
    }
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

/// The nanoseconds that runs with the lengths of the run before take beyond those of a fixed plan, and runs
/// with two lengths in turn beyond those of two fixed plans.
fn measure(at: At, case: &Case<'_>, table: &mut Table) -> [f64; 2] {
    let count = case.declared.len();
    let runs: Vec<Run> = (0..RUNS).map(|turn| Run::of((case.run)(turn), at)).collect();
    let inputs: Vec<Vec<Input<'_>>> = runs.iter().map(|run| run.arrays.inputs()).collect();
    let views: Vec<Vec<View<'_>>> = runs.iter().map(Run::views).collect();
    let known = signature(case.declared, sum_of(count));
    let plan = || SignaturePlan::new(&known, Wanted::Value, at.level()).unwrap();
    let [same, two, other] = [plan(), plan(), plan()];
    let most = runs.iter().map(|run| run.count).max().unwrap_or(0);
    let mut out = Aligned::<f64>::zeros(most);
    let fixed = |turn: usize, out: &mut [f64]| {
        let run = &runs[turn];
        run.plan.run_into(&inputs[turn], f64::output(&mut out[..run.count])).unwrap();
    };
    let signed = |plan: &SignaturePlan, turn: usize, out: &mut [f64]| {
        plan.run_into(&views[turn], f64::output(&mut out[..runs[turn].count])).unwrap();
    };
    for turn in 0..FIRST {
        signed(&other, turn, &mut out);
    }
    let mut turns = [0; 4];
    let [fixed_turn, two_turn, other_turn, new_turn] = &mut turns;
    let next = |turn: &mut usize, count: usize| {
        *turn = (*turn + 1) % count;
        *turn
    };
    let race = race(
        Rounds { count: 41, seconds: 1e-3, clock: Clock::Thread },
        &mut *out,
        &mut [
            &mut |out: &mut [f64]| fixed(0, out),
            &mut |out| signed(&same, 0, out),
            &mut |out| fixed(next(fixed_turn, 2), out),
            &mut |out| signed(&two, next(two_turn, 2), out),
            &mut |out| signed(&other, FIRST + next(other_turn, RUNS - FIRST), out),
            &mut |out| {
                let turn = FIRST + next(new_turn, RUNS - FIRST);
                let plan = Plan::with_level(&runs[turn].request, at.level()).unwrap();
                plan.run_into(&inputs[turn], f64::output(&mut out[..runs[turn].count])).unwrap();
            },
            &mut |_| {
                black_box(plan());
            },
        ],
    );
    let nanoseconds = |competitor| race.seconds(competitor) * 1e9;
    let mut cells = vec![case.name.to_owned()];
    cells.extend((0..7).map(|competitor| figure(nanoseconds(competitor))));
    cells.push(figure(race.ratio(4, 5)));
    table.row(cells);
    [nanoseconds(1) - nanoseconds(0), nanoseconds(3) - nanoseconds(2)]
}

fn main() {
    single_thread();
    let mut results = Results::new("signatures");
    let header = [
        "sum of f64",
        "fixed plan, ns",
        "same lengths, ns",
        "two fixed plans in turn, ns",
        "two lengths in turn, ns",
        "new lengths, ns",
        "new plan and run, ns",
        "planning the signature, ns",
        "new lengths over a new plan",
    ];
    let mut table = Table::new("runs", &header);
    let cases = [
        Case {
            name: "(?,3) + (?): (2 to 33,3) + (3)",
            declared: &["?x3", "?"],
            run: |turn| vec![vec![2 + turn, 3], vec![3]],
        },
        Case {
            name: "(?) + (?): 100 to 131 and 1",
            declared: &["?", "?"],
            run: |turn| vec![vec![100 + turn], vec![1]],
        },
        Case {
            name: "(?,?,?) + (?,?): (4,5,6 to 37) + (5,1)",
            declared: &["?x?x?", "?x?"],
            run: |turn| vec![vec![4, 5, 6 + turn], vec![5, 1]],
        },
        Case {
            name: "three of unknown rank: (4,6 to 37), (6 to 37) and ()",
            declared: &["...", "...", "..."],
            run: |turn| vec![vec![4, 6 + turn], vec![6 + turn], vec![]],
        },
    ];
    let at = At::detect();
    let beyond: Vec<[f64; 2]> = cases.iter().map(|case| measure(at, case, &mut table)).collect();
    results.table(table);
    for (case, [same, two]) in cases.iter().zip(beyond) {
        let name = |lengths| format!("{lengths}, beyond a fixed plan, {}", case.name);
        results.goal(goal_at_most(name("same lengths"), 30.0, same, " ns"));
        results.goal(goal_at_most(name("two lengths in turn"), 30.0, two, " ns"));
    }
    results.write();
}
