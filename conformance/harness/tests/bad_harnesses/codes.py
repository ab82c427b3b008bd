"""Sends terminal codes in its name, version and messages."""

import json
import sys

EVIL = "\x1b[31mEVIL\x07\u202e"
DECLARED = {"rules": ["numpy"], "operations": ["elementwise"], "functions": ["subtract", "add"], "dtypes": ["i64"]}

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        implementation = {"name": "n" + EVIL, "version": "1" + EVIL, **DECLARED}
        answer = {"version": 1, "implementation": implementation}
    elif message["cmd"] == "stop":
        break
    else:
        answer = {"seq": message["seq"], "errored": {"message": EVIL}}
    print(json.dumps(answer), flush=True)
