"""Aborts in one case with the answers to earlier ones unsent, because it waits while there are more requests to read.

Adds a line to the file in the first argument at each start. The second says when it aborts: `read`, as soon as it has
read the value 5 and those after it; `answer`, when it comes to the value 5 after the answers to those before it;
`later`, when it comes to the next value after it answered the value 5.
"""
import json
import os
import select
import sys

DECLARED = {
    "name": "bad", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"], "functions": ["add"],
    "dtypes": ["i32"],
}


FILE, MODE = sys.argv[1:]
done = []


def waiting():
    """The lines that can be read now. At the end of the input, none."""
    text = b""
    while not text or select.select([0], [], [], 0.05)[0]:
        chunk = os.read(0, 65536)
        if not chunk:
            break
        text += chunk
    return text.splitlines()


def value(message):
    return message["request"]["operands"][0]["values"][0]


def answer(message):
    if message["cmd"] == "start":
        return {"version": 1, "implementation": DECLARED}
    if MODE == "answer" and value(message) == 5 or done:
        os.abort()
    if MODE == "later" and value(message) == 5:
        done.append(message)
    return {"seq": message["seq"], "result": {"dtype": "i32", "shape": [1], "values": [value(message)]}}


with open(FILE, "a") as starts:
    starts.write("start\n")
while lines := waiting():
    messages = [json.loads(line) for line in lines]
    if MODE == "read" and any(message["cmd"] == "run" and value(message) == 5 for message in messages):
        os.abort()
    if messages[-1]["cmd"] == "stop":
        break
    os.write(1, "".join(json.dumps(answer(message)) + "\n" for message in messages).encode())
