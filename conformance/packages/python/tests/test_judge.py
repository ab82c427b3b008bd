"""The judge, on hand-written cases, and the loader. pytest in an environment where the package is installed."""
import math
import struct
from dataclasses import replace

import pytest

from broadcheck_cases import (
    CONVENTIONS, DTYPES, FUNCTIONS, OPERATIONS, RULES, Adapter, AdapterError, Between, Case, Exactly, Intermediate, Operand,
    Refusal, Refused, Result, cases, judge,
)
from broadcheck_cases import _numbers
from broadcheck_cases._cases import glob
from broadcheck_cases._judge import excused, judge_convention

NAN, INF = math.nan, math.inf


def required(dtype, values, admitted=None, **extras):
    result = Result(dtype, (len(values),), values, admitted, **extras)
    return Case("x/y", "", "V-1", "numpy", "elementwise", (), result=result)


def refused(kind, axis=None, operand=None):
    return Case("x/y", "", "G-6", "numpy", "elementwise", (), refusal=Refusal(kind, axis, operand))


def passes(case, values, dtype=None):
    return bool(judge(case, Result(dtype or case.result.dtype, (len(values),), values)))


def test_values_are_compared_to_the_bit_and_any_nan_is_nan():
    assert passes(required("f64", [1.0, -0.0, NAN]), [1.0, -0.0, -NAN])
    assert not passes(required("f64", [-0.0]), [0.0]) and not passes(required("f64", [0.0]), [-0.0])
    assert not passes(required("f64", [1.0]), [1.0000000000000002])
    assert not passes(required("f64", [NAN]), [1.0]) and not passes(required("f64", [1.0]), [NAN])


def test_an_interval_admits_its_bounds_and_both_zeros_and_never_nan():
    case = required("f64", [0.5], {0: (Between(0.0, 1.0),)})
    assert all(passes(case, [value]) for value in (0.0, -0.0, 0.5, 1.0))
    assert not any(passes(case, [value]) for value in (-5e-324, 1.0000000000000002, NAN, INF))
    anything = required("f64", [0.0], {0: (Between(-INF, INF), Exactly(NAN))})
    assert all(passes(anything, [value]) for value in (NAN, -INF, 3.0))


def test_a_single_admitted_value_is_compared_to_the_bit_and_replaces_the_listed_one():
    case = required("f32", [-0.0], {0: (Exactly(-0.0), Exactly(2.0))})
    assert passes(case, [-0.0]) and passes(case, [2.0]) and not passes(case, [0.0]) and not passes(case, [1.0])
    assert not passes(required("f32", [7.0], {0: (Exactly(2.0),)}), [7.0])


def test_integers_keep_every_digit():
    assert passes(required("i64", [2**53 + 1]), [2**53 + 1]) and not passes(required("i64", [2**53 + 1]), [2**53])
    wide = required("u64", [0], {0: (Between(0, 2**64 - 1),)})
    assert passes(wide, [2**64 - 1]) and not passes(wide, [-1]) and not passes(wide, [2**64])
    assert _numbers.read("i64", "-9223372036854775808") == -(2**63)


def test_dtype_shape_count_and_the_kinds_of_values_must_be_right():
    case = required("f64", [1.0])
    assert judge(case, Result("f32", (1,), [1.0])).reason == "dtype: found f32, expected f64"
    assert judge(case, Result("f64", (), [1.0])).reason == "shape: found (), expected (1)"
    assert not judge(case, Result("f64", (1,), []))
    assert not passes(required("bool", [True]), [1]) and not passes(required("i32", [1]), [True])
    assert not passes(required("i32", [1]), [1.0]) and not passes(required("i8", [1]), [300])
    for answer in ([1.0], None, 1.0):
        with pytest.raises(TypeError, match="expected broadcheck_cases.Result or an array"):
            judge(case, answer if answer != 1.0 else "text")


def test_zeros_that_a_case_admits_still_differ_from_the_convention():
    case = required("f64", [0.0, 1.0], {0: (Between(-0.0, 0.0),)})
    conventional = replace(case, convention="zero-signs")
    for values, agrees in (([0.0, 1.0], True), ([-0.0, 1.0], False)):
        answer = Result("f64", (2,), values)
        assert judge(conventional, answer) and judge_convention(case, answer)
        verdict = judge_convention(conventional, answer)
        assert bool(verdict) == agrees and (agrees or excused(conventional, answer, verdict))


