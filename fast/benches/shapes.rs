//! Shapes as users have them, in bytes moved per second against what this machine's memory gives at the same
//! footprint (a triad in plain loops and with stores past the caches), and the cost of tiny calls.
#![allow(unsafe_code, reason = "the yardsticks are compiled for the machine's instructions")]

mod support;

use broadcheck_fast::{Level, Plan};
use broadcheck_spec::{Expression, Function, Request};
use support::{Job, call, elementwise, race, single_thread, x};

#[inline(always)]
fn add(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a + b;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512(a: &[f64], b: &[f64], out: &mut [f64]) {
    add(a, b, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_streaming(a: &[f64], b: &[f64], out: &mut [f64]) {
    use std::arch::x86_64::{_mm_sfence, _mm512_add_pd, _mm512_loadu_pd, _mm512_stream_pd};
    let skip = out.as_ptr().align_offset(64).min(out.len());
    let lines = (out.len() - skip) / 8;
    for line in 0..lines {
        let at = skip + line * 8;
        // SAFETY: `at + 8 <= len` for all three, and `out[at]` stands on a line's boundary.
        unsafe {
            let sum = _mm512_add_pd(_mm512_loadu_pd(a.as_ptr().add(at)), _mm512_loadu_pd(b.as_ptr().add(at)));
            _mm512_stream_pd(out.as_mut_ptr().add(at), sum);
        }
    }
    _mm_sfence();
}

/// Bytes per second that an addition of two arrays moves, where the three of them are of this many bytes.
fn limit(bytes: usize) -> f64 {
    let count = (bytes / 24).max(64);
    let (a, b) = (support::numbers(count, 1), support::numbers(count, 2));
    let (mut plain, mut streamed) = (vec![0.0; count], vec![0.0; count]);
    let mut loops = || {
        #[cfg(target_arch = "x86_64")]
        if Level::Avx512.is_available() {
            // SAFETY: the machine has the level.
            unsafe { add_avx512(&a, &b, &mut plain) };
            return;
        }
        add(&a, &b, &mut plain);
    };
    let mut streams = || {
        #[cfg(target_arch = "x86_64")]
        if Level::Avx512.is_available() {
            // SAFETY: the machine has the level.
            unsafe { add_streaming(&a, &b, &mut streamed) };
        }
    };
    let times = race(&mut [&mut loops, &mut streams]);
    let best = if Level::Avx512.is_available() { times[0].min(times[1]) } else { times[0] };
    (count * 24) as f64 / best
}

fn bytes(request: &Request, count: usize) -> usize {
    8 * (count + request.operands().iter().map(|operand| operand.values().len()).sum::<usize>())
}

fn case(name: &str, shapes: &[&[usize]], expression: Expression) {
    let request = elementwise(shapes, expression);
    let mut job = Job::new(&request);
    let moved = bytes(&request, job.output.len());
    let limit = limit(moved);
    let time = race(&mut [&mut || job.run()])[0];
    let rate = moved as f64 / time;
    println!(
        "{name}: {:.3} ns per element, {:.2} of the limit",
        time * 1e9 / job.output.len() as f64,
        rate / limit
    );
}

fn main() {
    single_thread();
    println!("level {}; one thread", Level::detect());
    let sum = || call(Function::Add, [x(0), x(1)]);
    case("matrix + row, 4000x4000", &[&[4000, 4000], &[4000]], sum());
    case("matrix + column, 4000x4000", &[&[4000, 4000], &[4000, 1]], sum());
    case("outer sum, 4000x4000", &[&[4000, 1], &[4000]], sum());
    case("(1000000,3) + (3)", &[&[1_000_000, 3], &[3]], sum());
    case("(1000000,3) + (1000000,1)", &[&[1_000_000, 3], &[1_000_000, 1]], sum());
    case("(10000,3) + (3)", &[&[10_000, 3], &[3]], sum());
    case("(10000,3) + (10000,1)", &[&[10_000, 3], &[10_000, 1]], sum());
    case("(32,64,56,56) + (64,1,1)", &[&[32, 64, 56, 56], &[64, 1, 1]], sum());
    case("rank 6, alternating", &[&[16, 1, 16, 1, 16, 1], &[1, 16, 1, 16, 1, 16]], sum());
    let centred = call(Function::Subtract, [x(0), x(1)]);
    let scaled = call(Function::Multiply, [call(Function::Multiply, [centred, x(2)]), x(3)]);
    let norm = call(Function::Add, [scaled, x(4)]);
    case("(x-m)*r*g+b, 1000x1000", &[&[1000, 1000], &[1000, 1], &[1000, 1], &[1000], &[1000]], norm);
    let logistic = call(Function::Exp, [call(Function::Negate, [x(0)])]);
    let swish = call(Function::Divide, [x(0), call(Function::Add, [x(1), logistic])]);
    case("x/(1+exp(-x)), 100k", &[&[100_000], &[1]], swish);
    case(
        "exp(x*y), 100k",
        &[&[100_000], &[100_000]],
        call(Function::Exp, [call(Function::Multiply, [x(0), x(1)])]),
    );

    let request = elementwise(&[&[2, 3], &[3]], sum());
    let mut job = Job::new(&request);
    let mut planned = Job::new(&request);
    let times = race(&mut [&mut || job.run(), &mut || {
        planned.plan = Plan::new(&request).unwrap();
        planned.run();
    }]);
    println!("(2,3) + (3): {:.0} ns with a plan, {:.0} ns with planning", times[0] * 1e9, times[1] * 1e9);
}
