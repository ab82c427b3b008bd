"""Only infers, under the rule set none, and promises that every run is accepted."""

import json
import sys

START = {
    "version": 1,
    "implementation": {
        "name": "infers-wrongly",
        "version": "1.0",
        "rules": ["none"],
        "operations": ["infer"],
        "functions": [],
        "dtypes": ["f32", "f64"],
        "large_sizes": False,
        "conventions": ["unused-operands"],
    },
}


def inferred(request):
    """The lengths that are known on each axis."""
    operands = {operand["name"]: operand for operand in request["operands"]}
    shapes = [operand["shape"] for operand in operands.values()]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        return {"refusal": {"message": "the ranks differ"}}
    shape = []
    for lengths in zip(*shapes):
        known = {length for length in lengths if length != "?"}
        if len(known) > 1:
            return {"refusal": {"message": "the lengths differ"}}
        shape.append(known.pop() if known else "?")
    dtype = operands[request["expression"]]["dtype"]
    return {"inferred": {"dtype": dtype, "shape": shape, "accepts": "always"}}


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    answer = START if message["cmd"] == "start" else {"seq": message["seq"], **inferred(message["request"])}
    print(json.dumps(answer), flush=True)
