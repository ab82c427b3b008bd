//! Writes cases and requests as YAML in the style of the case files. The text loads back as the same case.

use crate::signature::INFER;
use crate::{
    Asked, Case, Data, Expectation, ExpectedRefusal, ExpectedResult, Inference, InferenceCase, Operand,
    OperandType, OperationKind, PartialShape, Request, RuleSet, Rules, Scalar, Shape, Signature, Source,
    Tensor, lint,
};
use std::fmt::Display;
use std::fmt::Write as _;

/// A case file with only this case.
///
/// ```
/// use broadcheck_spec::{Suite, load_str, write};
/// let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
/// let text = write::case_to_yaml(&suite.cases[0]);
/// assert!(text.starts_with("format: 1\nrules: "));
/// assert_eq!(load_str(&text, "case.yaml").unwrap().cases[0].request, suite.cases[0].request);
/// ```
pub fn case_to_yaml(case: &Case) -> String {
    let last = match &case.expectation {
        Expectation::Result(result) => format!("result: {}", result_line(result)),
        Expectation::Refusal(refusal) => refusal_line(refusal, &case.request.names()),
    };
    file_of(case, case.request.rules().set(), request_lines(&case.request), last)
}

/// A case file with only this case of the operation `infer`.
pub fn inference_case_to_yaml(case: &InferenceCase) -> String {
    let signature = &case.request;
    let last = match &case.expectation {
        Expectation::Result(inference) => format!("inferred: {}", inference_line(inference)),
        Expectation::Refusal(refusal) => refusal_line(refusal, &signature.names()),
    };
    file_of(case, signature.rules().set(), signature_lines(signature), last)
}

fn file_of<R, T>(case: &Case<R, T>, rules: RuleSet, request: Vec<String>, last: String) -> String {
    let mut lines = vec![
        format!("id: {}", scalar(&case.id)),
        format!("title: {}", scalar(&case.title)),
        format!("clause: {}", scalar(&case.clause)),
    ];
    if let Some(convention) = case.convention {
        lines.push(format!("convention: {convention}"));
    }
    if !case.examples.is_empty() {
        lines.push(format!("example: {}", list(case.examples.iter().map(|id| scalar(id)))));
    }
    if !case.sources.is_empty() {
        lines.push("source:".into());
        lines.extend(case.sources.iter().map(|source| format!("  - {}", source_line(source))));
    }
    lines.push(format!("origin: {}", scalar(&case.origin.to_string())));
    lines.extend(request);
    lines.push(last);
    if let Some(note) = &case.note {
        lines.push(format!("note: {}", scalar(note)));
    }
    let mut text = format!("format: 1\nrules: {rules}\ncases:\n");
    for (place, line) in lines.iter().enumerate() {
        let start = if place == 0 { "  - " } else { "    " };
        writeln!(text, "{start}{line}").expect("writing to a string does not fail");
    }
    text
}

