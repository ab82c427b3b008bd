"""The rows of the comparison: a name, the shapes of the operands, and the expression in the engine's JSON format."""
from dataclasses import dataclass

EXP_OF_PRODUCT = ["exp", ["multiply", 0, 1]]
SUM = ["add", 0, 1]
NORM = ["add", ["multiply", ["multiply", ["subtract", 0, 1], 2], 3], 4]
SWISH = ["divide", 0, ["add", 1, ["exp", ["negate", 0]]]]
CUBE = ["multiply", ["multiply", ["multiply", 0, 0], 0], 2]
GELU = ["multiply", ["multiply", ["add", ["tanh", ["multiply", ["add", CUBE, 0], 1]], 4], 0], 3]
SQUARES = ["add", ["multiply", 0, 0], ["multiply", 1, 1]]
SQUARED = ["multiply", ["multiply", ["subtract", 0, 1], ["subtract", 0, 1]], 2]
POLYNOMIAL = ["add", ["multiply", ["add", ["multiply", ["add", ["multiply", 1, 0], 2], 0], 3], 0], 4]


def sum_of(count):
    expression = 0
    for place in range(1, count):
        expression = ["add", expression, place]
    return expression


@dataclass(frozen=True)
class Row:
    name: str
    shapes: tuple
    expression: object
    # The operands that are bools.
    masks: tuple = ()


N = 100_000
SPLATS = tuple((1,) if place % 2 else (4_000_000,) for place in range(10))
MIXED = ((2000, 2000), (2000,), (2000, 1), (1,), (2000, 2000), (2000, 1), (2000,), (2000, 2000), (1,), (2000,))

ROWS = [
    Row("exp(x*y), 100k, nothing broadcast", ((N,), (N,)), EXP_OF_PRODUCT),
    Row("exp(x*y), 100k, x broadcast", ((1,), (N,)), EXP_OF_PRODUCT),
    Row("exp(x*y), 100k, y broadcast", ((N,), (1,)), EXP_OF_PRODUCT),
    Row("sum of 10, 1k", ((1000,),) * 10, sum_of(10)),
    Row("sum of 10, 100k", ((N,),) * 10, sum_of(10)),
    Row("sum of 10, 4M, 5 broadcast", SPLATS, sum_of(10)),
    Row("sum of 10, 2000x2000, mixed", MIXED, sum_of(10)),
    Row("matrix + row, 4000x4000", ((4000, 4000), (4000,)), SUM),
    Row("matrix + column, 4000x4000", ((4000, 4000), (4000, 1)), SUM),
    Row("outer sum, 4000x4000", ((4000, 1), (4000,)), SUM),
    Row("(1000000,3) + (3)", ((1_000_000, 3), (3,)), SUM),
    Row("(1000000,3) + (1000000,1)", ((1_000_000, 3), (1_000_000, 1)), SUM),
    Row("(10000,3) + (3)", ((10_000, 3), (3,)), SUM),
    Row("(10000,3) + (10000,1)", ((10_000, 3), (10_000, 1)), SUM),
    Row("(32,64,56,56) + (64,1,1)", ((32, 64, 56, 56), (64, 1, 1)), SUM),
    Row("rank 6, alternating, 16^6", ((16, 1, 16, 1, 16, 1), (1, 16, 1, 16, 1, 16)), SUM),
    Row("(x-m)*r*g+b, 1000x1000", ((1000, 1000), (1000, 1), (1000, 1), (1000,), (1000,)), NORM),
    Row("x/(1+exp(-x)), 100k", ((N,), (1,)), SWISH),
    Row("gelu, 100k", ((N,), (1,), (1,), (1,), (1,)), GELU),
    Row("relu by select, 100k", ((N,), (1,)), ["select", ["greater", 0, 1], 0, 1]),
    Row("leaky relu, 100k", ((N,), (1,), (1,)), ["select", ["greater", 0, 1], 0, ["multiply", 0, 2]]),
    Row("clip, 100k", ((N,), (1,), (1,)), ["minimum", ["maximum", 0, 1], 2]),
    Row("x*x+y*y, 100k", ((N,), (N,)), SQUARES),
    Row("exp(x-max), 1000x1000", ((1000, 1000), (1000, 1)), ["exp", ["subtract", 0, 1]]),
    Row("where(column,a,b), 300x300", ((300, 1), (300, 300), (300, 300)), ["select", 0, 1, 2], (0,)),
    Row("(x-y)*(x-y)*w, 300x300", ((300, 300), (300,), (300, 1)), SQUARED),
    Row("((a*x+b)*x+c)*x+d, 300x300", ((300, 300), (300, 1), (300, 1), (300, 1), (300, 1)), POLYNOMIAL),
    Row("(2,3) + (3), one call", ((2, 3), (3,)), SUM),
]
