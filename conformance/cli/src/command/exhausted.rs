//! What `exhaust` found, as cases: one per signature, as small as it goes.

use super::finding_report::{Found, proposal, report_found};
use broadcheck::relations::{Attributes, Instance, Relation};
use broadcheck_search::exhaustive::{ExhaustReport, Finding};
use broadcheck_search::oracle::{Differential, Gradient, Oracle, Relations, Signature};
use broadcheck_search::shrink::{Limits, Sides, shrink};
use broadcheck_spec::Implementation;
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, RuleSet, Rules};
use std::collections::BTreeSet;
use std::path::Path;

/// Shrinks the findings and writes a case for each sort of them; what is said of it.
pub(super) fn write_cases(
    report: &ExhaustReport,
    implementations: &[&dyn Implementation],
    out: &Path,
) -> String {
    let mut text = String::new();
    let mut seen: BTreeSet<Signature> = BTreeSet::new();
    let mut without = 0;
    for finding in &report.findings {
        let Some((oracle, request, [left, right])) = question(finding, implementations) else {
            without += 1;
            continue;
        };
        let Some(found) = oracle.judge(&request).disagreement() else {
            without += 1;
            continue;
        };
        let shrunk = shrink(oracle.as_ref(), &request, found, &Limits::default());
        if !seen.insert(shrunk.disagreement.signature.clone()) {
            continue;
        }
        let sides = Sides::of(left, right, format!("broadcheck exhaust, {}", report.extent));
        let proposed = proposal(&shrunk, &sides, Some(out));
        text += &report_found(&Found { shrunk: &shrunk, hits: None, known: None, proposed: &proposed });
    }
    if without > 0 {
        text += &format!(
            "\n{without} findings are of relations that no single request shows: no case is proposed\n"
        );
    }
    text
}

/// An oracle that says the same of a request, with the two sides.
type Question<'a> = (Box<dyn Oracle + 'a>, Request, [&'a dyn Implementation; 2]);

fn question<'a>(finding: &Finding, implementations: &[&'a dyn Implementation]) -> Option<Question<'a>> {
    let named = |name: &str| implementations.iter().copied().find(|one| one.name() == name);
    let subject = named(finding.implementation())?;
    match finding {
        Finding::Difference { against, request, .. } => {
            let left = named(against)?;
            Some((Box::new(Differential::new(left, subject)), request.clone(), [left, subject]))
        }
        Finding::Broken { request, .. } => {
            Some((Box::new(Relations::new(subject)), request.clone(), [subject, subject]))
        }
        Finding::Violation { relation, instance, .. } => {
            let request = request_of(Relation::named(relation)?, instance)?;
            let oracles: [Box<dyn Oracle>; 2] =
                [Box::new(Relations::new(subject)), Box::new(Gradient::new(subject))];
            let oracle =
                oracles.into_iter().find(|oracle| oracle.judge(&request).disagreement().is_some())?;
            Some((oracle, request, [subject, subject]))
        }
    }
}

/// The request of which a relation speaks: a difference of two operands, under its rule set.
fn request_of(relation: &Relation, instance: &Instance) -> Option<Request> {
    let rules = match (relation.rules.first()?, &instance.attributes) {
        (RuleSet::None, _) => Rules::None,
        (RuleSet::Pdpd, Attributes::Axis(axis)) => Rules::Pdpd { axis: *axis },
        (RuleSet::Xla, Attributes::Dimensions(list)) => Rules::Xla { broadcast_dimensions: list.clone() },
        (RuleSet::Xla, _) => Rules::Xla { broadcast_dimensions: None },
        (RuleSet::Theano, _) => Rules::Theano,
        (RuleSet::Bidirectional, _) => Rules::Bidirectional,
        _ => Rules::Numpy,
    };
    let operand = |place: usize| {
        let shape = instance.shapes.get(place)?.clone();
        let count = u32::try_from(shape.count()?).ok()?;
        let values: Vec<f64> = (1..=count).map(|number| f64::from(number) * [1.0, 100.0][place]).collect();
        let operand = Operand::dense(["a", "b"][place], shape, values).ok()?;
        match &instance.attributes {
            Attributes::Flags(flags) => operand.with_broadcastable(flags[place].clone()).ok(),
            _ => Some(operand),
        }
    };
    if rules.set() == RuleSet::Bidirectional {
        let target_shape = instance.shapes.get(1)?.clone();
        return Request::new(rules, Operation::Broadcast { target_shape }, vec![operand(0)?]).ok();
    }
    let both = [Expression::operand(0), Expression::operand(1)];
    let expression = Expression::call(Function::Subtract, both).ok()?;
    Request::new(rules, Operation::Elementwise { expression }, vec![operand(0)?, operand(1)?]).ok()
}
