"""Run `pdpd` cases on PaddlePaddle, whose elementwise operations these rules describe.

    pip install -r requirements-paddle.txt
    python ask_paddle.py ../cases/pdpd-*.yaml

second_opinion.py explains the output and the exit status. The public functions (paddle.add) follow NumPy and take no axis;
the operations under `paddle._legacy_C_ops` do. If the expression is not one such operation of A and B in that order, Paddle
adds B to zeros of A's shape and NumPy computes the expression on the two, which then have equal shapes.
"""

import warnings

import numpy as np

from second_opinion import NotExpressible, Refused, array, main

warnings.filterwarnings("ignore")
import paddle  # noqa: E402

OPERATIONS = {"add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul",
              "divide": "elementwise_div", "maximum": "elementwise_max", "minimum": "elementwise_min",
              "power": "elementwise_pow"}
NUMPY = {"select": np.where, "abs": np.abs}


def evaluate(expression, inputs):
    if isinstance(expression, str):
        return inputs[expression]
    function = NUMPY.get(expression[0]) or getattr(np, {"negate": "negative"}.get(expression[0], expression[0]))
    return function(*(evaluate(part, inputs) for part in expression[1:]))


def operation(name, a, b, axis):
    try:
        return getattr(paddle._legacy_C_ops, name)(paddle.to_tensor(a), paddle.to_tensor(b), "axis", axis).numpy()
    except OverflowError as error:
        raise Refused(str(error)) from error
    except (ValueError, RuntimeError, IndexError) as error:
        lines = [line.strip() for line in str(error).splitlines()]
        hints = [line for line in lines if "Error" in line or "Argument" in line or "Hint" in line]
        raise Refused(" ".join(hints or lines[-3:])) from error


def ask(case):
    if case.get("operation", "elementwise") != "elementwise" or len(case["operands"]) != 2:
        raise NotExpressible("only elementwise operations of two operands")
    names = [o["name"] for o in case["operands"]]
    a, b = (array(o) for o in case["operands"])
    axis = case.get("axis", -1)
    if not -(1 << 31) <= axis < 1 << 31:
        raise NotExpressible("Paddle's axis is a 32-bit number")
    expression = case["expression"]
    if expression[0] in OPERATIONS and expression[1:] == names:
        return operation(OPERATIONS[expression[0]], a, b, axis)
    if b.dtype == np.bool_:
        brought = operation("elementwise_add", np.zeros(a.shape, np.int32), b.astype(np.int32), axis).astype(bool)
    else:
        brought = operation("elementwise_add", np.zeros(a.shape, b.dtype), b, axis)
    if brought.shape != a.shape:
        return brought
    return evaluate(expression, dict(zip(names, [a, brought])))


if __name__ == "__main__":
    main(f"Paddle {paddle.__version__}", {"pdpd"}, ask)
