"""Dies whenever a second request is waiting while it has not answered the first; alone, each is answered.

The first argument is the window for which it asks.
"""
import json
import os
import select
import sys
import time

rest = b""
while True:
    while b"\n" not in rest:
        chunk = os.read(0, 65536)
        if not chunk:
            raise SystemExit
        rest += chunk
    line, rest = rest.split(b"\n", 1)
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = {
            "version": 1,
            "implementation": {
                "name": "bad", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"],
                "functions": ["add"], "dtypes": ["i32"], "window": int(sys.argv[1]),
            },
        }
    else:
        time.sleep(0.05)
        if b"\n" in rest or select.select([0], [], [], 0)[0]:
            os.abort()
        result = {"dtype": "i32", "shape": [1], "values": message["request"]["operands"][0]["values"]}
        answer = {"seq": message["seq"], "result": result}
    os.write(1, json.dumps(answer).encode() + b"\n")
