# Answers every sum with the shape of its first operand, all ones; crashes if an operand is empty.
import json
import math
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        implementation = {
            "name": "ones", "version": "1", "rules": ["numpy"], "operations": ["elementwise"],
            "functions": ["add"], "dtypes": ["f64"], "max_rank": 1,
        }
        answer = {"version": 1, "implementation": implementation}
    else:
        shapes = [operand["shape"] for operand in message["request"]["operands"]]
        if any(0 in shape for shape in shapes):
            sys.exit(3)
        result = {"dtype": "f64", "shape": shapes[0], "values": [1] * math.prod(shapes[0])}
        answer = {"seq": message["seq"], "result": result}
    print(json.dumps(answer), flush=True)
