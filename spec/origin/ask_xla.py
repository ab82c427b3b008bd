#!/usr/bin/env python3
"""Run the cases of the rule set `xla` on XLA itself and compare the outcomes.

    python3.11 -m venv venv && venv/bin/pip install -r spec/origin/requirements-xla.txt
    venv/bin/python spec/origin/ask_xla.py spec/cases/xla-examples.yaml     # check again, change nothing
    venv/bin/python spec/origin/ask_xla.py --write spec/cases/xla-zero.yaml # fill every `result: ask`

Each case becomes one XlaBuilder computation: two parameters and, where they are combined, a binary operation with the
case's `broadcast_dimensions` unchanged. XLA infers the shapes, refuses or compiles, and runs on its CPU client. Then

  result    acceptance, dtype, shape and every element are compared with the file (bit for bit, any NaN equals any NaN);
            the intermediate's shape is read from the broadcast that XLA's builder emitted for the lower operand (XLA-8).
  refusal   XLA must refuse too; if its message gives the reason, that is compared with the case's kind.

How a case is expressed in XLA, where that is not obvious:

  * A view is gathered into a dense array first; XLA has no strides at this level.
  * If the two operands are combined deeper inside an expression, a subexpression that already has the common shape is
    combined with a subexpression of the lower operand by the case's dimensions, and with one of the higher operand by none.
  * The branches and the condition of `select`, and a bare operand, are first brought to the common shape by
    BroadcastInDim, because XLA's Select does not broadcast. The common shape is the one that XLA infers for Eq(lhs, rhs).
  * A type error or a wrong number of operands is a property of requests that XlaBuilder cannot express, and a request of
    more than 2^28 elements is too large to run: such cases are counted as not run.

If XLA differs and the case's note mentions jaxlib 0.5.3, the difference is counted as noted. The exit status is 1 if XLA
differs otherwise, and 2 if nothing was run.
"""
import argparse
import math
import re
import sys

import ml_dtypes
import numpy as np
import yaml
from jaxlib import xla_client

VERSION = "jaxlib 0.5.3"
ORIGIN = f"system: XLA ({VERSION})"
ops = xla_client.ops

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
}
BINARY = {
    "add": ops.Add, "subtract": ops.Sub, "multiply": ops.Mul, "divide": ops.Div, "maximum": ops.Max,
    "minimum": ops.Min, "power": ops.Pow, "equal": ops.Eq, "not_equal": ops.Ne, "less": ops.Lt,
    "less_equal": ops.Le, "greater": ops.Gt, "greater_equal": ops.Ge, "logical_and": ops.And, "logical_or": ops.Or,
}
UNARY = {
    "negate": ops.Neg, "abs": ops.Abs, "sqrt": ops.Sqrt, "exp": ops.Exp, "log": ops.Log, "tanh": ops.Tanh,
    "logical_not": ops.Not,
}
NOT_EXPRESSIBLE = {"dtype_mismatch", "unsupported_function", "operand_count", "too_large"}
# Fragments of XLA's messages, and the kinds of refusal that they mean.
MESSAGES = [
    (r"Shapes must be equal rank", "rank_mismatch"),
    (r"must either be not set or be the identity", "broadcast_dimensions_not_identity"),
    (r"Size of broadcast_dimensions has to match", "broadcast_dimensions_count"),
    (r"Broadcast dimension number \(.*\) (cannot be negative|too large)", "broadcast_dimension_out_of_range"),
    (r"Broadcast dimensions order is wrong", "broadcast_dimensions_not_increasing"),
    (r"Broadcast dimension \d+ mismatch", "dimension_mismatch"),
    (r"Binary op with incompatible shapes", "dimension_mismatch"),
]
MAX_ELEMENTS = 1 << 28


class NotAsked(Exception):
    """XLA cannot run this case, for the given reason."""


def dense(operand):
    """The operand's elements as a dense array, read through its strides if it is a view."""
    dtype = DTYPES[operand["dtype"]]
    shape = tuple(operand["shape"])
    if operand["dtype"][0] in "iu":
        values = np.array([int(v) for v in operand["values"]], dtype=dtype)
    else:
        values = np.array([float(v) if not isinstance(v, bool) else v for v in operand["values"]], dtype=np.float64)
        values = values.astype(dtype)
    if "strides" not in operand and "offset" not in operand:
        return values.reshape(shape)
    strides = operand.get("strides")
    if strides is None:
        strides = [math.prod(shape[k + 1:]) for k in range(len(shape))]
    offset = operand.get("offset", 0)
    out = np.zeros(shape, dtype=dtype)
    for index in np.ndindex(*shape):
        out[index] = values[offset + sum(i * s for i, s in zip(index, strides))]
    return out


