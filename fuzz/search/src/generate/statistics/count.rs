//! The topics of the statistics, and what a request adds to each.

use broadcheck_reference::align;
use broadcheck_spec::{
    DType, Exactness, Expression, Function, Node, Operand, Outcome, RefusalKind, Request, RuleSet, Rules,
};
use std::collections::HashMap;

/// A topic with a count for each of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    pub(super) title: &'static str,
    names: Vec<String>,
    counts: Vec<u64>,
}

impl Topic {
    fn new<S: Into<String>>(title: &'static str, names: impl IntoIterator<Item = S>) -> Topic {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Topic { title, counts: vec![0; names.len()], names }
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, u64)> + '_ {
        self.names.iter().map(String::as_str).zip(self.counts.iter().copied())
    }

    pub(super) fn merge(&mut self, other: &Topic) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
    }
}

const RANKS: [&str; 13] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11 to 17", "more"];
const COUNTS: [&str; 13] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "31 to 64"];
const DEPTHS: [&str; 7] = ["0", "1", "2", "3", "4 to 7", "8 to 15", "more"];
const SIZES: [&str; 8] =
    ["0", "1", "2 to 16", "17 to 64", "65 to 1024", "1025 to 8192", "8193 to 65535", "more"];
const LENGTHS: [&str; 7] = ["0", "1", "2", "odd prime", "about a lane width", "about a block", "beyond 2^31"];
const LAYOUTS: [&str; 8] = [
    "dense",
    "a view",
    "in another order",
    "reversed",
    "with gaps",
    "stride 0",
    "overlapping",
    "at an offset",
];
const ATTRIBUTES: [&str; 15] = [
    "axis absent",
    "axis -1",
    "axis given",
    "dimensions absent",
    "dimensions empty",
    "dimensions given",
    "lower operand first",
    "lower operand second",
    "flags absent",
    "flags given",
    "an operand unused",
    "an operand twice",
    "wrt a view",
    "wrt unused",
    "wrt in a condition and a branch",
];
const PROGRAMS: [&str; 3] = ["a call written twice", "8 to 20 different calls", "more different calls"];
const PATTERNS: [&str; 6] = [
    "one operand",
    "nothing stretched",
    "one axis stretched",
    "neighbouring axes stretched",
    "axes stretched that cannot be merged",
    "a scalar stretched",
];

/// Every topic, with all counts 0.
pub(super) fn topics() -> Vec<Topic> {
    vec![
        Topic::new(
            "rule set and operation",
            RuleSet::with_operations().map(|(set, operation)| format!("{set} {operation}")),
        ),
        Topic::new("outcome", ["accepted", "refused", "skipped", "errored"]),
        Topic::new("refusal", RefusalKind::ALL.iter().map(|kind| kind.name()).chain(["without kind"])),
        Topic::new("refused (sample)", ["near miss", "far off"]),
        Topic::new("rank", RANKS),
        Topic::new("operands", COUNTS),
        Topic::new("pattern of the accepted", PATTERNS),
        Topic::new("elements of the accepted", SIZES),
        Topic::new("length", LENGTHS),
        Topic::new("dtype", DType::ALL.map(DType::name)),
        Topic::new("function", Function::ALL.iter().map(|function| function.name())),
        Topic::new("depth", DEPTHS),
        Topic::new("exactness", ["exact", "inexact"]),
        Topic::new("program", PROGRAMS),
        Topic::new("layout", LAYOUTS),
        Topic::new("values", super::corners::NAMES),
        Topic::new("attributes", ATTRIBUTES),
    ]
}

/// Adds one to a count of a topic.
pub(super) fn add(topics: &mut [Topic], title: &str, place: usize) {
    let topic = topics.iter_mut().find(|topic| topic.title == title);
    if let Some(count) = topic.and_then(|topic| topic.counts.get_mut(place)) {
        *count += 1;
    }
}

fn add_named(topics: &mut [Topic], title: &str, names: &[&str], name: &str) {
    if let Some(place) = names.iter().position(|other| *other == name) {
        add(topics, title, place);
    }
}

/// Counts the parts of a request.
pub(super) fn request(request: &Request, topics: &mut [Topic]) {
    let operands = request.operands();
    let rule_operation = (request.rules().set(), request.operation().kind());
    let place = RuleSet::with_operations().position(|other| other == rule_operation);
    place.into_iter().for_each(|place| add(topics, "rule set and operation", place));
    let rank = operands.iter().map(Operand::rank).max().unwrap_or(0);
    add(topics, "rank", if rank <= 10 { rank } else { 11 + usize::from(rank > 17) });
    add(topics, "operands", operands.len().min(COUNTS.len()) - 1);
    for operand in operands {
        let dtype = DType::ALL.iter().position(|&dtype| dtype == operand.dtype());
        add(topics, "dtype", dtype.unwrap_or(0));
        operand.shape().iter().for_each(|&length| lengths(length, topics));
        layout(operand, topics);
        for place in super::corners::found(operand.values()) {
            add(topics, "values", place);
        }
    }
    if let Some(expression) = request.operation().expression() {
        functions(expression, topics);
    }
    attributes(request, topics);
}

