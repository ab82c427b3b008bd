//! Requests and expectations in words, for failure messages.

use crate::compare::describe_refusal;
use crate::pad::padded;
use broadcheck_spec::{Data, Expectation, Operand, Operation, Request, Rules, Tensor};

/// How many values of a tensor are written out.
const MAX_VALUES: usize = 24;

/// The request in lines: the rule set and what is asked, then one line per operand.
pub fn describe_request(request: &Request) -> Vec<String> {
    let names = request.names();
    let operation = match request.operation() {
        Operation::Elementwise { expression } => format!("elementwise {}", expression.display(&names)),
        Operation::Broadcast { target_shape } => format!("broadcast to {target_shape}"),
        Operation::Gradient { expression, wrt } => {
            format!("gradient of {} by {}", expression.display(&names), names[*wrt])
        }
    };
    let mut lines = vec![format!("{}, {operation}", rules(request.rules()))];
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    lines.extend(request.operands().iter().map(|operand| describe_operand(operand, width)));
    lines
}

fn rules(rules: &Rules) -> String {
    match rules {
        Rules::Pdpd { axis: Some(axis) } => format!("pdpd, axis {axis}"),
        Rules::Xla { broadcast_dimensions: Some(dimensions) } => {
            let list: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
            format!("xla, broadcast_dimensions [{}]", list.join(", "))
        }
        other => other.set().to_string(),
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
    format!("{text} {}", describe_values(operand.values()))
}

/// What is expected, in lines.
pub fn describe_expectation(request: &Request, expectation: &Expectation) -> Vec<String> {
    match expectation {
        Expectation::Refusal(refusal) => vec![format!("refusal: {}", describe_refusal(request, refusal))],
        Expectation::Result(result) => {
            let mut lines = vec![describe_tensor(&result.tensor)];
            lines
                .extend(result.intermediate.as_ref().map(|t| format!("intermediate {}", describe_tensor(t))));
            lines.extend(result.broadcastable.as_ref().map(|flags| format!("broadcastable {flags:?}")));
            lines
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
