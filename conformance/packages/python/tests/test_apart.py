"""What a kit has in `into/` and in `infer/`: reading and judging, and which adapters are asked."""
from dataclasses import replace

import pytest

from broadcheck_cases import (
    DTYPES, FUNCTIONS, OPERATIONS, RULES, UNKNOWN, Adapter, AdapterError, Case, Inference, InferenceCase, Length, Operand,
    OperandType, Refusal, Result, cases, inference_cases, judge,
)
from broadcheck_cases._judge import excused

# The example of clause INTO-4: `d` is every second element of [1,2,3,4,5], and is negated in place.
VIEW = Operand("d", "f64", (2,), (1.0, 2.0, 3.0, 4.0, 5.0), (2,), 1)


def into(destination, values, *others):
    result = Result(destination.dtype, destination.shape, values)
    return Case("x/y", "", "INTO-4", "numpy", "elementwise", (destination, *others), into=destination.name, result=result)


def reason(case, buffer):
    return judge(case, Result(case.result.dtype, case.result.shape, case.result.values, buffer=buffer)).reason


def test_the_buffer_is_judged_where_an_answer_has_it():
    case = into(VIEW, [-2.0, -4.0])
    assert judge(case, Result("f64", (2,), [-2.0, -4.0])) and reason(case, [1.0, -2.0, 3.0, -4.0, 5.0]) == ""
    outside = "as before: it is outside of the destination"
    assert reason(case, [1.0, -2.0, -4.0, 4.0, 5.0]) == (
        f"buffer at 2: found -4.0, expected 3.0, {outside}\nbuffer at 3: found 4.0, expected -4.0, the element (1)"
    )
    assert reason(case, [1.0, -2.0, 3.0, -4.0]) == "buffer: found 4 values, expected 5, as before the write"
    assert reason(case, [1.0, "x", 3.0, -4.0, 5.0]) == "buffer at 1: found 'x', expected a value of f64"
    assert reason(case, [0.0] * 5).count("\n") == 4
    plain = Case("x/y", "", "V-1", "numpy", "elementwise", (VIEW,), result=Result("f64", (1,), [1.0]))
    assert reason(plain, [1.0]) == "buffer: found one, expected none for a request without a destination"


def test_what_is_outside_of_a_destination_keeps_its_bits_except_for_nan():
    nan = float("nan")
    case = into(Operand("d", "f64", (1,), (-0.0, 1.0, nan), (1,), 1), [-1.0])
    assert reason(case, [-0.0, -1.0, -nan]) == ""
    assert reason(case, [0.0, -1.0, nan]).startswith("buffer at 0: found 0.0, expected -0.0")


def test_a_write_outside_of_a_destination_is_no_matter_of_zeros():
    case = replace(into(VIEW, [-0.0, 0.0]), convention="zero-signs")
    for values, buffer, free in (([0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 5.0], True), ([0.0, 0.0], [1.0, 0.0, 9.0, 0.0, 5.0], False)):
        answer = Result("f64", (2,), values, buffer=buffer)
        assert excused(case, answer, judge(case, answer)) == free


def test_the_places_of_a_destination_follow_its_strides():
    assert reason(into(Operand("d", "i8", (3,), (1, 2, 3), (-1,), 2), [7, 8, 9]), [9, 8, 7]) == ""
    turned = Operand("d", "i8", (3, 2), (0, 0, 0, 0, 0, 0), (1, 3))
    assert reason(into(turned, [11, 21, 12, 22, 13, 23]), [11, 12, 13, 21, 22, 23]) == ""
    assert reason(into(Operand("d", "i8", (2, 0), (7, 8), (1, 1), 1), []), [7, 8]) == ""


def test_an_operand_reads_the_destination_before_it_is_written():
    case, = cases(into=True, filter="numpy/into/shifted-right")
    a, b = case.operands
    assert (case.into, case.destination, b.of) == ("a", a, "a")
    # The example of clause INTO-3: a[1:] += a[:-1] for [0,1,2,3].
    assert (a.elements(), b.elements(), case.result.values) == ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0], (1.0, 3.0, 5.0))
    assert reason(case, [0.0, 1.0, 3.0, 5.0]) == ""
    assert not judge(case, Result("f64", (3,), [1.0, 3.0, 6.0]))


