//! Plans in place against the same plan into another buffer, on one thread: `a = maximum(a, b)` where each
//! element is read where it is written, where the destination has gaps, and where it is read backwards, so
//! that the whole result is computed first.
mod support;

use broadcheck_fast::{Input, Output, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use support::race::{Clock, Competitor, Rounds};
use support::results::figure;
use support::{Results, Table, call, race, single_thread};

fn plan(operands: Vec<Operand>, in_place: bool) -> Plan {
    let expression = call(Function::Maximum, [0, 1].map(Expression::operand));
    let operation = if in_place {
        Operation::Into { expression, destination: 0 }
    } else {
        Operation::Elementwise { expression }
    };
    Plan::new(&Request::new(Rules::Numpy, operation, operands).unwrap()).unwrap()
}

/// The same view of an array of its own.
fn without_destination(operand: &Operand) -> Operand {
    let shape = operand.shape().clone();
    let strides = operand.strides().map(<[_]>::to_vec);
    Operand::view(operand.name(), shape, operand.values().clone(), strides, operand.offset()).unwrap()
}

/// The time in place over that into another buffer.
fn ratio(count: usize, a: &Operand, b: &Operand) -> f64 {
    let length = a.values().len();
    let values: Vec<f32> = (0..length).map(|place| (place % 1000) as f32).collect();
    let other = vec![500.0f32; count];
    let into = plan(vec![a.clone(), b.clone()], true);
    // Only a request with a destination may have an operand that reads it.
    let apart = plan(vec![a.clone(), without_destination(b)], false);
    let own: Vec<Input<'_>> = if b.reads_destination() { vec![] } else { vec![Input::from(&other[..])] };
    let second = own.first().copied().unwrap_or(Input::from(&values[..]));
    let mut out = vec![0.0f32; count];
    let mut buffer = values.clone();
    let mut competitors: [Competitor<'_, [f32]>; 2] =
        [&mut |_| into.run_in_place(&own, Output::from(&mut buffer[..])).unwrap(), &mut |out| {
            apart.run_into(&[Input::from(&values[..]), second], Output::from(out)).unwrap();
        }];
    let rounds = Rounds { count: 15, seconds: 1e-3, clock: Clock::Thread };
    race(rounds, &mut out[..], &mut competitors).ratio(0, 1)
}

fn main() {
    single_thread();
    let mut results = Results::new("in_place");
    let header = ["elements, f32", "where it is read", "with gaps", "backwards"];
    let mut table = Table::new("ratios", &header);
    for count in [1_000, 100_000, 1_000_000, 8_000_000] {
        let zeros = |length: usize| vec![0.0f32; length];
        let a = Operand::dense("a", [count], zeros(count)).unwrap();
        let b = Operand::dense("b", [count], zeros(count)).unwrap();
        let gaps = Operand::view("a", [count], zeros(2 * count), Some(vec![2]), 0).unwrap();
        let back = Operand::of(&a, "b", [count], Some(vec![-1]), Some(count - 1)).unwrap();
        let ratios = [ratio(count, &a, &b), ratio(count, &gaps, &b), ratio(count, &a, &back)];
        table.row([count.to_string()].into_iter().chain(ratios.map(figure)).collect());
    }
    results.table(table);
    results.write();
}
