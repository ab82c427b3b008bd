"""Judges an array library by the broadcasting cases of this kit. Each case is one test, named by the case's id.

    pip install pytest numpy
    pytest -q test_broadcasting.py                        # NumPy
    LIBRARY=naive pytest -q test_broadcasting.py          # the small library beside this file
    pytest test_broadcasting.py -k "numpy/zero" -v        # some cases, one line each

The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON. To judge your
own library, change the first section; the others know nothing about it.
"""
import importlib, json, math, os, pathlib, pytest

# ---- The library -----------------------------------------------------------------------------------------------------

np = importlib.import_module(os.environ.get("LIBRARY", "numpy"))
RULES = {"numpy"}  # the rule sets that it follows
DTYPES = {"bool": "bool_", "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
          **{f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}}
FUNCTIONS = {"negate": "negative", "select": "where"}  # the other functions have the same name
REFUSALS = ValueError, TypeError
MAX_RANK = 64
# Cases that it is known to fail. They are run, and fail the tests when they start to pass.
KNOWN = {"numpy": {"numpy/values/power-to-the-half-is-no-square-root": "github.com/numpy/numpy/issues/21213"}}

def literal(dtype, value):
    """A value as a Python number. Floats may be "nan", "inf", "-inf" or "-0.0"; integers beyond 2^53 are strings."""
    return value if dtype == "bool" else float(value) if "f" in dtype else int(value)

def operand(described):
    """An array. With strides, it is a view of the buffer `values`; strides and offset are counted in elements."""
    dtype, shape = described["dtype"], [int(length) for length in described["shape"]]
    if not hasattr(np, DTYPES[dtype]) or len(shape) > MAX_RANK:
        pytest.skip(f"the library has no {dtype}" if len(shape) <= MAX_RANK else "rank")
    values = np.array([literal(dtype, value) for value in described["values"]], DTYPES[dtype])
    if "strides" not in described or 0 in shape:  # an array without elements does not read its buffer
        return np.ndarray(shape, DTYPES[dtype], values)
    size = values.itemsize
    strides = [int(stride) * size for stride in described["strides"]]
    return np.ndarray(shape, DTYPES[dtype], values, int(described["offset"]) * size, strides)

def evaluate(expression, operands):
    """An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]]."""
    if isinstance(expression, str):
        return operands[expression]
    function = getattr(np, FUNCTIONS.get(expression[0], expression[0]))
    return function(*[evaluate(argument, operands) for argument in expression[1:]])

def run(case):
    """The library's answer to the request in a case: an array, or one of REFUSALS, raised."""
    if case["operation"] == "gradient":
        pytest.skip("the library has no gradients")
    operands = {described["name"]: operand(described) for described in case["operands"]}
    if case["operation"] == "broadcast":
        [array] = operands.values()
        return np.broadcast_to(array, [int(length) for length in case["target_shape"]])
    return evaluate(case["expression"], operands)

# ---- The judge -------------------------------------------------------------------------------------------------------

def same(a, b):
    """Equal to the bit, except that any NaN is NaN."""
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))

def admits(entry, dtype, got):
    if "value" in entry:
        return same(got, literal(dtype, entry["value"]))
    return literal(dtype, entry["lower"]) <= got <= literal(dtype, entry["upper"])

def judge(case):
    if "refusal" in case:
        with pytest.raises(REFUSALS) as caught:
            run(case)
        for field, wanted in case["refusal"].items():  # compared only where the library reports them
            assert wanted == "any" or getattr(caught.value, field, wanted) == wanted, field
        return
    wanted, got = case["result"], run(case)
    assert str(got.dtype) == DTYPES[wanted["dtype"]].strip("_")
    assert list(got.shape) == [int(length) for length in wanted["shape"]]
    admitted = wanted.get("admitted", {})  # elements of which more than the value in the list is right
    for i, (g, w) in enumerate(zip(got.ravel().tolist(), wanted["values"], strict=True)):
        if not same(g, literal(wanted["dtype"], w)):
            assert any(admits(entry, wanted["dtype"], g) for entry in admitted.get(str(i), [])), (
                f"element {i} is {g!r}, expected {w!r}, or one of {admitted.get(str(i), [])}")

# ---- The cases -------------------------------------------------------------------------------------------------------

def cases():
    kit = pathlib.Path(os.environ.get("BROADCHECK_JSON", pathlib.Path(__file__).parent / "../../json"))
    for file in sorted(kit.rglob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            known = KNOWN.get(np.__name__, {}).get(case["id"])
            marks = [pytest.mark.xfail(reason=known, strict=True)] if known else []
            if "convention" in case:  # implementations may differ: xpassed if the library agrees, otherwise xfailed
                marks.append(pytest.mark.xfail(reason=f"differs from the convention {case['convention']}"))
            if case["rules"] in RULES:
                yield pytest.param(case, id=case["id"], marks=marks)

CASES, JUDGED = list(cases()), set()
assert CASES, "no cases: set BROADCHECK_JSON to the kit's directory json"

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test(case):
    judge(case)
    JUDGED.add(case["id"])

def test_that_some_cases_were_not_skipped():
    assert JUDGED
