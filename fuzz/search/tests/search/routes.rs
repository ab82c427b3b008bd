//! Which ways of the fast engine random requests take: a way that none takes would not be compared with the
//! reference.

use broadcheck_fast::Plan;
use broadcheck_search::generate::{Profile, Seeded, request};
use broadcheck_spec::{Capabilities, OperationKind, RuleSet};
use std::collections::BTreeMap;

/// How many of the plans of random requests compute in each way, and the number of plans.
fn ways(profile: &Profile, requests: usize) -> (BTreeMap<&'static str, usize>, usize) {
    let mut choices = Seeded::new(5);
    let (mut counts, mut planned) = (BTreeMap::new(), 0);
    for _ in 0..requests {
        if let Ok(plan) = Plan::new(&request(&mut choices, profile)) {
            *counts.entry(plan.route_name()).or_default() += 1;
            planned += 1;
        }
    }
    println!("of {planned} plans: {counts:?}");
    (counts, planned)
}

fn floor(profile: &Profile, requests: usize, least: &[(&str, usize)]) {
    let (counts, planned) = ways(profile, requests);
    for &(way, least) in least {
        let count = counts.get(way).copied().unwrap_or(0);
        assert!(count >= least, "{way}: {count} of {planned} plans, expected {least} at least");
    }
}

/// One in 2048 requests has operands that are transposed, or stretched along rows or a short inner axis.
#[test]
fn requests_take_every_way() {
    let small = [
        ("nothing", 100),
        ("call", 100),
        ("chain", 50),
        ("condition", 30),
        ("bounds", 5),
        ("nested", 1000),
        ("step", 100),
        ("sum", 100),
        ("gradient", 100),
        ("tiles", 100),
    ];
    let laid_out = [("transposed", 3), ("pair", 3), ("chain of rows", 3), ("rows", 3), ("parts", 1)];
    floor(&Profile::all(), 120_000, &[&small[..], &laid_out].concat());
}

/// One in 1024 requests is about the size of a block, and few are larger or are one call. Here most are both.
#[test]
fn larger_calls_take_the_ways_of_larger_calls() {
    let mut capabilities = Capabilities::all();
    (capabilities.rules, capabilities.operations) = (vec![RuleSet::Numpy], vec![OperationKind::Elementwise]);
    (capabilities.max_operands, capabilities.max_calls) = (Some(2), Some(1));
    let profile = Profile::within(&capabilities).with_max_elements(1 << 14).with_large(50_000);
    let least = [("call", 100), ("pair", 5), ("transposed", 2), ("rows", 50), ("tiles", 100)];
    floor(&profile, 12_000, &least);
    capabilities.max_calls = Some(3);
    let profile = Profile::within(&capabilities).with_max_elements(1 << 14).with_large(50_000);
    floor(&profile, 4000, &[("chain", 3), ("chain of rows", 3), ("choice of rows", 2), ("nested", 10)]);
    // A call of three operands is a select.
    (capabilities.max_operands, capabilities.max_calls) = (Some(3), Some(1));
    let profile = Profile::within(&capabilities).with_max_elements(1 << 14).with_large(50_000);
    floor(&profile, 12_000, &[("select of rows", 3)]);
}

/// A million draws, for [COVERAGE.md](../../../COVERAGE.md).
#[test]
#[ignore = "measures for a minute: cargo test --release -p broadcheck-search --test search routes -- --ignored --nocapture"]
fn shares_of_all_ways() {
    let (counts, planned) = ways(&Profile::all(), 1_000_000);
    for (way, count) in counts {
        println!("| `{way}` | {count} | {:.4} % |", 100.0 * count as f64 / planned as f64);
    }
}