fn lengths(length: usize, topics: &mut [Topic]) {
    let near = |sizes: &[usize]| sizes.iter().any(|&size| length.abs_diff(size) <= 1);
    let prime = length > 2
        && length < 1 << 12
        && (2..length).take_while(|n| n * n <= length).all(|n| !length.is_multiple_of(n));
    let names: [(bool, &str); 7] = [
        (length == 0, "0"),
        (length == 1, "1"),
        (length == 2, "2"),
        (prime, "odd prime"),
        (length > 2 && near(&[4, 8, 16, 32, 64]), "about a lane width"),
        (near(&[1024, 4096, 8192]), "about a block"),
        (length >> 31 != 0, "beyond 2^31"),
    ];
    names.iter().filter(|(is, _)| *is).for_each(|(_, name)| add_named(topics, "length", &LENGTHS, name));
}

fn layout(operand: &Operand, topics: &mut [Topic]) {
    let Some(strides) = operand.strides() else { return add(topics, "layout", 0) };
    add(topics, "layout", 1);
    let axes: Vec<(usize, i64)> = operand
        .shape()
        .iter()
        .copied()
        .zip(strides.iter().copied())
        .filter(|&(length, _)| length > 1)
        .collect();
    let sizes: Vec<u64> =
        axes.iter().map(|(_, stride)| stride.unsigned_abs()).filter(|&size| size != 0).collect();
    let elements = operand.shape().count().unwrap_or(usize::MAX);
    let mut sorted: Vec<(u64, usize)> = axes
        .iter()
        .filter(|&&(_, stride)| stride != 0)
        .map(|&(length, stride)| (stride.unsigned_abs(), length))
        .collect();
    sorted.sort_unstable();
    let overlapping = sorted.windows(2).any(|pair| pair[0].0.saturating_mul(pair[0].1 as u64) > pair[1].0);
    let names: [(bool, &str); 6] = [
        (sizes.windows(2).any(|pair| pair[0] < pair[1]), "in another order"),
        (axes.iter().any(|&(_, stride)| stride < 0), "reversed"),
        (elements > 1 && sorted.first().is_some_and(|&(least, _)| least > 1), "with gaps"),
        (axes.iter().any(|&(_, stride)| stride == 0), "stride 0"),
        (overlapping, "overlapping"),
        (operand.offset() != 0, "at an offset"),
    ];
    names.iter().filter(|(is, _)| *is).for_each(|(_, name)| add_named(topics, "layout", &LAYOUTS, name));
}

fn functions(expression: &Expression, topics: &mut [Topic]) {
    let depths = expression.values(
        |_| 0,
        |function, arguments| {
            let place = Function::ALL.iter().position(|&other| other == function);
            add(topics, "function", place.unwrap_or(0));
            1 + arguments.iter().max().unwrap_or(&0)
        },
    );
    let depth = match depths.last().copied().unwrap_or(0) {
        depth @ 0..4 => depth,
        4..8 => 4,
        8..16 => 5,
        _ => 6,
    };
    add(topics, "depth", depth);
    let inexact = expression.calls().any(|call| call.function().exactness() == Exactness::Ulp);
    add(topics, "exactness", usize::from(inexact));
    program(expression, topics);
}

/// Counts what a system that looks for common parts finds.
fn program(expression: &Expression, topics: &mut [Topic]) {
    let mut different: HashMap<(Option<Function>, Vec<usize>), usize> = HashMap::new();
    let mut numbered = |part: (Option<Function>, Vec<usize>)| {
        let next = different.len();
        *different.entry(part).or_insert(next)
    };
    expression.fold(|_, node, arguments: Vec<usize>| match node {
        Node::Operand(place) => numbered((None, vec![place])),
        Node::Call(call) => numbered((Some(call.function()), arguments)),
    });
    let calls = different.keys().filter(|(function, _)| function.is_some()).count();
    if expression.calls().count() > calls {
        add(topics, "program", 0);
    }
    match calls {
        0..8 => {}
        8..21 => add(topics, "program", 1),
        _ => add(topics, "program", 2),
    }
}