def test_the_arrays_of_a_case_share_the_buffer():
    np = pytest.importorskip("numpy")
    case, = cases(into=True, filter="numpy/into/shifted-right")
    arrays, buffer = case.numpy()
    np.add(arrays["a"], arrays["b"], out=arrays["a"])
    assert buffer.tolist() == [0.0, 1.0, 3.0, 5.0] and arrays["b"].tolist() == [0.0, 1.0, 3.0]
    assert case.numpy()[1].tolist() == [0.0, 1.0, 2.0, 3.0], "each call has arrays of its own"
    for case in cases(into=True, dtypes=["f64", "i8", "bool"], filter="numpy/into/"):
        arrays, _ = case.numpy()
        assert {name: array.ravel().tolist() for name, array in arrays.items()} == {o.name: o.elements() for o in case.operands}


def infers(exact, *shapes, rules="numpy"):
    """A case in f32 whose answer is an `Inference`, or a `Refusal` of every run."""
    operands = tuple(OperandType(name, "f32", shape) for name, shape in zip("abc", shapes))
    answer = {"refusal" if isinstance(exact, Refusal) else "inferred": exact}
    return InferenceCase("x/y", "", "INFER-2", rules, operands, ("add", "a", "b"), **answer)


ANY, TWO, THREE = Length(), Length(2, 2), Length(3, 3)
# (2,?) with (?,3) gives (2,3), and not every run is accepted (INFER-3).
DEPENDS = infers(Inference("f32", [2, 3], "depends"), (TWO, ANY), (ANY, THREE))
# (?) with (1) gives (?), always (INFER-4).
ALWAYS = infers(Inference("f32", ["?"], "always"), (ANY,), (Length(1, 1),))
BOUNDED = infers(Inference("f32", [Length(2, 3)], "depends"), (Length(2, 3),), (Length(0, 5),))
KNOWN = infers(Inference("f32", [2], "always"), (TWO,), (TWO,))
NONE = infers(Refusal("dimension_mismatch", 1), (ANY, TWO), (ANY, THREE))
NONE_KNOWN = infers(Refusal("dimension_mismatch", 0), (TWO,), (THREE,))
TYPES = infers(Refusal("dtype_mismatch"), (ANY,), (ANY,))
UNRANKED = infers(Inference("f32", "...", "depends"), "...", (TWO,))


@pytest.mark.parametrize("case, answer, verdict", [
    (DEPENDS, Inference("f32", [2, 3], "depends"), "exact"),
    (DEPENDS, Inference("f32", [2, Length(3, 3)]), "exact"),
    (DEPENDS, Inference("f32", ["?", 3]), "wider"),
    (DEPENDS, Inference("f32", ["?", "?"], "depends"), "wider"),
    (DEPENDS, Inference("f32", "..."), "wider"),
    (DEPENDS, Inference("f32", [2, 3], "always"), "unsound, some runs are refused"),
    (DEPENDS, Inference("f32", ["?", 3], "always"), "unsound, some runs are refused"),
    (DEPENDS, Inference("f32", [2, 4]), "unsound, the shape leaves out"),
    (DEPENDS, Inference("f32", [2]), "unsound, the shape leaves out"),
    (DEPENDS, Inference("f32", [2, 3, 1]), "unsound, the shape leaves out"),
    (DEPENDS, Inference("f64", [2, 3]), "dtype"),
    (DEPENDS, Refusal(), "unsound: found a refusal"),
    (ALWAYS, Inference("f32", ["?"], "always"), "exact"),
    (ALWAYS, Inference("f32", ["?"]), "exact"),
    (ALWAYS, Inference("f32", ["?"], "depends"), "wider"),
    (ALWAYS, Inference("f32", [1]), "unsound, the shape leaves out"),
    (ALWAYS, Inference("f32", [Length(1)]), "unsound, the shape leaves out"),
    (BOUNDED, Inference("f32", [Length(2, 3)]), "exact"),
    (BOUNDED, Inference("f32", [Length(0, 3)]), "wider"),
    (BOUNDED, Inference("f32", [Length(2)]), "wider"),
    (BOUNDED, Inference("f32", [Length(2, 2)]), "unsound, the shape leaves out"),
    (BOUNDED, Inference("f32", [Length(3, 5)]), "unsound, the shape leaves out"),
    (KNOWN, Inference("f32", [2]), "exact"),
    (KNOWN, Inference("f32", ["?"]), "all lengths are known"),
    (KNOWN, Inference("f32", [2], "depends"), "all lengths are known"),
    (NONE, Refusal(), "exact"),
    (NONE, Refusal("dimension_mismatch", 1), "exact"),
    (NONE, Refusal("dimension_mismatch", 0), "axis of the refusal"),
    (NONE, Inference("f32", ["?", 3]), "wider"),
    (NONE_KNOWN, Inference("f32", [3]), "found f32(3), expected a refusal"),
    (TYPES, Inference("f32", ["?"]), "found f32(?), expected a refusal"),
    (UNRANKED, Inference("f32", "...", "depends"), "exact"),
    (UNRANKED, Inference("f32", ["?"]), "unsound, the shape leaves out"),
])
def test_an_inferred_shape_is_judged_by_the_exact_one(case, answer, verdict):
    found = judge(case, answer)
    assert found.passed == (verdict in ("exact", "wider")) and found.wider == (verdict == "wider")
    assert found.reason.startswith(verdict) if not found.passed else bool(found.reason) == found.wider, found.reason


