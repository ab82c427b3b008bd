//! Every fault of the newer classes changes an answer: for each, one of these requests exposes it. They were
//! written for the faults, without regard to the cases, so that a fault that the suite misses is a gap of the
//! suite and not a fault without an effect.

mod kernels;
mod rewrites;
mod state;
mod support;
mod views;

use broadcheck::run::run_caught;
use broadcheck_faults::{CATALOGUE, Class, Faulty};
use broadcheck_reference::Reference;
use broadcheck_search::oracle::{Judgement, differential};
use broadcheck_spec::{Capabilities, Implementation, Outcome, Request};
use rayon::prelude::*;

struct Answered(Outcome, Capabilities);

impl Implementation for Answered {
    fn name(&self) -> &str {
        "answered"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.1
    }

    fn version(&self) -> &str {
        ""
    }

    fn run(&self, _: &Request) -> Outcome {
        self.0.clone()
    }

    fn allowed_ulp(&self) -> u32 {
        1
    }
}

fn requests(class: Class) -> Vec<Request> {
    match class {
        Class::Rewrites => rewrites::rewrites(),
        Class::Kernels => kernels::kernels(),
        Class::Views => views::views(),
        Class::State => state::state(),
        Class::ManyOperands => views::many(),
        Class::Sums => views::sums(),
        _ => Vec::new(),
    }
}

const NEW: [Class; 6] =
    [Class::Rewrites, Class::Kernels, Class::Views, Class::State, Class::ManyOperands, Class::Sums];

#[test]
fn every_fault_changes_an_answer() {
    for class in NEW {
        let requests = requests(class);
        let answer = |outcome| Answered(outcome, Faulty::sound().capabilities().clone());
        let expected: Vec<Answered> =
            requests.par_iter().map(|request| answer(run_caught(&Reference, request))).collect();
        let sound = Faulty::sound();
        let is_exposed = |engine: &Faulty| {
            requests.iter().zip(&expected).find(|(request, expected)| {
                let found = run_caught(engine, request);
                found != expected.0
                    && matches!(differential(*expected, &answer(found), request), Judgement::Disagreement(_))
            })
        };
        if let Some((request, _)) = is_exposed(&sound) {
            panic!("{class}: without a fault, {:?} {:?}", request.operation(), request.operands());
        }
        let faults: Vec<_> = CATALOGUE.iter().filter(|fault| fault.class == class).collect();
        let hidden: Vec<&str> = faults
            .par_iter()
            .filter(|fault| is_exposed(&Faulty::new(fault)).is_none())
            .map(|fault| fault.id)
            .collect();
        assert!(hidden.is_empty(), "no request exposes {hidden:#?}");
    }
}