fn attributes(request: &Request, topics: &mut [Topic]) {
    let operands = request.operands();
    let is_broadcast = request.operation().target_shape().is_some();
    let mut found: Vec<&str> = Vec::new();
    match request.rules() {
        Rules::Pdpd { axis } if operands.len() > 1 => found.push(match axis {
            None => "axis absent",
            Some(-1) => "axis -1",
            Some(_) => "axis given",
        }),
        Rules::Xla { broadcast_dimensions } if operands.len() > 1 || is_broadcast => {
            found.push(match broadcast_dimensions.as_deref() {
                None => "dimensions absent",
                Some([]) => "dimensions empty",
                Some(_) => "dimensions given",
            });
            let onto = operands.get(1).unwrap_or(&operands[0]);
            match operands[0].rank().cmp(&onto.rank()) {
                std::cmp::Ordering::Less => found.push("lower operand first"),
                std::cmp::Ordering::Greater => found.push("lower operand second"),
                std::cmp::Ordering::Equal => {}
            }
        }
        Rules::Theano => {
            let given = operands.iter().any(|operand| operand.broadcastable().is_some());
            found.push(if given { "flags given" } else { "flags absent" });
        }
        // With a single operand no attribute is possible.
        Rules::Pdpd { .. }
        | Rules::Xla { .. }
        | Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Leading
        | Rules::Repeat => {}
    }
    if let Some(expression) = request.operation().expression() {
        let uses = |place| expression.nodes().iter().filter(|node| **node == Node::Operand(place)).count();
        let uses: Vec<usize> = (0..operands.len()).map(uses).collect();
        found.extend(uses.contains(&0).then_some("an operand unused"));
        found.extend(uses.iter().any(|&uses| uses > 1).then_some("an operand twice"));
        if let Some(wrt) = request.operation().wrt() {
            found.extend(operands[wrt].strides().is_some().then_some("wrt a view"));
            found.extend((uses[wrt] == 0).then_some("wrt unused"));
            let smooth = expression.holds(wrt);
            let in_branches = |&(place, node): &(usize, &Node)| *node == Node::Operand(wrt) && smooth[place];
            let in_branches = expression.nodes().iter().enumerate().filter(in_branches).count();
            let masked = (1..uses[wrt]).contains(&in_branches);
            found.extend(masked.then_some("wrt in a condition and a branch"));
        }
    }
    found.iter().for_each(|name| add_named(topics, "attributes", &ATTRIBUTES, name));
}

/// Counts the outcome of a request.
pub(super) fn outcome(request: &Request, outcome: &Outcome, topics: &mut [Topic]) {
    let place = match outcome {
        Outcome::Success(_) => 0,
        Outcome::Refusal(_) => 1,
        Outcome::Skipped { .. } => 2,
        Outcome::Errored { .. } => 3,
    };
    add(topics, "outcome", place);
    match outcome {
        Outcome::Refusal(refusal) => {
            let place =
                refusal.kind.and_then(|kind| RefusalKind::ALL.iter().position(|&other| other == kind));
            add(topics, "refusal", place.unwrap_or(RefusalKind::ALL.len()));
        }
        Outcome::Success(_) => accepted(request, topics),
        Outcome::Skipped { .. } | Outcome::Errored { .. } => {}
    }
}

fn accepted(request: &Request, topics: &mut [Topic]) {
    let Ok(alignment) = align(request) else { return };
    let size = match alignment.shape.count().unwrap_or(usize::MAX) {
        small @ 0..2 => small,
        2..17 => 2,
        17..65 => 3,
        65..1025 => 4,
        1025..8193 => 5,
        8193..65536 => 6,
        _ => 7,
    };
    add(topics, "elements of the accepted", size);
    // The axes of the result along which some operand is repeated.
    let mut stretched = vec![false; alignment.shape.rank()];
    let mut scalar = false;
    for (operand, axes) in request.operands().iter().zip(&alignment.axes) {
        scalar |= operand.rank() == 0 && alignment.shape.iter().any(|&length| length != 1);
        for (axis, &length) in alignment.shape.iter().enumerate() {
            let own = axes.iter().position(|&on| on == Some(axis)).map_or(1, |place| operand.shape()[place]);
            stretched[axis] |= length != 1 && own == 1;
        }
    }
    let count = stretched.iter().filter(|&&stretched| stretched).count();
    let first = stretched.iter().position(|&stretched| stretched).unwrap_or(0);
    let neighbours = stretched[first..].iter().take_while(|&&stretched| stretched).count() == count;
    let single = request.operands().len() == 1 && request.operation().target_shape().is_none();
    let pattern = match count {
        _ if single => 0,
        _ if scalar => 5,
        0 => 1,
        1 => 2,
        _ if neighbours => 3,
        _ => 4,
    };
    add(topics, "pattern of the accepted", pattern);
}
