//! Measures in stages which planted faults the cases catch, which of the others the sweeps catch, and which
//! of the rest the generator catches. Takes the beginning of an id and `cases`, `sweeps` or `requests`, the
//! last stage; `no-sweeps` leaves out the sweeps, which are slow; `generator` asks the generator alone.

use broadcheck_faults::hunt::{Cases, LIMIT, SEED, first_case, first_sweeps, requests};
use broadcheck_faults::{CATALOGUE, Class, Fault};
use broadcheck_spec::Suite;
use rayon::prelude::*;

/// Prints how many faults of each class are left, and their ids.
fn print(stage: &str, all: &[&'static Fault], left: &[&'static Fault]) {
    println!("after {stage}: {} of {} faults are left", left.len(), all.len());
    for class in Class::ALL {
        let count = |faults: &[&Fault]| faults.iter().filter(|fault| fault.class == class).count();
        if count(all) > 0 {
            println!("{class}: {} of {} caught", count(all) - count(left), count(all));
        }
    }
    for fault in left {
        println!("  {}", fault.id);
    }
}

fn main() {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let prefix = std::env::args().nth(1).unwrap_or_default();
    let last = std::env::args().nth(2).unwrap_or_default();
    let all: Vec<&'static Fault> =
        CATALOGUE.iter().copied().filter(|fault| fault.id.starts_with(&prefix)).collect();
    if last == "generator" {
        let found = requests(&all, SEED, LIMIT);
        let left: Vec<&'static Fault> = all
            .iter()
            .copied()
            .zip(found)
            .filter(|(_, found)| found.is_none())
            .map(|(fault, _)| fault)
            .collect();
        print("requests", &all, &left);
        return;
    }
    let cases = Cases::new(&suite);
    let left: Vec<&'static Fault> =
        all.par_iter().copied().filter(|fault| first_case(fault, &cases).is_none()).collect();
    print("the cases", &all, &left);
    if last == "cases" {
        return;
    }
    let found = if last == "no-sweeps" { vec![None; left.len()] } else { first_sweeps(&left, &suite.sweeps) };
    let left: Vec<&'static Fault> =
        left.into_iter().zip(found).filter(|(_, found)| found.is_none()).map(|(fault, _)| fault).collect();
    print("cases and sweeps", &all, &left);
    if last == "sweeps" {
        return;
    }
    let found = requests(&left, SEED, LIMIT);
    let left: Vec<&'static Fault> =
        left.into_iter().zip(found).filter(|(_, found)| found.is_none()).map(|(fault, _)| fault).collect();
    print("cases, sweeps and requests", &all, &left);
}
