"""Answers runs of one operand, and infers the sum of two vectors; the argument says how, or is the answer itself."""

import json
import sys

MODE = sys.argv[1] if len(sys.argv) > 1 else "exact"

START = {
    "version": 1,
    "implementation": {
        "name": "infers",
        "version": "1.0",
        "rules": ["none"],
        "operations": ["elementwise", "infer"],
        "functions": [],
        "dtypes": ["f64"],
        "large_sizes": False,
    },
}


def inferred(request):
    """The answer to a signature of vectors."""
    if MODE.startswith("{"):
        return json.loads(MODE)
    lengths = [operand["shape"][0] for operand in request["operands"]]
    known = {length for length in lengths if length != "?"}
    if len(known) > 1 or (MODE == "refuses" and "?" in lengths):
        return {"refusal": {"message": "the lengths differ"}}
    shape = list(known)
    if "?" in lengths and MODE == "wider":
        shape = ["?"]
    if "?" in lengths and MODE == "narrow":
        shape = [7]
    return {"inferred": {"dtype": "f64", "shape": shape}}


def run(request):
    """The only operand that the expression names, if the shapes are equal."""
    first = request["operands"][0]
    if any(operand["shape"] != first["shape"] for operand in request["operands"]):
        return {"refusal": {"message": "the shapes differ"}}
    named = {operand["name"]: operand for operand in request["operands"]}
    operand = named[request["expression"]]
    return {"result": {name: operand[name] for name in ("dtype", "shape", "values")}}


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = START
    else:
        request = message["request"]
        infers = request.get("operation") == "infer"
        answer = {"seq": message["seq"], **(inferred(request) if infers else run(request))}
    print(json.dumps(answer), flush=True)
