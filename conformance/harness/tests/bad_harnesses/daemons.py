"""Starts two daemons: each in a session of its own, without standard files, ignoring SIGTERM, one without environment.

The first argument is the file that gets their process ids. Then a correct harness for sums of one i32, which ends at the
value 5 and never answers the value 60.
"""
import json
import os
import signal
import sys
import time


def daemon(environment):
    """The id of a process whose parent is not this one, and not in its group."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(writer, b"%d\n" % os.getpid())
            os.closerange(0, 256)
            os.execve("/bin/sleep", ["sleep", "1000"], environment)
        os._exit(0)
    os.wait()
    return os.read(reader, 100).decode()


with open(sys.argv[1], "a") as file:
    file.write(daemon(dict(os.environ)) + daemon({}))

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        answer = {
            "version": 1,
            "implementation": {
                "name": "daemons", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"],
                "functions": ["add"], "dtypes": ["i32"],
            },
        }
    else:
        operands = [operand["values"][0] for operand in message["request"]["operands"]]
        if operands[0] == 5:
            sys.exit(3)
        if operands[0] == 60:
            time.sleep(1000)
        answer = {"seq": message["seq"], "result": {"dtype": "i32", "shape": [1], "values": [sum(operands)]}}
    print(json.dumps(answer), flush=True)
