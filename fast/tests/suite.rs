//! Compares the engine with the interpreter on every case of the suite and every SIMD level that the machine
//! has.

mod support;

use broadcheck_fast::{Fast, Level};
use broadcheck_reference::Reference;
use broadcheck_spec::{Exactness, Expression, Implementation, Outcome, Request, Suite};
use support::agree;

/// Whether the result is determined to 2 ULP: there is no inexact function, or only one at the root.
fn is_determined(request: &Request) -> bool {
    let Some(expression) = request.operation().expression() else { return true };
    let inexact: Vec<bool> =
        expression.calls().map(|call| call.function().exactness() == Exactness::Ulp).collect();
    let count = inexact.iter().filter(|&&inexact| inexact).count();
    count == 0 || (count == 1 && inexact.last() == Some(&true))
}

#[test]
fn all_cases() {
    let suite = Suite::builtin().unwrap();
    let (mut compared, mut other) = (0, 0);
    let engines: Vec<Fast> = Level::available().map(|level| Fast::with_level(level).unwrap()).collect();
    for case in &suite.cases {
        let expected = Reference::new().run(&case.request);
        for engine in &engines {
            let found = engine.run(&case.request);
            if is_determined(&case.request) || !matches!(expected, Outcome::Success(_)) {
                compared += 1;
                if let Err(complaint) = agree(&case.request, &expected, &found) {
                    let text = case.request.operation().expression().map(Expression::nodes);
                    panic!("{} {}: {complaint} {text:?}", engine.name(), case.id);
                }
            } else {
                other += 1;
                assert!(matches!(found, Outcome::Success(_)), "{} {}", engine.name(), case.id);
            }
        }
    }
    assert!(compared > 10 * other, "{compared} results were compared, {other} were not");
}
