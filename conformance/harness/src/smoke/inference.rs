//! The signatures of the smoke test: the simplest one for everything that may be unknown before the run.

use super::probes::{easy, rule_sets};
use broadcheck_spec::{Capabilities, DType, Function, OperationKind, RuleSet, Signature, Unknown, json};
use serde_json::{Value, json};

/// A signature to send, and the advice if the answer is wrong.
pub(super) struct SignatureProbe {
    pub(super) name: String,
    /// `None` if the implementation declares no suitable one.
    pub(super) signature: Option<Signature>,
    pub(super) hint: String,
}

/// The probes of an implementation that declares `infer`, in order.
pub(super) fn signature_probes(able: &Capabilities) -> Vec<SignatureProbe> {
    let known =
        "answer {\"seq\":N,\"inferred\":{\"dtype\":…,\"shape\":[…]}}; lengths that are known stay known";
    let refused = "shapes that no run can broadcast are refused as in a run: {\"seq\":N,\"refusal\":{\"message\":\"…\"}}";
    let mut probes = vec![
        SignatureProbe {
            name: "infer from known lengths".into(),
            signature: first(able, &json!([2]), &json!([2])),
            hint: known.into(),
        },
        SignatureProbe {
            name: "infer that every run is refused".into(),
            signature: first(able, &json!([2]), &json!([3])),
            hint: refused.into(),
        },
    ];
    for &unknown in &able.unknown {
        let (name, shape) = match unknown {
            Unknown::Length => ("an unknown length", json!(["?"])),
            Unknown::Bound => ("a length with an upper bound", json!([{ "max": 2 }])),
            Unknown::Interval => ("a length with a lower bound", json!([{ "min": 1, "max": 3 }])),
            Unknown::Rank => ("an unknown rank", json!("...")),
        };
        probes.push(SignatureProbe {
            name: format!("infer from {name}"),
            signature: first(able, &shape, &json!([2])),
            hint: format!(
                "the shape must admit the result of every run that is accepted; if the library cannot express {name}, \
                 write {} in the answer to `start`",
                without(able, unknown)
            ),
        });
    }
    probes
}

/// What may be unknown and is not declared: such signatures are not sent.
pub(super) fn undeclared(able: &Capabilities) -> Vec<&'static str> {
    let missing = Unknown::ALL.into_iter().filter(|unknown| !able.unknown.contains(unknown));
    missing.map(Unknown::name).collect()
}

/// The field without one of its words: `"unknown":["length"]`.
fn without(able: &Capabilities, unknown: Unknown) -> String {
    let others = able.unknown.iter().filter(|&&other| other != unknown).map(|other| other.name());
    format!("\"unknown\":{}", json!(others.collect::<Vec<_>>()))
}

/// The first signature of two operands of these shapes, or of an operand and a target, that is covered.
fn first(able: &Capabilities, one: &Value, other: &Value) -> Option<Signature> {
    let dtype = easy(able);
    let operand = |name: &str, shape: &Value| json!({ "name": name, "dtype": dtype, "shape": shape });
    let binary = |function: &&Function| {
        function.arity() == 2 && dtype.parse::<DType>().is_ok_and(|dtype| able.has(**function, dtype))
    };
    let call = able.functions.iter().find(binary).map(|function| json!([function.name(), "a", "b"]));
    let both = json!([operand("a", one), operand("b", other)]);
    let calls = call.into_iter().chain([json!("a")]).flat_map(|expression| {
        let fields = json!({ "expression": expression, "operands": both });
        rule_sets(OperationKind::Elementwise).filter_map(move |rules| signature(rules, fields.clone()))
    });
    let onto = json!({ "operands": [operand("a", one)], "target_shape": other });
    let whole = rule_sets(OperationKind::Broadcast).filter_map(|rules| signature(rules, onto.clone()));
    calls.chain(whole).find(|signature| able.covers_signature(signature).is_ok())
}

/// The signature of these fields; `None` if it is not valid under this rule set.
fn signature(rules: RuleSet, mut fields: Value) -> Option<Signature> {
    fields["rules"] = rules.name().into();
    fields["operation"] = "infer".into();
    json::signature_from_value(fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_set_can_be_asked() {
        for rules in RuleSet::ALL {
            let able = Capabilities {
                rules: vec![rules],
                infer: true,
                unknown: Unknown::ALL.to_vec(),
                ..Capabilities::all()
            };
            for SignatureProbe { name, signature, .. } in signature_probes(&able) {
                let has_ranks = matches!(rules, RuleSet::Xla | RuleSet::Theano);
                let expected = !has_ranks || !name.contains("rank");
                assert_eq!(signature.is_some(), expected, "{rules}: {name}");
            }
        }
        assert_eq!(
            undeclared(&Capabilities { unknown: vec![Unknown::Rank], ..Capabilities::all() }),
            ["length", "bound", "interval"]
        );
    }

    #[test]
    fn a_hint_names_the_field_without_the_word() {
        let able = Capabilities {
            infer: true,
            unknown: vec![Unknown::Length, Unknown::Rank],
            ..Capabilities::all()
        };
        let hints: Vec<String> = signature_probes(&able).into_iter().map(|probe| probe.hint).collect();
        assert_eq!(hints.len(), 4);
        assert!(hints[2].contains("\"unknown\":[\"rank\"]") && hints[3].contains("\"unknown\":[\"length\"]"));
    }
}
