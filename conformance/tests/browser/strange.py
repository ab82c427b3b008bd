"""An implementation with a strange name and strange answers: what a page must show as text and never obey."""

import json
import sys

NAME = "<script>window.owned=1</script>\x1b[31m&\"'"
VERSION = "</title>--> ]]>\u202e9"
ANSWERS = [
    {"refusal": {"message": "</pre><img src=x onerror='window.owned=2'> ````\x1b]0;owned\x07 " + "x" * 9000}},
    {"errored": {"message": "<b onclick=alert(1)>&amp;\0\ufffe</b>"}},
    {"skipped": {"reason": "</script><script>window.owned=3</script>"}},
    {"result": {"dtype": "f64", "shape": [1], "values": [1.0]}},
]

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        abilities = {"rules": ["numpy", "xla"], "operations": ["elementwise"], "functions": ["add", "subtract"],
                     "dtypes": ["f64", "f32", "i32"]}
        answer = {"version": 1, "implementation": {"name": NAME, "version": VERSION, "language": "Python", **abilities}}
    elif message["cmd"] == "run":
        answer = {"seq": message["seq"], **ANSWERS[message["seq"] % len(ANSWERS)]}
    else:
        break
    print(json.dumps(answer), flush=True)
