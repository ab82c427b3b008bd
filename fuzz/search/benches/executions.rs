//! Measures requests per second, on one core, for each part of a fuzzer's execution (drawing, decoding, the
//! reference, the fast engine, comparing) and for all of it as `broadcheck fuzz` does it.
//!
//! `cargo bench -p broadcheck-search --bench executions`. `BENCH_REQUESTS` and `BENCH_ROUNDS` set how many
//! requests are drawn and how often they are run; the result is the median of the rounds. `BENCH_ONLY`
//! selects one part, for a profiler.

use broadcheck_fast::Fast;
use broadcheck_judge::compare::{Latitude, compare_outcomes};
use broadcheck_reference::Reference;
use broadcheck_search::fuzzing::{drawn, drawn_signature};
use broadcheck_search::generate::{Profile, decode, encode};
use broadcheck_search::inference::{Both, Relation};
use broadcheck_search::oracle::{Differential, Judgement, Oracle};
use broadcheck_spec::Implementation;
use broadcheck_spec::{Operation, Outcome, Request, Signature};
use std::hint::black_box;
use std::time::Instant;

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Requests per second, the median of the rounds.
#[allow(clippy::cast_precision_loss, reason = "a rate to read; no count comes near 2^53")]
fn measure(name: &str, count: usize, run: &mut dyn FnMut()) {
    if std::env::var("BENCH_ONLY").is_ok_and(|only| only != name) {
        return;
    }
    run();
    let mut rates: Vec<f64> = (0..setting("BENCH_ROUNDS", 15))
        .map(|_| {
            let start = Instant::now();
            run();
            count as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    println!("  {name:<22} {median:>12.0} per second {:>9.2} µs each", 1e6 / median);
}

fn values(request: &Request) -> usize {
    request.operands().iter().map(|operand| operand.values().len()).sum()
}

fn main() {
    let count = setting("BENCH_REQUESTS", 4_000);
    let all = Profile::all();
    let small = Profile::all().with_large(0).with_max_elements(64);
    println!("{count} requests, one thread");
    for (title, profile) in [("small requests: results of at most 64 elements", small), ("as drawn", all)] {
        let requests: Vec<Request> = (0..count as u64).map(|number| drawn(1, number, &profile)).collect();
        let bytes: Vec<Vec<u8>> = requests.iter().map(encode).collect();
        let (reference, fast) = (Reference::new(), Fast::new());
        let oracle = Differential::new(&reference, &fast);
        let outcomes: Vec<[Outcome; 2]> =
            requests.iter().map(|request| [reference.run(request), fast.run(request)]).collect();
        let latitude = Latitude::of_both(&reference, &fast);
        let disagreeing =
            requests.iter().filter(|request| matches!(oracle.judge(request), Judgement::Disagreement(_)));
        let gradients =
            requests.iter().filter(|r| matches!(r.operation(), Operation::Gradient { .. })).count();
        println!(
            "\n{title}: {} values on average, {gradients} gradients, {} disagreeing",
            requests.iter().map(values).sum::<usize>() / count,
            disagreeing.count()
        );
        measure("draw", count, &mut || {
            for number in 0..count as u64 {
                black_box(drawn(1, number, &profile));
            }
        });
        measure("decode", count, &mut || bytes.iter().for_each(|bytes| drop(black_box(decode(bytes)))));
        measure("reference", count, &mut || {
            requests.iter().for_each(|request| drop(black_box(reference.run(request))));
        });
        measure("fast", count, &mut || {
            requests.iter().for_each(|request| drop(black_box(fast.run(request))));
        });
        measure("compare", count, &mut || {
            for (request, [one, other]) in requests.iter().zip(&outcomes) {
                black_box(compare_outcomes(request, one, other, latitude));
            }
        });
        measure("differential", count, &mut || {
            requests.iter().for_each(|request| drop(black_box(oracle.judge(request))));
        });
        measure("draw and differential", count, &mut || {
            for number in 0..count as u64 {
                black_box(oracle.judge(&drawn(1, number, &profile)));
            }
        });
    }
    measure_signatures(count);
}

/// The same for signatures of the operation `infer`.
fn measure_signatures(count: usize) {
    let profile = Profile::within(Reference.capabilities());
    let drawn = |number: u64| drawn_signature(1, number, &profile);
    let signatures: Vec<Signature> = (0..count as u64).filter_map(drawn).collect();
    let count = signatures.len();
    let (reference, fast) = (Reference::new(), Fast::new());
    let both = Both::new(&reference, &fast);
    println!("\nsignatures");
    measure("draw a signature", count, &mut || {
        (0..count as u64).for_each(|number| drop(black_box(drawn(number))));
    });
    for one in [&reference as &dyn Implementation, &fast] {
        measure(&format!("{} infers", one.name()), count, &mut || {
            signatures.iter().for_each(|signature| drop(black_box(one.infer(signature))));
        });
    }
    let mut relation = Relation::trying(6_000);
    measure("runs", count, &mut || {
        signatures.iter().for_each(|signature| drop(black_box(relation.runs(signature))));
    });
    measure("draw, infer and judge", count, &mut || {
        for number in 0..count as u64 {
            black_box(drawn(number).map(|signature| both.judge(&signature, &mut relation)));
        }
    });
}
