//! Requests and expectations in words, for failure messages.
//!
//! [`describe_request`] writes a request on several lines, with its values; [`summarize_request`] writes it
//! on one line, without them.

use crate::compare::describe_refusal;
use crate::text::padded;
use broadcheck_spec::{
    Asked, Data, Expectation, Inference, Operand, Operation, Request, Rules, Signature, Tensor,
};

/// How many values of a tensor are written out.
const MAX_VALUES: usize = 24;

/// The request on several lines: the rule set and the operation, then one line per operand.
pub fn describe_request(request: &Request) -> Vec<String> {
    let operation = match request.operation() {
        Operation::Elementwise { .. } | Operation::Into { .. } => {
            format!("elementwise {}", computation(request))
        }
        Operation::Broadcast { target_shape } => format!("broadcast to {target_shape}"),
        Operation::Gradient { .. } | Operation::Vjp { .. } => computation(request),
    };
    let attribute = attribute(request.rules()).map_or_else(String::new, |text| format!(" {text},"));
    let mut lines = vec![format!("{},{attribute} {operation}", request.rules().set())];
    let width = request.with_values().map(|operand| operand.name().len()).max().unwrap_or(0);
    lines.extend(request.with_values().map(|operand| describe_operand(operand, width)));
    lines
}

/// The request on one line: `xla [subtract, a, b] a (2,3) b (3) broadcast_dimensions [1]`.
pub fn summarize_request(request: &Request) -> String {
    let mut text = format!("{} {}", request.rules().set(), computation(request));
    for operand in request.with_values() {
        let flags = operand.broadcastable().map_or_else(String::new, |flags| format!(" flags {flags:?}"));
        text += &format!(" {} {}{flags}", operand.name(), operand.shape());
    }
    if let Some(target) = request.operation().target_shape() {
        text += &format!(" to {target}");
    }
    if let Some(attribute) = attribute(request.rules()) {
        text += &format!(" {attribute}");
    }
    text
}

/// What is computed: an expression, perhaps `into …`; `gradient of … by …`, perhaps `with cotangent …`;
/// or `broadcast`.
fn computation(request: &Request) -> String {
    let names = request.names();
    match request.operation() {
        Operation::Elementwise { expression } => expression.display(&names).to_string(),
        Operation::Into { expression, destination } => {
            format!("{} into {}", expression.display(&names), names[*destination])
        }
        Operation::Broadcast { .. } => "broadcast".into(),
        Operation::Gradient { expression, wrt } => {
            format!("gradient of {} by {}", expression.display(&names), names[*wrt])
        }
        Operation::Vjp { expression, wrt, target_shape, cotangent } => {
            let of = match target_shape {
                Some(_) => "broadcast".into(),
                None => expression.display(&names).to_string(),
            };
            format!("gradient of {of} by {} with cotangent {}", names[*wrt], cotangent.name())
        }
    }
}

/// `axis 1` or `broadcast_dimensions [1, 2]`, if the attribute is given.
fn attribute(rules: &Rules) -> Option<String> {
    match rules {
        Rules::Pdpd { axis } => axis.map(|axis| format!("axis {axis}")),
        Rules::Xla { broadcast_dimensions } => {
            broadcast_dimensions.as_ref().map(|list| format!("broadcast_dimensions {list:?}"))
        }
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => None,
    }
}

fn describe_operand(operand: &Operand, width: usize) -> String {
    let mut text = format!("{}  {} {}", padded(operand.name(), width), operand.dtype(), operand.shape());
    if let Some(flags) = operand.broadcastable() {
        text += &format!(" broadcastable {flags:?}");
    }
    if let Some(strides) = operand.strides() {
        text += &format!(" strides {strides:?} offset {} of", operand.offset());
    }
    if operand.reads_destination() {
        return format!("{text} the destination's buffer");
    }
    format!("{text} {}", describe_values(operand.values()))
}

/// The expectation on one or more lines.
pub fn describe_expectation(request: &Request, expectation: &Expectation) -> Vec<String> {
    match expectation {
        Expectation::Refusal(refusal) => {
            vec![format!("refusal: {}", describe_refusal(&request.names(), refusal))]
        }
        Expectation::Result(result) => {
            let mut lines = vec![describe_tensor(&result.tensor)];
            lines
                .extend(result.intermediate.as_ref().map(|t| format!("intermediate {}", describe_tensor(t))));
            lines.extend(result.broadcastable.as_ref().map(|flags| format!("broadcastable {flags:?}")));
            lines
        }
    }
}

/// The signature on several lines: the rule set and the operation, then one line per operand.
pub fn describe_signature(signature: &Signature) -> Vec<String> {
    let names = signature.names();
    let asked = match signature.asked() {
        Asked::Expression(expression) => format!("infer {}", expression.display(&names)),
        Asked::TargetShape(target) => format!("infer broadcast to {target}"),
    };
    let attribute = attribute(signature.rules()).map_or_else(String::new, |text| format!(" {text},"));
    let mut lines = vec![format!("{},{attribute} {asked}", signature.rules().set())];
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    lines.extend(signature.operands().iter().map(|operand| {
        let flags =
            operand.broadcastable().map_or_else(String::new, |flags| format!(" broadcastable {flags:?}"));
        format!("{}  {} {}{flags}", padded(operand.name(), width), operand.dtype(), operand.shape())
    }));
    lines
}

/// The expectation of an inference on one or more lines.
pub fn describe_expected_inference(
    signature: &Signature,
    expectation: &Expectation<Inference>,
) -> Vec<String> {
    match expectation {
        Expectation::Refusal(refusal) => {
            vec![format!("refusal: {}", describe_refusal(&signature.names(), refusal))]
        }
        Expectation::Result(inference) => {
            let flags = inference.broadcastable.as_ref().map(|flags| format!("broadcastable {flags:?}"));
            [inference.to_string()].into_iter().chain(flags).collect()
        }
    }
}

fn describe_tensor(tensor: &Tensor) -> String {
    format!("{} {} {}", tensor.dtype(), tensor.shape(), describe_values(tensor.values()))
}

fn describe_values(values: &Data) -> String {
    let mut texts: Vec<String> = values.iter().take(MAX_VALUES).map(|value| value.to_string()).collect();
    if values.len() > MAX_VALUES {
        texts.push(format!("... {} values", values.len()));
    }
    format!("[{}]", texts.join(", "))
}