def test_the_flags_of_an_inferred_result_are_compared_only_if_the_answer_has_them():
    case = infers(Inference("f32", ["?"], "always", (False,)), (Length(1, 1),), (ANY,), rules="theano")
    assert judge(case, Inference("f32", ["?"])) and judge(case, Inference("f32", ["?"], None, [False]))
    assert judge(case, Inference("f32", ["?"], None, [True])).reason.startswith("flags of the result: found (True,)")


def test_a_library_that_does_not_follow_the_order_of_refusals_still_refuses():
    case = InferenceCase("x/y", "", "INFER-11", "numpy", NONE.operands, refusal=NONE.refusal, convention="inferred-refusals")
    for answer, free in ((Refusal("rank_mismatch"), True), (Inference("f32", [2]), False)):
        assert excused(case, answer, judge(case, answer)) == free


@pytest.mark.parametrize("shape", ["?", [-1], [Length(3, 2)], [True], [2.0], [(1, 3)], [None], ["3"]])
def test_an_answer_has_lengths(shape):
    with pytest.raises((TypeError, ValueError)):
        Inference("f32", shape)
    with pytest.raises(ValueError, match="accepts: found 'sometimes'"):
        Inference("f32", [2], "sometimes")
    with pytest.raises(TypeError, match="expected broadcheck_cases.Inference"):
        judge(KNOWN, shape)


def test_lengths_are_read_and_shown():
    written = [Length(), Length(0, 3), Length(2), Length(1, 3), Length(7, 7), Length(0, 0)]
    assert [str(length) for length in written] == ["?", "..3", "2..", "1..3", "7", "0"]
    assert [length.unknown for length in written] == ["length", "bound", "interval", "interval", None, None]
    case, = inference_cases(filter="numpy/infer/largest-bound-meets-two")
    assert 2**64 - 1 in [length.max for operand in case.operands for length in operand.shape]


def test_every_case_of_infer_passes_with_its_own_outcome_and_says_less_without_it():
    everything = inference_cases()
    assert len(everything) > 500
    for case in everything:
        found = judge(case, case.inferred or case.refusal)
        assert found and not found.wider, case.id
        dtype = case.inferred.dtype if case.inferred else "f32"
        less = judge(case, Inference(dtype, "..."))
        of_types = case.refusal and case.refusal.kind in ("dtype_mismatch", "unsupported_function", "operand_count")
        exact = case.inferred and case.inferred.shape == "..."
        assert (less.passed, less.wider) == ((True, not exact) if not case.is_known and not of_types else (False, False)), case.id
        if case.inferred:
            assert not judge(case, Refusal()), case.id