def test_a_wrong_element_is_named_by_its_index():
    case = Case("x/y", "", "V-1", "numpy", "elementwise", (), result=Result("f64", (2, 3), [0.0] * 6))
    assert judge(case, Result("f64", (2, 3), [0.0] * 5 + [1.0])).reason == "element (1,2): found 1.0, expected 0.0"
    assert judge(case, Result("f64", (2, 3), [1.0] * 6)).reason.endswith("and 1 more of 6 elements")


def test_a_refusal_is_compared_in_what_both_sides_report():
    case = refused("dimension_mismatch", 1)
    assert judge(case, Refusal()) and judge(case, Refusal("dimension_mismatch", 1))
    assert not judge(case, Refusal(axis=0)) and not judge(case, Refusal("too_large"))
    assert judge(refused("any"), Refusal("too_large")) and judge(refused("rank_mismatch"), Refusal("rank_mismatch", 7))
    assert not judge(case, Result("f64", (), [1.0])) and not judge(required("f64", [1.0]), Refusal())


def test_flags_and_intermediate_are_compared_only_if_the_answer_has_them():
    dense = {"dtype": "f64", "shape": (1,), "values": [1.0]}
    assert not judge(required("f64", [1.0]), Result(**dense, broadcastable=(False,)))
    assert not judge(required("f64", [1.0]), Result(**dense, intermediate=Intermediate((), (1.0,))))
    case = required("f64", [1.0], broadcastable=(False,), intermediate=Intermediate((1,), (True,), "bool"))
    assert judge(case, Result(**dense)) and judge(case, Result(**dense, broadcastable=(False,)))
    assert judge(case, Result(**dense, intermediate=Intermediate((1,), (True,))))
    assert not judge(case, Result(**dense, intermediate=Intermediate((1,), (False,))))


def test_numbers_are_rounded_to_their_dtype_with_ties_to_even():
    assert [_numbers.round_to("f16", x) for x in (2049.0, 2051.0, 65519.0, 65520.0, 2.0**-25)] == [2048, 2052, 65504, INF, 0]
    assert [_numbers.round_to("bf16", x) for x in (257.0, 259.0, 3.4e38)] == [256, 260, INF]
    assert str(_numbers.round_to("bf16", -(2.0**-134))) == "-0.0"
    for x in (0.1, 3.4028235677973366e38, 1e-45, 7e-46, 1.00000005960464477540):
        try:
            expected = struct.unpack("f", struct.pack("f", x))[0]
        except OverflowError:
            expected = INF
        assert _numbers.round_to("f32", x) == expected


def test_bit_patterns():
    wanted = {"f64": "0x3ff8000000000000", "f32": "0x3fc00000", "f16": "0x3e00", "bf16": "0x3fc0"}
    assert {dtype: _numbers.bits(dtype, 1.5) for dtype in wanted} == wanted
    assert [_numbers.bits("i8", -1), _numbers.bits("u64", 5), _numbers.bits("bool", True)] == ["0xff", "0x0000000000000005", "0x01"]


def test_the_elements_of_a_view_are_read_by_strides_and_offset():
    view = Operand("a", "i64", (2, 2, 1), (0, 1, 2, 3), (-1, 2, 2**63 - 1), 1)
    assert view.elements() == [1, 3, 0, 2]
    assert Operand("a", "i64", (0, 2), (), (1, 1)).elements() == []


def test_globs():
    ids = ["numpy/zero/a", "numpy/zero-rows/b", "xla/zero/a"]
    counts = {text: sum(map(glob(text, prefix=True), ids)) for text in ("numpy/zero", "numpy/*", "*/zero/[ab]", "{xla,numpy}/zero/?")}
    assert set(counts.values()) == {2}
    assert not any(map(glob("numpy/zero"), ids))
    with pytest.raises(ValueError, match="every bracket and brace"):
        glob("{a")


