"""Broadcasts like NumPy: promotes dtypes, and ignores operands that the expression does not use.

The first argument names something that it does not support. The second is an object whose fields are added to the
answer to `start`.
"""
import itertools
import json
import math
import sys

LACKS, MORE = (sys.argv[1:] + ["", "{}"][len(sys.argv) - 1:])[:2]
START = {
    "name": "limited", "version": "1", "rules": ["numpy"], "operations": ["elementwise", "strided"],
    "functions": ["add", "maximum", "sqrt"], "dtypes": ["f64", "f32", "i32"], **json.loads(MORE),
}
FUNCTIONS = {"add": lambda a, b: a + b, "maximum": max, "sqrt": math.sqrt}
SMALLEST_F32 = 2.0**-126


def unsupported(what, found):
    if what in LACKS.split() and found:
        raise RuntimeError(f"unsupported: {what}")


def calls(expression):
    return 0 if isinstance(expression, str) else 1 + sum(map(calls, expression[1:]))


def names(expression):
    return {expression} if isinstance(expression, str) else set().union(*map(names, expression[1:]))


def common(shapes):
    shape = []
    for lengths in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        others = set(lengths) - {1}
        if len(others) > 1:
            raise ValueError("the shapes cannot be broadcast")
        shape.insert(0, others.pop() if others else 1)
    return shape


def element(operand, index):
    place, stride = operand.get("offset", 0), 1
    strides = operand.get("strides")
    for axis in reversed(range(len(operand["shape"]))):
        length, at = operand["shape"][axis], index[axis - len(operand["shape"])]
        place += (0 if length == 1 else at) * (int(strides[axis]) if strides else stride)
        stride *= length
    value = float(operand["values"][place])
    flushed = "subnormals" in LACKS.split() and operand["dtype"] == "f32" and abs(value) < SMALLEST_F32
    return math.copysign(0.0, value) if flushed else value


def value(expression, operands, index):
    if isinstance(expression, str):
        return element(operands[expression], index)
    function, *arguments = expression
    return FUNCTIONS[function](*(value(argument, operands, index) for argument in arguments))


def run(request):
    expression, operands = request["expression"], {operand["name"]: operand for operand in request["operands"]}
    for operand in operands.values():
        operand["shape"] = [int(length) for length in operand["shape"]]
    shapes = [operand["shape"] for operand in operands.values()]
    if LACKS == "sizes" and any(math.prod(length or 1 for length in shape) >= 2**40 for shape in shapes):
        sys.exit("out of memory")
    used = [operands[name] for name in names(expression)]
    dtypes = {operand["dtype"] for operand in used}
    unsupported("scalars", [] in shapes)
    unsupported("ranks", len(set(map(len, shapes))) > 1)
    unsupported("operands", len(operands) > 2)
    unsupported("unused", len(used) < len(operands))
    unsupported("calls", calls(expression) > 1)
    unsupported("functions", expression[0] == "sqrt" and dtypes == {"f32"})
    shape = common([operand["shape"] for operand in used])
    places = [] if 0 in shape else itertools.product(*map(range, shape))
    values = [value(expression, operands, index) for index in places]
    dtype = dtypes.pop() if len(dtypes) == 1 and not (expression[0] == "sqrt" and dtypes == {"i32"}) else "f64"
    if dtype == "i32":
        return {"dtype": dtype, "shape": shape, "values": [int(found) for found in values]}
    return {"dtype": dtype, "shape": shape, "values": [f if math.isfinite(f) else str(f) for f in values]}


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = {"version": 1, "implementation": START}
    else:
        answer = {"seq": message["seq"]}
        try:
            answer["result"] = run(message["request"])
        except ValueError as refusal:
            answer["refusal"] = {"message": str(refusal)}
        except RuntimeError as error:
            answer["errored"] = {"message": str(error)}
    print(json.dumps(answer), flush=True)
