//! Tests what the generator draws: nothing is missing, everything is well-formed, and requests survive a
//! round trip through bytes.

use broadcheck_judge::limits::covers_request;
use broadcheck_reference::Reference;
use broadcheck_search::generate::{Profile, Seeded, Statistics, bytes, decode, encode, request};
use broadcheck_search::subjects::Ndarray;
use broadcheck_spec::Implementation;
use broadcheck_spec::{
    Capabilities, DType, Data, Function, Operand, OperationKind, Outcome, RefusalKind, Request, RuleSet,
    Scalar, Suite, write,
};
use std::collections::BTreeMap;

/// The requests of a seed.
fn drawn(seed: u64, count: usize, profile: &Profile) -> impl Iterator<Item = Request> {
    let mut choices = Seeded::new(seed);
    (0..count).map(move |_| request(&mut choices, profile))
}

/// Inputs like a fuzzer's: of any length, with random bits.
fn inputs(seed: u64, count: usize) -> impl Iterator<Item = Vec<u8>> {
    use broadcheck_search::generate::Choices;
    let mut choices = Seeded::new(seed);
    (0..count).map(move |_| {
        let length = choices.index(400);
        (0..length).map(|_| choices.bits().to_le_bytes()[0]).collect()
    })
}

fn counted(requests: impl Iterator<Item = Request>) -> Statistics {
    let reference = Reference::new();
    let mut statistics = Statistics::default();
    for request in requests {
        statistics.add(&request, &reference.run(&request));
    }
    statistics
}

/// Checks that every count of every topic is at least `share` of all requests, apart from the named ones,
/// which have their own share.
#[track_caller]
fn floor(statistics: &Statistics, share: f64, own: &[(&str, &str, f64)]) {
    let requests = statistics.requests() as f64;
    let mut missing = Vec::new();
    for topic in statistics.topics() {
        for (name, count) in statistics.counts(topic) {
            let named = own.iter().find(|(other, what, _)| (*other, *what) == (topic, name));
            let share = named.map_or(share, |(_, _, share)| *share);
            if (count as f64) < share * requests {
                missing.push(format!("{topic}: {name} {count}, expected {}", share * requests));
            }
        }
    }
    assert!(missing.is_empty(), "{}\nof\n{statistics}", missing.join("\n"));
}

/// Counts that are zero or nearly so: too large for a test, or beyond what is drawn.
const RARE: [(&str, &str, f64); 11] = [
    ("refusal", "broadcast_dimensions_not_distinct", 0.0005),
    ("refused (sample)", "near miss", 0.001),
    ("refused (sample)", "far off", 0.0003),
    ("outcome", "errored", 0.0),
    ("refusal", "without kind", 0.0),
    ("rank", "more", 0.0),
    ("operands", "31 to 64", 0.0005),
    ("length", "about a block", 0.0002),
    ("elements of the accepted", "1025 to 8192", 0.0003),
    ("elements of the accepted", "8193 to 65535", 0.0),
    ("elements of the accepted", "more", 0.0),
];

#[test]
fn a_seed_covers_every_topic() {
    let statistics = counted(drawn(1, 20_000, &Profile::all()));
    println!("{statistics}");
    floor(&statistics, 0.002, &RARE);
    let share = |topic, name| statistics.count(topic, name) as f64 / statistics.requests() as f64;
    assert!(share("outcome", "accepted") > 0.6, "most are accepted");
    let [near, far] = ["near miss", "far off"].map(|name| statistics.count("refused (sample)", name));
    assert!(near > 3 * far, "near misses dominate: {near} against {far}");
}