/// The fields of a signature, one per line, `rules` first.
pub fn signature_to_yaml(signature: &Signature) -> String {
    let mut text = format!("rules: {}\n", signature.rules().set());
    for line in signature_lines(signature) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn signature_lines(signature: &Signature) -> Vec<String> {
    let names: Vec<String> = signature.names().into_iter().map(scalar).collect();
    let mut lines = vec![format!("operation: {INFER}")];
    if let Asked::Expression(expression) = signature.asked() {
        lines.push(format!("expression: {}", expression.display(&names)));
    }
    lines.push("operands:".into());
    lines.extend(signature.operands().iter().map(|operand| format!("  - {}", operand_type_line(operand))));
    if let Asked::TargetShape(target) = signature.asked() {
        lines.push(format!("target_shape: {}", partial_shape(target)));
    }
    lines.extend(attribute_line(signature.rules()));
    lines
}

fn operand_type_line(operand: &OperandType) -> String {
    let mut fields = vec![
        format!("name: {}", scalar(operand.name())),
        format!("dtype: {}", operand.dtype()),
        format!("shape: {}", partial_shape(operand.shape())),
    ];
    if let Some(flags) = operand.broadcastable() {
        fields.push(format!("broadcastable: {}", list(flags)));
    }
    braces(&fields)
}

fn inference_line(inference: &Inference) -> String {
    let mut fields =
        vec![format!("dtype: {}", inference.dtype), format!("shape: {}", partial_shape(&inference.shape))];
    if let Some(accepts) = inference.accepts {
        fields.push(format!("accepts: {accepts}"));
    }
    if let Some(flags) = &inference.broadcastable {
        fields.push(format!("broadcastable: {}", list(flags)));
    }
    braces(&fields)
}

fn partial_shape(shape: &PartialShape) -> String {
    let Some(lengths) = shape.lengths() else { return quoted("...") };
    list(lengths.iter().map(|&length| match (length.number(), length.min(), length.max()) {
        (Some(number), _, _) => number.to_string(),
        (None, 0, None) => quoted("?"),
        (None, 0, Some(max)) => format!("{{max: {max}}}"),
        (None, min, None) => format!("{{min: {min}}}"),
        (None, min, Some(max)) => format!("{{min: {min}, max: {max}}}"),
    }))
}

/// The fields of a request, one per line, `rules` first.
pub fn request_to_yaml(request: &Request) -> String {
    let mut text = format!("rules: {}\n", request.rules().set());
    for line in request_lines(request) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn request_lines(request: &Request) -> Vec<String> {
    let mut lines = Vec::new();
    let names: Vec<String> = request.names().into_iter().map(scalar).collect();
    let operation = request.operation();
    if operation.kind() != OperationKind::Elementwise {
        lines.push(format!("operation: {}", operation.kind()));
    }
    let target = operation.target_shape();
    if let (Some(expression), None) = (operation.expression(), target) {
        lines.push(format!("expression: {}", expression.display(&names)));
    }
    lines.push("operands:".into());
    let destination = request.destination().map(Operand::name);
    lines.extend(request.with_values().map(|operand| format!("  - {}", operand_line(operand, destination))));
    lines.extend(target.map(|target| format!("target_shape: {}", shape(target))));
    let declared = request.declared_target();
    lines.extend(declared.map(|declared| format!("declared_target_shape: {}", partial_shape(declared))));
    lines.extend(operation.wrt().map(|wrt| format!("wrt: {}", names[wrt])));
    lines.extend(operation.cotangent().map(|cotangent| format!("cotangent: {}", scalar(cotangent.name()))));
    lines.extend(destination.map(|name| format!("into: {}", scalar(name))));
    lines.extend(attribute_line(request.rules()));
    lines
}

fn attribute_line(rules: &Rules) -> Option<String> {
    match rules {
        Rules::Pdpd { axis } => axis.map(|axis| format!("axis: {axis}")),
        Rules::Xla { broadcast_dimensions } => broadcast_dimensions
            .as_ref()
            .map(|dimensions| format!("broadcast_dimensions: {}", list(dimensions))),
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => None,
    }
}

/// An operand. `destination` is the name of the request's destination, if it has one.
fn operand_line(operand: &Operand, destination: Option<&str>) -> String {
    let mut fields = vec![
        format!("name: {}", scalar(operand.name())),
        format!("dtype: {}", operand.dtype()),
        format!("shape: {}", shape(operand.shape())),
    ];
    fields.extend(operand.declared().map(|declared| format!("declared: {}", partial_shape(declared))));
    if let Some(strides) = operand.strides() {
        fields.push(format!("strides: {}", list(strides)));
        if operand.offset() != 0 {
            fields.push(format!("offset: {}", operand.offset()));
        }
    }
    if let Some(flags) = operand.broadcastable() {
        fields.push(format!("broadcastable: {}", list(flags)));
    }
    if operand.is_constant() {
        fields.push("constant: true".into());
    }
    fields.extend(operand.same().map(|name| format!("same: {}", scalar(name))));
    fields.push(match destination.filter(|_| operand.reads_destination()) {
        Some(name) => format!("of: {}", scalar(name)),
        None => format!("values: {}", values(operand.values())),
    });
    braces(&fields)
}

fn source_line(source: &Source) -> String {
    match source {
        Source::Document { key, lines } => format!("{{document: {}, lines: {}}}", scalar(key), quoted(lines)),
        Source::Url(url) => format!("{{url: {}}}", quoted(url)),
    }
}

fn result_line(result: &ExpectedResult) -> String {
    let mut fields = vec![format!("dtype: {}", result.tensor.dtype())];
    fields.extend(tensor_fields(&result.tensor));
    if let Some(intermediate) = &result.intermediate {
        fields.push(format!("intermediate: {}", braces(&tensor_fields(intermediate))));
    }
    if let Some(flags) = &result.broadcastable {
        fields.push(format!("broadcastable: {}", list(flags)));
    }
    if let Some(ulp) = result.tolerance_ulp {
        fields.push(format!("tolerance: {{ulp: {ulp}}}"));
    }
    if result.any_zero_sign {
        fields.push("zero_sign: any".into());
    }
    braces(&fields)
}

fn refusal_line(refusal: &ExpectedRefusal, names: &[&str]) -> String {
    let mut fields = vec![format!("kind: {}", refusal.kind.map_or("any", crate::RefusalKind::name))];
    if let Some(name) = refusal.operand.and_then(|place| names.get(place)) {
        fields.push(format!("operand: {}", scalar(name)));
    }
    if let Some(axis) = refusal.axis {
        fields.push(format!("axis: {axis}"));
    }
    format!("refusal: {}", braces(&fields))
}

fn tensor_fields(tensor: &Tensor) -> Vec<String> {
    vec![format!("shape: {}", shape(tensor.shape())), format!("values: {}", values(tensor.values()))]
}

fn shape(shape: &Shape) -> String {
    list(shape.lengths())
}

fn values(values: &Data) -> String {
    list(values.iter().map(Scalar::literal))
}

fn braces(fields: &[String]) -> String {
    format!("{{{}}}", fields.join(", "))
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

/// A text as a scalar: plain if every reader takes it for the same string, otherwise in double quotes.
fn scalar(text: &str) -> String {
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(char::is_alphanumeric);
    let harmless = |char: char| char.is_alphanumeric() || " _-/.;()<>=+'".contains(char);
    let plain = begins && chars.all(harmless) && !text.ends_with(' ');
    if plain && lint::plain(text, lint::Syntax::Yaml) == Ok(lint::Plain::Text) {
        text.into()
    } else {
        quoted(text)
    }
}

/// A text in double quotes, with YAML's escapes, on one line.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            char if char.is_control() || lint::hides(char) => {
                // Code points of more than four digits need the long escape.
                let code = u32::from(char);
                let escape = if code > 0xffff { format!("\\U{code:08X}") } else { format!("\\u{code:04X}") };
                out.push_str(&escape);
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_a_reader_could_differ() {
        for plain in ["a", "x0", "X01", "numpy/x", "A length of 0, plain".trim_end_matches(", plain"), "hand"]
        {
            assert_eq!(scalar(plain), plain);
        }
        for text in
            ["y", "no", "true", "12", "1e5", "", " a", "a ", "a: b", "a #b", "[a]", "012", "null", "-", "0x1"]
        {
            assert_eq!(scalar(text), format!("\"{text}\""));
        }
        assert_eq!(scalar("a\n\"b\"\\\u{85}"), "\"a\\n\\\"b\\\"\\\\\\u0085\"");
        assert_eq!(scalar("a\u{202e}b\u{e0001}"), "\"a\\u202Eb\\U000E0001\"");
    }
}