def test_the_selection_of_cases():
    chosen = cases(rules="numpy", conventions=())
    assert len(chosen) > 500 and all(case.rules == "numpy" and not case.convention for case in chosen)
    single = cases(dtypes=["f32"], functions=["add"])
    assert len(single) > 50 and all(case.dtypes == ("f32",) and set(case.calls()) <= {"add"} for case in single)
    assert any(case.retyped_from == "f64" and case.name.endswith("[f32]") for case in single)
    assert len(cases(sweeps=True)) > len(cases()) > len(cases(extreme=False))
    with pytest.raises(ValueError, match="rules: found 'nunpy', expected one of: none numpy"):
        cases(rules="nunpy")


def test_every_case_passes_with_its_own_outcome_and_fails_with_another():
    for case in cases():
        assert judge(case, case.result or case.refusal), case.id
        assert not judge(case, Refusal() if case.result else Result("f64", (), [0.0])), case.id


def test_every_listed_value_is_admitted_and_written_exactly():
    for case in cases():
        for place, entries in (case.result.admitted if case.result else {}).items():
            value = case.result.values[place]
            assert any(entry.admits(value) for entry in entries), case.id
            assert _numbers.same(_numbers.normal(case.result.dtype, value), value), case.id


class Everything:
    rules, functions, dtypes = RULES, FUNCTIONS, DTYPES
    operations = [*OPERATIONS, "strided", "broadcast_in_dim", "permuted", "cotangent"]
    max_elements = 2**63

    def run(self, case):
        return case.result or case.refusal


def test_an_adapter_of_everything_misses_nothing_and_each_capability_misses_something():
    everything = cases()
    assert not [case.id for case in everything if Adapter(Everything).missing(case)]
    narrower = {
        "max_rank": 2, "min_rank": 2, "equal_ranks": True, "scalars": False, "max_operands": 2, "max_calls": 1,
        "unused_operands": False, "negative_strides": False, "max_elements": 3, "flushed_subnormals": ["f64"], "ordered_operands": True,
        "function_dtypes": {"add": ["f64"]}, "rule_operations": {"xla": ["gradient"]}, "rule_functions": {"pdpd": ["add"]},
        "operations": OPERATIONS, "rules": ["numpy"], "dtypes": ["f64"], "functions": ["add"],
    }
    for field, value in narrower.items():
        adapter = Adapter(type("Narrower", (Everything,), {field: value}))
        assert 0 < sum(adapter.missing(case) is not None for case in everything) < len(everything), field
    small = Adapter(type("Small", (Everything,), {"max_elements": 2**28, "large_sizes": False}))
    assert {small.missing(case) for case in everything} == {None, "no sizes beyond memory"}


@pytest.mark.parametrize("spec, message", [
    ("adapter", "found 'adapter', expected MODULE:NAME"),
    ("no_such_module:adapter", "no_such_module:adapter: no module 'no_such_module'"),
    ("json:adapter", "json:adapter: no 'adapter' in json, expected an adapter; it has: "),
    ("json:dumps", "json:dumps: found function without `run`"),
])
def test_what_is_wrong_with_an_adapter_is_named(spec, message):
    with pytest.raises(AdapterError) as raised:
        Adapter.load(spec)
    assert message in str(raised.value)


@pytest.mark.parametrize("field, value, message", [
    ("functions", ["subtrct"], "a.functions: found 'subtrct', expected one of: add subtract"),
    ("rules", "numpy", "a.rules: found the string 'numpy', expected a list of: none"),
    ("dtypes", None, "a: no `dtypes`, expected a list of: f64"),
    ("conventions", ["zero-sign"], "a.conventions: found 'zero-sign', expected one of"),
    ("max_rank", "4", "a.max_rank: found '4', expected a number from 0"),
    ("scalars", 0, "a.scalars: found 0, expected True or False"),
    ("function_dtypes", {"add": ["f128"]}, "a.function_dtypes: found 'f128'"),
])
def test_what_is_wrong_with_a_declaration_is_named(field, value, message):
    with pytest.raises(AdapterError) as raised:
        Adapter(type("Wrong", (Everything,), {field: value}), "a")
    assert message in str(raised.value)


def test_a_refusal_that_an_adapter_raises_is_its_answer():
    class Refusing(Everything):
        def run(self, case):
            raise Refused("no", "dimension_mismatch", axis=1)

    assert Adapter(Refusing).answer(None) == Refusal("dimension_mismatch", 1, None, "no")
    assert len(CONVENTIONS) == 9