#[test]
fn random_bytes_cover_every_topic() {
    assert_covering(3_000);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn more_requests_have_the_same_properties() {
    assert_covering(10_000);
    assert_decoding(5_000);
    assert_restricted(3_000);
    assert_refusals(6_000);
}

/// Expects that so many random inputs cover every topic.
fn assert_covering(count: usize) {
    let statistics = counted(inputs(2, count).map(|bytes| decode(&bytes)));
    println!("{statistics}");
    floor(&statistics, 0.001, &RARE);
}

#[test]
fn every_case_is_a_seed() {
    let mut beyond: Vec<String> = Vec::new();
    let cases = Suite::builtin().unwrap().cases;
    let count = cases.len();
    for case in cases {
        // Literal bytes do not say what is declared, and without it the request is that of another case. They
        // have no cotangents and no destinations.
        let (request, declared) = (&case.request, case.request.declared().next());
        if declared.is_some() || request.cotangent().is_some() || request.destination().is_some() {
            continue;
        }
        let operands = case.request.operands();
        let rank = operands.iter().map(Operand::rank).max().unwrap_or(0);
        if operands.len() > bytes::MAX_OPERANDS || rank > bytes::MAX_RANK {
            beyond.push(case.id);
            continue;
        }
        assert!(same(&decode(&encode(&case.request)), &case.request), "{}", case.id);
    }
    // One byte cannot encode their operands or axes.
    assert!(beyond.contains(&"numpy/align/rank-65".to_owned()));
    assert!(beyond.len() * 50 < count, "{} of {count} cases are beyond: {beyond:?}", beyond.len());
}

/// Equal to the bit. Unlike this, `==` treats all NaNs as equal.
fn same(one: &Request, other: &Request) -> bool {
    let bits = |values: &Data| values.iter().map(Scalar::to_bits).collect::<Vec<_>>();
    let all = |request: &Request| {
        request.operands().iter().map(|operand| bits(operand.values())).collect::<Vec<_>>()
    };
    one == other && all(one) == all(other)
}

#[test]
fn drawn_requests_survive_a_round_trip_through_bytes() {
    let profile = Profile::all().with_max_elements(256);
    for request in drawn(3, 5_000, &profile) {
        let encoded = encode(&request);
        let again = decode(&encoded);
        assert!(
            same(&again, &request),
            "{}\nfrom\n{}",
            write::request_to_yaml(&again),
            write::request_to_yaml(&request)
        );
    }
}

#[test]
fn bytes_draw_destinations_and_cotangents() {
    let starting = |first: u8| {
        inputs(5, 4_000).map(move |mut bytes| {
            bytes.insert(0, first);
            decode(&bytes)
        })
    };
    let count = |first, wanted: fn(&Request) -> bool| starting(first).filter(wanted).count();
    let into = count(3, |request| request.destination().is_some());
    let shared = count(3, |request| request.operands().iter().any(Operand::reads_destination));
    let weighted = count(3, |request| request.cotangent().is_some());
    assert!(into > 10 && shared > 2 && weighted > 100, "{into}, {shared}, {weighted}");
    let plain = |request: &Request| request.destination().is_none() && request.cotangent().is_none();
    assert_eq!(count(1, plain), 4_000);
}

#[test]
fn any_bytes_decode_to_a_request_deterministically() {
    assert_decoding(500);
}

/// Expects that each of so many random inputs is a request, and always the same.
fn assert_decoding(count: usize) {
    for input in inputs(4, count) {
        let request = decode(&input);
        let (again, used) = bytes::decode_prefix(&input);
        assert!(same(&request, &again) && used <= input.len());
        assert!(same(&request, &decode(&input[..used])), "the following bytes do not matter");
        if input.first().is_some_and(|first| first % 2 == 0) {
            assert!(same(&decode(&encode(&request)), &request), "literal requests are within the bounds");
        }
    }
}

#[test]
fn a_profile_stays_within_capabilities() {
    let ndarray = Ndarray::new();
    let narrow = Capabilities {
        rules: vec![RuleSet::Numpy, RuleSet::Xla, RuleSet::Theano],
        operations: vec![OperationKind::Elementwise],
        strided: false,
        functions: vec![Function::Add, Function::Less],
        dtypes: vec![DType::I8, DType::F32],
        max_rank: Some(3),
        max_elements: 100,
        ..Capabilities::all()
    };
    let none =
        Capabilities { functions: vec![], dtypes: vec![DType::Bool], max_rank: Some(0), ..narrow.clone() };
    for (at, able) in [ndarray.capabilities(), &narrow, &none, &Capabilities::all()].into_iter().enumerate() {
        for request in drawn(at as u64, 3_000, &Profile::within(able)) {
            assert_eq!(able.covers(&request), Ok(()), "{}", write::request_to_yaml(&request));
        }
    }
}

/// Capabilities with one restriction each, and with all of them.
fn restricted() -> Vec<(&'static str, Capabilities)> {
    let all = Capabilities::all();
    let of_floats = [(Function::Negate, vec![DType::F32, DType::F64]), (Function::Add, vec![DType::I32])];
    let of_numpy: BTreeMap<RuleSet, Vec<OperationKind>> =
        [(RuleSet::Numpy, vec![OperationKind::Broadcast])].into();
    let one_each: [(&str, Capabilities); 15] = [
        ("function_dtypes", Capabilities { function_dtypes: of_floats.clone().into(), ..all.clone() }),
        ("min_rank", Capabilities { min_rank: 2, ..all.clone() }),
        ("max_rank", Capabilities { max_rank: Some(2), ..all.clone() }),
        ("equal_ranks", Capabilities { equal_ranks: true, ..all.clone() }),
        ("scalars", Capabilities { scalars: false, ..all.clone() }),
        ("max_operands", Capabilities { max_operands: Some(2), ..all.clone() }),
        ("one operand", Capabilities { max_operands: Some(1), ..all.clone() }),
        ("max_calls", Capabilities { max_calls: Some(1), ..all.clone() }),
        ("unused_operands", Capabilities { unused_operands: false, ..all.clone() }),
        ("negative_strides", Capabilities { negative_strides: false, ..all.clone() }),
        ("rule_operations", Capabilities { rule_operations: of_numpy.clone(), ..all.clone() }),
        ("ordered_operands", Capabilities { ordered_operands: true, ..all.clone() }),
        ("large_sizes", Capabilities { large_sizes: false, ..all.clone() }),
        (
            "flushed_subnormals",
            Capabilities { flushed_subnormals: vec![DType::F16, DType::F32], ..all.clone() },
        ),
        ("no function", Capabilities { functions: vec![], unused_operands: false, ..all.clone() }),
    ];
    let every = Capabilities {
        function_dtypes: of_floats.into(),
        min_rank: 1,
        max_rank: Some(4),
        equal_ranks: true,
        scalars: false,
        max_operands: Some(2),
        max_calls: Some(1),
        unused_operands: false,
        negative_strides: false,
        large_sizes: false,
        flushed_subnormals: vec![DType::F64],
        ..all
    };
    one_each.into_iter().chain([("every field", every)]).collect()
}

#[test]
fn a_profile_stays_within_each_restriction() {
    assert_restricted(1_000);
}

/// Expects that so many requests stay within each restriction, and that some are accepted and some refused.
fn assert_restricted(count: usize) {
    let reference = Reference::new();
    for (at, (name, able)) in restricted().into_iter().enumerate() {
        let mut accepted = 0;
        for request in drawn(at as u64, count, &Profile::within(&able).with_large(0)) {
            let text = || format!("{name}\n{}", write::request_to_yaml(&request));
            assert_eq!(covers_request(&able, &request), Ok(()), "{}", text());
            accepted += usize::from(matches!(reference.run(&request), Outcome::Success(_)));
        }
        // Drawing again does not leave only one kind of request.
        assert!((count * 2 / 5..count * 299 / 300).contains(&accepted), "{name}: {accepted} accepted");
    }
}

#[test]
fn a_profile_of_accepted_requests_draws_no_others() {
    let profile = Profile::all().with_refused(0);
    let reference = Reference::new();
    for request in drawn(5, 5_000, &profile) {
        let outcome = reference.run(&request);
        assert!(matches!(outcome, Outcome::Success(_)), "{outcome:?}\n{}", write::request_to_yaml(&request));
    }
}

#[test]
fn a_profile_leaves_out_what_it_excludes() {
    use RefusalKind as K;
    let left_out = [K::DTypeMismatch, K::UnsupportedFunction, K::TooLarge, K::OperandCount];
    // Few elements, because counters beyond 65504 are infinite in f16.
    let profile = Profile::all().with_large(0).with_max_elements(256);
    let profile = profile.without_refusals(&left_out).with_unused(false).with_plain_values(true);
    let reference = Reference::new();
    let mut refused = 0;
    for request in drawn(10, 5_000, &profile) {
        let text = || write::request_to_yaml(&request);
        if let Outcome::Refusal(refusal) = reference.run(&request) {
            assert!(refusal.kind.is_none_or(|kind| !left_out.contains(&kind)), "{refusal:?}\n{}", text());
            refused += 1;
        }
        if let Some(expression) = request.operation().expression() {
            let unused = (0..request.operands().len()).find(|&place| !expression.reads(place));
            assert_eq!(unused, None, "{}", text());
        }
        for operand in request.operands() {
            let corner = |value: Scalar| {
                value.as_f64().is_some_and(|value| !value.is_finite() || value.is_subnormal() || value <= 0.0)
            };
            assert!(!operand.values().iter().any(corner), "{}", text());
        }
    }
    assert!(refused > 800, "{refused}");
    let none = Profile::all().with_rules(&[RuleSet::Bidirectional]).without_refusals(K::ALL);
    for request in drawn(9, 500, &none) {
        assert!(matches!(reference.run(&request), Outcome::Success(_)));
    }
}

#[test]
fn each_refusal_kind_can_be_drawn_under_each_rule_set_that_has_it() {
    assert_refusals(2_000);
}

/// Expects one of 100 of so many requests to be refused for each reason.
fn assert_refusals(requests: usize) {
    use RefusalKind as K;
    let of = |set| counted(drawn(6, requests, &Profile::all().with_rules(&[set]).with_refused(16)));
    let types = [K::DTypeMismatch, K::UnsupportedFunction];
    for (set, kinds) in [
        (RuleSet::None, &[K::RankMismatch, K::DimensionMismatch, K::TooLarge][..]),
        (RuleSet::Numpy, &[K::RankMismatch, K::DimensionMismatch, K::TooLarge]),
        (
            RuleSet::Pdpd,
            &[K::RankMismatch, K::DimensionMismatch, K::AxisOutOfRange, K::OperandCount, K::TooLarge],
        ),
        (RuleSet::Bidirectional, &[K::DimensionMismatch, K::TooLarge]),
        (
            RuleSet::Xla,
            &[
                K::RankMismatch,
                K::DimensionMismatch,
                K::BroadcastDimensionsCount,
                K::BroadcastDimensionOutOfRange,
                K::BroadcastDimensionsNotIncreasing,
                K::BroadcastDimensionsNotIdentity,
                K::OperandCount,
                K::TooLarge,
            ],
        ),
        (RuleSet::Theano, &[K::FlagViolation, K::NotBroadcastable, K::TooLarge]),
    ] {
        let statistics = of(set);
        let types = if set == RuleSet::Bidirectional { &[][..] } else { &types };
        for kind in kinds.iter().chain(types) {
            let count = statistics.count("refusal", kind.name());
            assert!(count >= requests as u64 / 100, "{set}: {kind} {count}\n{statistics}");
        }
        let refused = statistics.count("outcome", "refused");
        assert!(refused * 10 > statistics.requests() * 8, "{set}: {refused} of {}", statistics.requests());
    }
}

#[test]
fn large_requests_exceed_the_size_from_which_several_threads_work() {
    let statistics = counted(drawn(7, 10, &Profile::all().with_large(40_000).with_refused(0)));
    assert!(statistics.count("elements of the accepted", "more") >= 2, "{statistics}");
}

#[test]
fn counts_add_up() {
    let profile = Profile::all();
    let (one, other) = (counted(drawn(8, 300, &profile)), counted(drawn(9, 200, &profile)));
    let mut both = one.clone();
    both.merge(&other);
    assert_eq!(both.requests(), 500);
    for topic in both.topics() {
        let sums = one.counts(topic).zip(other.counts(topic)).map(|((name, a), (_, b))| (name, a + b));
        assert!(both.counts(topic).eq(sums), "{topic}");
    }
}
