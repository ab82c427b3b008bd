//! Measures which planted faults the cases, the sweeps and the generator catch, in the order of the suite.
use broadcheck_faults::hunt::{Cases, LIMIT, SEED};
use broadcheck_faults::table::{rows, totals};
use broadcheck_faults::{CATALOGUE, Fault};
use broadcheck_spec::Suite;

fn main() {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let prefix = std::env::args().nth(1).unwrap_or_default();
    let limit = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(LIMIT);
    let faults: Vec<&'static Fault> =
        CATALOGUE.iter().copied().filter(|fault| fault.id.starts_with(&prefix)).collect();
    let rows = rows(&faults, &Cases::new(&suite.cases), &suite.sweeps, SEED, limit);
    for row in &rows {
        let case = row.case.map_or("-", |case| &case.id);
        let sweep = row.sweep.map_or("-", |sweep| &sweep.id);
        println!("{} | {} {case} | {sweep} | {:?}", row.fault.id, row.cases, row.requests);
    }
    print!("{}", totals(&rows));
}
