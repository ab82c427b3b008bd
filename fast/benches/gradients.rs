//! Gradients against a plain sum of everything that they read, which is what reading it costs.

mod support;

use broadcheck_fast::Level;
use broadcheck_spec::{Expression, Function, Operation};
use support::{Job, call, race, request, single_thread, slice, x};

/// The sum of a slice, in lanes so that the compiler vectorises it.
fn read(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 32];
    for chunk in values.chunks_exact(32) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum()
}

fn case(name: &str, shapes: &[&[usize]], expression: Expression, wrt: usize) {
    let request = request(shapes, Operation::Gradient { expression, wrt });
    let mut job = Job::new(&request);
    let largest = (0..shapes.len()).map(|place| slice(&request, place)).max_by_key(|values| values.len());
    let largest = largest.unwrap_or(&[]);
    let mut total = 0.0;
    let times = race(&mut [&mut || job.run(), &mut || total += read(largest)]);
    assert!(total > 0.0);
    println!("{name}: {:.2} of the read bandwidth", times[1] / times[0]);
}

fn main() {
    single_thread();
    println!("level {}; one thread", Level::detect());
    let product = || call(Function::Multiply, [x(0), x(1)]);
    case("sum of 4000x4000 to (4000)", &[&[4000, 4000], &[4000]], product(), 1);
    case("sum of 4000x4000 to (4000,1)", &[&[4000, 4000], &[4000, 1]], product(), 1);
    case("sum of 4000x4000 to (1)", &[&[4000, 4000], &[1]], product(), 1);
    case("exp(x*y) by a broadcast x, 100k", &[&[1], &[100_000]], call(Function::Exp, [product()]), 0);
}
