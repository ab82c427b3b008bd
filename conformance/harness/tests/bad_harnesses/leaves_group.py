"""Leaves its process group for that of the program that started it, and never answers the case with the value 5.

The first argument is the file that gets the process id.
"""
import json
import os
import sys
import time

os.setpgid(0, os.getpgid(os.getppid()))
with open(sys.argv[1], "w") as file:
    file.write("%d\n" % os.getpid())

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = {
            "version": 1,
            "implementation": {
                "name": "bad", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"],
                "functions": ["add"], "dtypes": ["i32"],
            },
        }
    else:
        values = message["request"]["operands"][0]["values"]
        if values == [5]:
            with open(sys.argv[1] + ".hangs", "w") as file:
                file.write("%d\n" % os.getpid())
            time.sleep(1000)
        answer = {"seq": message["seq"], "result": {"dtype": "i32", "shape": [1], "values": values}}
    print(json.dumps(answer), flush=True)