class Lowering:
    """One case's computation. A node is an XlaOp and the set of operands that it was made from."""

    def __init__(self, client, case):
        self.client = client
        self.case = case
        self.operands = case["operands"]
        if len(self.operands) > 2:
            raise NotAsked("three or more operands")
        self.dims = list(case.get("broadcast_dimensions") or [])
        self.shapes = [
            xla_client.Shape.array_shape(np.dtype(DTYPES[o["dtype"]]), tuple(o["shape"])) for o in self.operands
        ]
        self.ranks = [len(o["shape"]) for o in self.operands]
        self.builder = xla_client.XlaBuilder("case")
        self.parameters = [ops.Parameter(self.builder, i, shape) for i, shape in enumerate(self.shapes)]
        self.both = frozenset(range(len(self.operands)))
        self.lower = None
        self.common = tuple(self.operands[0]["shape"])
        self.intermediate_shape = None
        if len(self.operands) == 2:
            if self.ranks[0] != self.ranks[1]:
                self.lower = 0 if self.ranks[0] < self.ranks[1] else 1
            self.infer()
        for shape in [self.common] + [o["shape"] for o in self.operands]:
            if math.prod(shape) > MAX_ELEMENTS or 8 * math.prod(n for n in shape if n) >= 2**63:
                raise NotAsked("too many elements to run")
        self.inputs = [dense(o) for o in self.operands]

    def infer(self):
        """The common shape, as XLA infers it, and what its builder made of the lower operand."""
        builder = xla_client.XlaBuilder("inference")
        shapes = self.shapes
        if shapes[0].element_type() != shapes[1].element_type():
            shapes = [xla_client.Shape.array_shape(np.dtype(np.float32), s.dimensions()) for s in shapes]
        parameters = [ops.Parameter(builder, i, s) for i, s in enumerate(shapes)]
        computation = builder.build(ops.Eq(parameters[0], parameters[1], self.dims))
        self.common = tuple(computation.program_shape().result_shape().dimensions())
        if self.lower is not None:
            text = computation.as_hlo_text()
            name = re.search(r"(\S+) = \S+ parameter\(%d\)" % self.lower, text).group(1)
            found = re.search(r"= \w+\[([\d,]*)\]\S* broadcast\(%s\)" % re.escape(name), text)
            if found is None:
                raise AssertionError("no broadcast of the lower operand in:\n" + text)
            self.intermediate_shape = tuple(int(n) for n in found.group(1).split(",") if n)

    def leaf(self, name):
        names = [o["name"] for o in self.operands]
        i = names.index(name)
        return self.parameters[i], frozenset([i])

    def dims_between(self, left, right):
        """The dimensions for combining two nodes: the case's, unless both already have the same rank."""
        if left == right:
            return []
        if left == self.both or right == self.both:
            other = right if left == self.both else left
            return [] if other == self.both or next(iter(other)) != self.lower else self.dims
        return self.dims

    def to_common(self, node):
        op, origin = node
        if origin == self.both:
            return op
        i = next(iter(origin))
        dims = self.dims if i == self.lower else list(range(self.ranks[i]))
        return ops.BroadcastInDim(op, self.common, dims)

    def node(self, expression):
        if isinstance(expression, str):
            return self.leaf(expression)
        function, *arguments = expression
        nodes = [self.node(a) for a in arguments]
        if function == "select":
            return ops.Select(*[self.to_common(n) for n in nodes]), self.both
        if function in UNARY:
            return UNARY[function](nodes[0][0]), nodes[0][1]
        (left, from_left), (right, from_right) = nodes
        return BINARY[function](left, right, self.dims_between(from_left, from_right)), from_left | from_right

    def run(self, op):
        computation = self.builder.build(op)
        module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
        executable = self.client.compile(module)
        buffers = [self.client.buffer_from_pyval(x) for x in self.inputs]
        return np.asarray(executable.execute(buffers)[0])

    def result(self):
        return self.run(self.to_common(self.node(self.case["expression"])))

    def intermediate(self):
        """The lower operand after the in-dim step, of the shape that XLA's builder gave it."""
        if self.lower is None:
            return None
        builder = xla_client.XlaBuilder("intermediate")
        x = self.inputs[self.lower]
        parameter = ops.Parameter(builder, 0, self.shapes[self.lower])
        op = ops.BroadcastInDim(parameter, self.intermediate_shape, self.dims)
        module = xla_client._xla.mlir.xla_computation_to_mlir_module(builder.build(op))
        return np.asarray(self.client.compile(module).execute([self.client.buffer_from_pyval(x)])[0])


