"""Shared by the scripts that run cases on one real system (ask_openvino.py, ask_paddle.py).

Reads case files, builds the operands, compares the system's answer with what the case expects, and prints every difference.
The note of a case that is known to differ contains "<system> <version> differs"; a difference without these words, or these
words without a difference, makes the exit status 1.

Each case runs in a child process, because the systems crash on some. Values are compared in single precision: the systems
compute f64 in f32, and the question here is which elements are combined, not the last bit.
"""

import math
import os
import pickle
import sys

import numpy as np
import yaml

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
}
MAX_ELEMENTS = 1 << 28


class Refused(Exception):
    """The system refuses the request."""


class Crashed(Exception):
    """The system crashed the process. That is never the refusal that a case expects."""


class NotExpressible(Exception):
    """The system cannot express this request, so the case says nothing about it."""


def array(operand):
    """The operand as a contiguous array; a view is read by its offset and strides."""
    if operand["dtype"] not in DTYPES:
        raise NotExpressible(f"no {operand['dtype']} here")
    shape = operand["shape"]
    if math.prod(n for n in shape if n) > MAX_ELEMENTS:
        raise NotExpressible("too many elements to build")
    buffer = np.array(operand["values"], dtype=DTYPES[operand["dtype"]])
    if "strides" not in operand and "offset" not in operand:
        return buffer.reshape(shape)
    strides = operand.get("strides")
    if strides is None:
        strides = [math.prod(shape[k + 1:]) for k in range(len(shape))]
    flat = np.full(shape, operand.get("offset", 0), dtype=np.int64)
    for axis, stride in enumerate(strides):
        steps = np.arange(shape[axis], dtype=np.int64) * stride
        flat = flat + steps.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.ascontiguousarray(buffer[flat]).reshape(shape)


def leaves(expression):
    if isinstance(expression, str):
        return {expression}
    return set().union(*(leaves(argument) for argument in expression[1:]))


def shape_text(shape):
    return "(" + ",".join(str(n) for n in shape) + ")"


def difference(case, answer):
    """None if the answer is the expected one, else one line that says how it differs."""
    if "refusal" in case:
        if answer is None:
            return None
        return f"the case expects {case['refusal']['kind']}; accepted, {shape_text(answer.shape)} {answer.ravel().tolist()[:12]}"
    expected = case["result"]
    if answer is None:
        return f"the case expects {shape_text(expected['shape'])}"
    if list(answer.shape) != expected["shape"]:
        return f"the case expects {shape_text(expected['shape'])}; got {shape_text(answer.shape)}"
    if expected["dtype"] == "bool":
        wrong = answer.ravel() != np.array(expected["values"], dtype=bool)
    else:
        wrong = ~np.isclose(answer.ravel().astype(np.float64), np.array(expected["values"], dtype=np.float64),
                            rtol=1e-5, atol=0, equal_nan=True)
    if wrong.any():
        return f"{int(wrong.sum())} values differ; got {answer.ravel().tolist()[:12]}"
    return None


def apart(ask, case):
    """`ask(case)` in a child process, so that a crash affects only one case."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            answer = ask(case)
        except Exception as error:
            answer = error if isinstance(error, (Refused, NotExpressible)) else RuntimeError(repr(error))
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        data = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not data:
        raise Crashed(f"signal {-status}" if status < 0 else f"exit status {status}")
    answer = pickle.loads(data)
    if isinstance(answer, Exception):
        raise answer
    return answer


def main(system, rules, ask):
    """`system`: name and version; `rules`: the rule sets it knows; `ask(case)` gives an array or raises."""
    counts = {"same": 0, "differs": 0, "not expressible": 0}
    unexplained = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
        for case in document.get("cases") or []:
            case.setdefault("rules", document.get("rules"))
            if case["rules"] not in rules or case.get("result") == "ask" or case.get("operation") == "infer":
                continue
            answer, message, differs = None, "", None
            try:
                answer = apart(ask, case)
            except Refused as refused:
                message = " ".join(str(refused).split())[:240]
            except Crashed as crash:
                differs = f"it crashes: {crash}"
            except NotExpressible as reason:
                counts["not expressible"] += 1
                print(f"  not expressible  {case['id']}: {reason}")
                continue
            differs = differs or difference(case, answer)
            counts["differs" if differs else "same"] += 1
            noted = f"{system} differs" in " ".join(case.get("note", "").split())
            if differs:
                tail = f"; refused: {message}" if message else ""
                print(f"  {'differs (noted) ' if noted else 'DIFFERS'}  {case['id']}: {differs}{tail}")
            elif noted:
                print(f"  AGREES, contrary to its note  {case['id']}")
            unexplained += bool(differs) != noted
    print(f"{system}: " + ", ".join(f"{n} {what}" for what, n in counts.items())
          + (f"; {unexplained} not as their notes say" if unexplained else ""))
    if not counts["same"]:
        sys.exit("no case agreed: nothing was run, or everything is wrong")
    sys.exit(1 if unexplained else 0)
