"""Answers in batches of as many requests as its third argument says, and fails the request with the value 5, or a batch that has it, in the
way that its first argument names. Adds a line to the file of the second argument for each message: the number of its requests."""

import json
import os
import sys
import time

WAY, LOG = sys.argv[1], sys.argv[2]
DECLARED = {"name": "bad", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"], "functions": ["add"],
            "dtypes": ["i32"], "batch": int(sys.argv[3])}


def value(one):
    return one["request"]["operands"][0]["values"][0]


def answer(one):
    if WAY == "errored" and value(one) == 5:
        return {"seq": one["seq"], "errored": {"message": "no five"}}
    return {"seq": one["seq"], "result": {"dtype": "i32", "shape": [1], "values": [value(one)]}}


def fail(requests):
    """What replaces the answer to a message with the value 5."""
    several = len(requests) > 1
    answers = [answer(one) for one in requests]
    if WAY in ("dies", "another_dies") or WAY == "dies_together" and several:
        os.abort()
    if WAY == "hangs" or WAY == "hangs_then_dies" and len(requests) > 4:
        time.sleep(60)
    if WAY == "refuses_batches" and several or WAY == "refuses_then_dies" and len(requests) > 4:
        return {"unbatched": {"message": "too many"}}
    if WAY.endswith("_then_dies") and several:
        os.abort()
    if WAY == "too_few":
        answers.pop()
    if WAY == "too_many":
        answers.append(answers[-1])
    if WAY == "swapped":
        answers[0]["seq"], answers[-1]["seq"] = answers[-1]["seq"], answers[0]["seq"] + (not several)
    if WAY == "twice":
        answers[-1]["seq"] = answers[0]["seq"] - (not several)
    if several:
        return {"answers": answers}
    return answers[0] if answers and WAY != "too_many" else {"answers": answers}


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        reply = {"version": 1, "implementation": DECLARED}
    elif message["cmd"] == "stop":
        break
    else:
        requests = message["requests"] if message["cmd"] == "batch" else [message]
        with open(LOG, "a", encoding="utf-8") as log:
            print(len(requests), file=log)
        if len(requests) > 1 and (WAY == "all_die" or WAY == "another_dies" and 8 in map(value, requests)):
            os.abort()
        if 5 in map(value, requests):
            reply = fail(requests)
        else:
            answers = [answer(one) for one in requests]
            reply = {"answers": answers} if message["cmd"] == "batch" else answers[0]
    print(json.dumps(reply), flush=True)