def ask(client, case):
    """(result, intermediate) or the refusal's (kind or None, message)."""
    expected = (case.get("refusal") or {}).get("kind")
    if expected in NOT_EXPRESSIBLE:
        raise NotAsked(expected)
    if case.get("operation", "elementwise") != "elementwise":
        raise NotAsked("not elementwise")
    try:
        lowering = Lowering(client, case)
        return (lowering.result(), lowering.intermediate()), None
    except xla_client.XlaRuntimeError as error:
        message = str(error).split("\n")[0]
        for pattern, kind in MESSAGES:
            if re.search(pattern, message):
                return None, (kind, message)
        return None, (None, message)


def number(value):
    """A scalar as in a case file."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    value = float(value)
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0"
    if value == int(value) and abs(value) < 2**53:
        return str(int(value))
    text = repr(value)
    if "e" in text:
        mantissa, exponent = text.split("e")
        mantissa += "" if "." in mantissa else ".0"
        text = f"{mantissa}e{exponent if exponent[0] == '-' else '+' + exponent.lstrip('+')}"
    return text


def dtype_name(array):
    return next(name for name, dtype in DTYPES.items() if np.dtype(dtype) == array.dtype)


def flow(array):
    return "[" + ", ".join(number(v) for v in array.reshape(-1)) + "]"


def written(result, intermediate):
    text = f"{{dtype: {dtype_name(result)}, shape: {list(result.shape)}, values: {flow(result)}"
    if intermediate is not None:
        text += f", intermediate: {{shape: {list(intermediate.shape)}, values: {flow(intermediate)}}}"
    return text + "}"


def same(expected, values, array):
    if list(expected) != list(array.shape):
        return f"shape {list(array.shape)}, not {list(expected)}"
    wanted = dense({"dtype": dtype_name(array), "shape": expected, "values": values})
    for index in np.ndindex(*array.shape):
        w, g = wanted[index], array[index]
        if not ((w != w and g != g) or w.tobytes() == g.tobytes()):
            return f"element {list(index)} is {g}, not {w}"
    return None


def difference(case, answer, refused):
    """How XLA's answer differs from the file's, in words; None if they agree."""
    if "refusal" in case:
        if refused is None:
            return f"accepts, with shape {list(answer[0].shape)}"
        kind, message = refused
        wanted = case["refusal"]["kind"]
        return None if kind is None or wanted in ("any", kind) else f"refuses as {kind}, not {wanted}: {message}"
    if refused is not None:
        return f"refuses: {refused[1]}"
    result, intermediate = answer
    wanted = case["result"]
    if wanted["dtype"] != dtype_name(result):
        return f"dtype {dtype_name(result)}, not {wanted['dtype']}"
    found = same(wanted["shape"], wanted["values"], result)
    if found is None and "intermediate" in wanted:
        if intermediate is None:
            return "has no intermediate at equal ranks"
        found = same(wanted["intermediate"]["shape"], wanted["intermediate"]["values"], intermediate)
        found = found and "intermediate: " + found
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="replace every `result: ask` by what XLA answers")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    client = xla_client.make_cpu_client()
    asked = agreed = noted = unexplained = skipped = 0
    for path in arguments.files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        document = yaml.safe_load(text)
        for case in document.get("cases") or []:
            if case.get("rules", document.get("rules")) != "xla":
                continue
            try:
                answer, refused = ask(client, case)
            except NotAsked as reason:
                skipped += 1
                print(f"not run    {case['id']}: {reason}")
                continue
            asked += 1
            if case.get("result") == "ask":
                if refused is not None:
                    unexplained += 1
                    print(f"DIFFERS    {case['id']}: refuses: {refused[1]}")
                elif not arguments.write:
                    unexplained += 1
                    print(f"DIFFERS    {case['id']}: no result yet (--write)")
                else:
                    pattern = r"(\n  - id: %s\n(?:(?!\n  - id: ).)*?\n    result: )ask\b" % re.escape(case["id"])
                    text, count = re.subn(pattern, lambda m: m.group(1) + written(*answer), text, flags=re.S)
                    assert count == 1, case["id"]
                    agreed += 1
                continue
            found = difference(case, answer, refused)
            if found is None:
                agreed += 1
            elif VERSION in case.get("note", "") and case.get("origin") != ORIGIN:
                noted += 1
                print(f"noted      {case['id']}: {found}")
            else:
                unexplained += 1
                print(f"DIFFERS    {case['id']}: {found}")
        if arguments.write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    print(f"{asked} run: {agreed} agree, {noted} differ as their note says, {unexplained} differ; {skipped} not run")
    return 2 if asked == 0 else 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