class Everything:
    rules, functions, dtypes, unknown = RULES, FUNCTIONS, DTYPES, list(UNKNOWN)
    operations = [*OPERATIONS, "strided", "broadcast_in_dim", "permuted", "cotangent", "into", "infer"]
    max_elements = 2**63

    def run(self, case):
        return case.result or case.refusal

    def infer(self, case):
        return case.inferred or case.refusal


def missing(given, everything):
    return [Adapter(given).missing(case) for case in everything]


def test_an_adapter_of_everything_misses_nothing_and_each_capability_misses_something():
    everything = [*(case for case in cases(into=True) if case.into), *inference_cases()]
    assert len(everything) > 600 and set(missing(Everything, everything)) == {None}
    narrower = {
        "rules": ["numpy"], "operations": ["elementwise", "into"], "dtypes": ["f32"], "functions": ["add"],
        "unknown": ["rank"], "max_rank": 1, "min_rank": 2, "equal_ranks": True, "scalars": False, "max_operands": 1,
        "max_calls": 0, "unused_operands": False, "large_sizes": False, "static_flags": True,
        "function_dtypes": {"add": ["f64"]}, "rule_operations": {"xla": ["elementwise", "broadcast"]},
        "rule_functions": {"numpy": ["less"]},
    }
    for field, value in narrower.items():
        found = missing(type("Narrower", (Everything,), {field: value}), everything)
        assert 0 < sum(reason is not None for reason in found) < len(everything), field
    assert set(missing(type("Dense", (Everything,), {"operations": ["elementwise", "into"]}), everything)) >= {None, "no strided views"}


def test_a_destination_is_no_unused_operand_and_what_is_unknown_is_named():
    out, = cases(into=True, filter="numpy/into/out-first")
    assert missing(type("Ufunc", (Everything,), {"unused_operands": False}), [out]) == [None]
    assert missing(type("Dense", (Everything,), {"operations": OPERATIONS}), [out]) == ["no destinations"]
    plain = type("Plain", (Everything,), {"unknown": ["length"]})
    shapes = [(ANY,), (Length(0, 3),), (Length(1, 3),), (Length(2),), "..."]
    wanted = [None, "no lengths with an upper bound", *["no lengths with a lower bound"] * 2, "no unknown ranks"]
    assert missing(plain, [infers(NONE.refusal, shape, shape) for shape in shapes]) == wanted
    assert [Adapter(plain).declares(case) for case in (out, ALWAYS)] == [True, True]
    assert [Adapter(type("Runs", (Everything,), {"operations": OPERATIONS})).declares(case) for case in (out, ALWAYS)] == [False, False]
    small = type("Small", (Everything,), {"large_sizes": False})
    ends = [(Length(0, 2**63 - 1),), (Length(0, 2**63),), (Length(2**63),), (ANY, Length(2**32, 2**32), Length(2**31, 2**31))]
    assert missing(small, [infers(NONE.refusal, shape, shape) for shape in ends]) == [None, *["no sizes beyond memory"] * 3]
    # A library that only infers, infers every operation; one that runs has those that it runs.
    both = [*inference_cases(filter="numpy/infer-broadcast/"), ALWAYS]
    assert set(missing(type("Infers", (Everything,), {"operations": ["infer"]}), both)) == {None}
    assert set(missing(type("Runs", (Everything,), {"operations": ["infer", "elementwise"]}), both)) == {None, "no broadcast under numpy"}


def test_an_adapter_has_the_methods_that_it_is_asked_by():
    only = type("Only", (), {"rules": ["numpy"], "operations": ["infer"], "dtypes": ["f32"], "infer": Everything.infer})
    assert Adapter(only).unknown == ["length"] and Adapter(only).answer(ALWAYS) == ALWAYS.inferred
    for operations, without in ((["infer"], "infer"), (["elementwise"], "run")):
        with pytest.raises(AdapterError, match=f"a: found Lacks without `{without}`, expected an adapter with `{without}"):
            Adapter(type("Lacks", (Everything,), {"operations": operations, without: None}), "a")
    with pytest.raises(AdapterError, match="a.unknown: found 'bounds', expected one of: length bound interval rank"):
        Adapter(type("Wrong", (Everything,), {"unknown": ["bounds"]}), "a")
