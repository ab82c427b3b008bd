//! Time per element and per unit of work as elements, operands, operations and rank grow: each should level out.

mod support;

use broadcheck_fast::Level;
use broadcheck_spec::{Expression, Function};
use support::{Job, call, elementwise, race, single_thread, x};

fn time(shapes: &[&[usize]], expression: Expression) -> f64 {
    let request = elementwise(shapes, expression);
    let mut job = Job::new(&request);
    race(&mut [&mut || job.run()])[0] * 1e9
}

fn main() {
    single_thread();
    println!("level {}; one thread; nanoseconds", Level::detect());
    let sum = |count: usize| (1..count).fold(x(0), |sum, place| call(Function::Add, [sum, x(place)]));
    for power in 0..=8 {
        let count = 10usize.pow(power);
        let time = time(&[&[count], &[count]], sum(2));
        println!("elements {count}: {:.3} per call, {:.4} per element", time, time / count as f64);
    }
    for operands in [1, 2, 4, 8, 16, 32, 64] {
        let shapes: Vec<&[usize]> = vec![&[10_000]; operands];
        let time = time(&shapes, sum(operands));
        println!("operands {operands}: {:.4} per element and operand", time / 1e4 / operands as f64);
    }
    for operations in [1, 2, 4, 8, 16, 32, 64] {
        let step = |value: Expression, at: usize| {
            if at.is_multiple_of(2) {
                call(Function::Sqrt, [value])
            } else {
                call(Function::Add, [value, x(0)])
            }
        };
        let time = time(&[&[10_000]], (0..operations).fold(x(0), step));
        println!("operations {operations}: {:.4} per element and operation", time / 1e4 / operations as f64);
    }
    for rank in [1, 2, 4, 8, 16] {
        // 65536 elements; every other axis is broadcast in the second operand.
        let length = 1 << (16 / rank);
        let full = vec![length; rank];
        let part: Vec<usize> = (0..rank).map(|axis| if axis % 2 == 0 { length } else { 1 }).collect();
        let time = time(&[&full, &part], sum(2));
        println!("rank {rank}: {:.4} per element", time / 65_536.0);
    }
}
