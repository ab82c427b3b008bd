"""Run `leading` cases on GNU Octave, whose operators broadcast by these rules.

    pip install -r requirements-octave.txt; apt-get install octave
    python ask_octave.py ../cases/leading-*.yaml

second_opinion.py explains the output and the exit status. Octave's arrays have two axes or more and no last axis of length 1 beyond
the second: a scalar is passed as `(1,1)` and a vector as a column, and the shape of an answer is compared up to its last ones. The
first axis is the innermost in Octave, so the values are listed in that order.
"""

import math
import re
import subprocess

import numpy as np

from second_opinion import NotExpressible, Refused, array, main

CLASSES = {"f64": "double", "f32": "single", "bool": "logical", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
           "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}
DTYPES = {name: kind for kind, name in CLASSES.items()}
FUNCTIONS = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "rdivide", "maximum": "max", "minimum": "min",
             "power": "power", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
             "greater_equal": "ge", "logical_and": "and", "logical_or": "or", "logical_not": "not", "negate": "uminus", "abs": "abs",
             "sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh"}
# Prints the class, the size and the values of r, or the message of the error.
PRINTED = """
try
  r = %s;
  printf("class %%s\\nsize%%s\\n", class(r), sprintf(" %%d", size(r)));
  printf("value %%.17g\\n", r);
catch err
  printf("error %%s\\n", err.message);
end
"""


def octave(program):
    command = ["octave-cli", "--norc", "--quiet", "--eval", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def literal(operand):
    """The operand as an expression of Octave. A hexadecimal literal has all bits of a number."""
    if operand["dtype"] not in CLASSES:
        raise NotExpressible(f"Octave has no {operand['dtype']}")
    values = array(operand)
    kind = CLASSES[operand["dtype"]]
    number = (lambda v: repr(float(v))) if values.dtype.kind == "f" else (lambda v: str(int(v)))
    items = " ".join(f"{kind}({number(v)})" for v in values.ravel(order="F"))
    size = [*values.shape, 1, 1][: max(2, values.ndim)]
    return f"reshape({kind}([{items}]), {size})".replace("inf", "Inf").replace("nan", "NaN")


def written(expression, operands):
    if isinstance(expression, str):
        return operands[expression]
    name, *arguments = expression
    if name not in FUNCTIONS:
        raise NotExpressible(f"Octave's {name} does not broadcast")
    return f"{FUNCTIONS[name]}({', '.join(written(argument, operands) for argument in arguments)})"


def ask(case):
    if case.get("operation", "elementwise") != "elementwise":
        raise NotExpressible("only elementwise operations")
    operands = {o["name"]: literal(o) for o in case["operands"]}
    lines = octave(PRINTED % written(case["expression"], operands)).splitlines()
    if lines[0].startswith("error "):
        if "nonconformant" not in lines[0]:
            raise NotExpressible(lines[0])
        raise Refused(lines[0])
    kind, size = lines[0].split()[1], [int(n) for n in lines[1].split()[1:]]
    values = [line.split()[1] for line in lines[2:] if re.fullmatch(r"value \S+", line)]
    values = [float(v) if kind in ("double", "single") else int(float(v)) for v in values][: math.prod(size)]
    rank = max(len(o["shape"]) for o in case["operands"])
    if any(n != 1 for n in size[rank:]):
        raise RuntimeError(f"a result of size {size} for operands of rank {rank} at most")
    size = [*size, *[1] * rank][:rank]
    dtype = np.bool_ if kind == "logical" else kind.replace("double", "float64").replace("single", "float32")
    return np.array(values).astype(dtype).reshape(size, order="F")


if __name__ == "__main__":
    version = octave("printf('%s', version)")
    main(f"GNU Octave {version}", {"leading"}, ask)
