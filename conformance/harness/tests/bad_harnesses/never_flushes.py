"""Keeps its answers in a buffer until it ends."""
import json
import sys

answers = []
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    implementation = {
        "name": "bad", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"], "functions": ["add"],
        "dtypes": ["f64"],
    }
    answers.append({"version": 1, "implementation": implementation})
for answer in answers:
    print(json.dumps(answer))
