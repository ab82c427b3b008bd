# Adds, subtracts and multiplies vectors and scalars like NumPy, except that lengths 0 and 1 broadcast to 1, with 0 for the
# missing element.
import json
import math
import operator
import sys

FUNCTIONS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}
START = {
    "name": "maximum", "version": "1", "rules": ["numpy"], "operations": ["elementwise"],
    "functions": list(FUNCTIONS), "dtypes": ["f64"], "max_rank": 1,
}


def value(expression, values, place):
    """One element of an expression."""
    if isinstance(expression, str):
        own = values[expression]
        return own[0] if len(own) == 1 else own[place] if own else 0.0
    function, *arguments = expression
    return FUNCTIONS[function](*(value(argument, values, place) for argument in arguments))


def answered(request):
    lengths = {length for operand in request["operands"] for length in operand["shape"]}
    if len(lengths - {1}) > 1:
        return {"refusal": {"message": "the lengths do not go together", "kind": "dimension_mismatch"}}
    shape = [max(lengths)] if lengths else []
    values = {operand["name"]: [float(word) for word in operand["values"]] for operand in request["operands"]}
    found = [value(request["expression"], values, place) for place in range(math.prod(shape))]
    return {"result": {"dtype": "f64", "shape": shape, "values": [f if math.isfinite(f) else str(f) for f in found]}}


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = {"version": 1, "implementation": START}
    else:
        answer = {"seq": message["seq"], **answered(message["request"])}
    print(json.dumps(answer), flush=True)
