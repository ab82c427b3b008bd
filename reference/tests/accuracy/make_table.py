#!/usr/bin/env python3
"""Makes table.tsv: correctly rounded values of exp, log, tanh and power in f64, f32, f16 and bf16.

Every value is computed by mpmath with 400 bits and rounded once, to nearest even, in exact integer arithmetic; an
exact result that lies halfway between two numbers (a square of a 27-bit number in f64) is therefore decided as
IEEE 754 does. The draws are seeded: the same mpmath gives the same file.

    python3 make_table.py > table.tsv        # needs mpmath

A row: function, dtype, the bits of the arguments in hex, the bits of the value in hex, the stratum.
"""

import random
import sys

import mpmath

mpmath.mp.prec = 400

# dtype: bits in all, bits of precision, largest exponent of a finite number
FORMATS = {"f64": (64, 53, 1023), "f32": (32, 24, 127), "f16": (16, 11, 15), "bf16": (16, 8, 127)}
HARD_DRAWS = {"f64": 20000, "f32": 20000, "f16": 1500, "bf16": 1500}
HARD_KEPT = 40


class Format:
    """A binary interchange format: the bits of its numbers and their exact values."""

    def __init__(self, name):
        self.name = name
        self.width, self.precision, self.top = FORMATS[name]
        self.stored = self.precision - 1
        self.lowest = 2 - self.top - self.precision  # the exponent of the smallest subnormal
        self.infinity = ((1 << (self.width - self.precision)) - 1) << self.stored
        self.sign = 1 << (self.width - 1)

    def number(self, bits):
        """The exact value of finite bits."""
        sign = -1 if bits & self.sign else 1
        bits &= self.sign - 1
        exponent, fraction = bits >> self.stored, bits & ((1 << self.stored) - 1)
        if exponent == 0:
            return mpmath.ldexp(mpmath.mpf(sign * fraction), self.lowest)
        return mpmath.ldexp(mpmath.mpf(sign * (fraction | 1 << self.stored)), self.lowest + exponent - 1)

    def round(self, value):
        """The bits of a value rounded once, and how far it was from halfway, in ULP (None where exact)."""
        negative = value < 0
        sign = self.sign if negative else 0
        value = abs(value)
        if value == 0:
            return sign, None
        exponent = int(mpmath.floor(mpmath.log(value, 2)))
        while mpmath.ldexp(mpmath.mpf(1), exponent) > value:
            exponent -= 1
        while mpmath.ldexp(mpmath.mpf(1), exponent + 1) <= value:
            exponent += 1
        step = max(exponent - self.stored, self.lowest)
        scaled = mpmath.ldexp(value, -step)
        whole = int(mpmath.floor(scaled))
        rest = scaled - whole
        half = mpmath.mpf(1) / 2
        distance = None if rest == 0 or rest == half else abs(rest - half)
        if rest > half or (rest == half and whole % 2 == 1):
            whole += 1
        # Numbers of one sign are in the order of their bits, so a carry into the exponent needs no care.
        biased = step - self.lowest
        bits = whole + (biased << self.stored)
        return sign | min(bits, self.infinity), distance

    def near(self, value):
        """The bits of the number nearest to a value that is not exact."""
        return self.round(mpmath.mpf(value))[0]

    def draw(self, generator, low, high, signed=True):
        """Random bits with the exponent of the number uniform between low and high."""
        exponent = generator.randint(low, high)
        value = mpmath.ldexp(1 + mpmath.mpf(generator.getrandbits(64)) / 2**64, exponent)
        bits = min(self.near(value), self.infinity - 1)
        return bits | (self.sign if signed and generator.random() < 0.5 else 0)


def functions():
    return {
        "exp": lambda x: mpmath.exp(x),
        "log": lambda x: mpmath.log(x),
        "tanh": lambda x: mpmath.tanh(x),
        "power": power,
    }


def power(x, y):
    # Exact as far as 400 bits reach where the exponent is a small multiple of 1, 1/2 or 1/4, for the ties.
    root, whole = x, y
    while abs(whole) <= 64 and (whole == mpmath.floor(whole) or root > 0) and whole.exp >= -2:
        if whole == mpmath.floor(whole):
            return root ** int(whole)
        root, whole = mpmath.sqrt(root), 2 * whole
    if x < 0:
        size = mpmath.exp(y * mpmath.log(-x))
        return -size if int(y) % 2 else size
    return mpmath.exp(y * mpmath.log(x))


def around(bits, count):
    return [bits + offset for offset in range(-count, count + 1)]


def unary_strata(function, form, generator):
    """Pairs of a stratum's name and argument bits, for one function of one argument."""
    lowest, top = form.lowest, form.top
    smallest_normal = 1 << form.stored
    maximum = form.number(form.infinity - 1)
    half_smallest = mpmath.ldexp(mpmath.mpf(1), lowest - 1)
    if function == "exp":
        reach = int(mpmath.log(mpmath.log(maximum), 2))
        for _ in range(120):
            yield "exponents", form.draw(generator, max(lowest, -70), reach)
        for bits in around(form.near(mpmath.log(maximum)), 6):
            yield "near overflow", bits
        for bits in around(form.near(mpmath.log(half_smallest)), 6):
            yield "near underflow", bits
        for bits in around(form.near(mpmath.log(form.number(smallest_normal))), 4):
            yield "near the smallest normal", bits
        first, last = mpmath.log(half_smallest), mpmath.log(form.number(smallest_normal))
        for _ in range(40):
            yield "subnormal result", form.near(first + (last - first) * generator.random())
    elif function == "log":
        for _ in range(120):
            yield "exponents", form.draw(generator, lowest, top, signed=False)
        for bits in around(form.near(1), 20):
            yield "near one", bits
        for _ in range(30):
            yield "around one", form.near(mpmath.exp((generator.random() - 0.5) * 0.2))
        for bits in [1, 2, 3, smallest_normal - 1, smallest_normal, form.infinity - 1]:
            yield "ends", bits
    elif function == "tanh":
        for _ in range(120):
            yield "exponents", form.draw(generator, max(lowest, -80), 5)
        for _ in range(40):
            yield "rising", form.draw(generator, -4, 3)
        saturation = mpmath.log(2) * (form.precision + 1) / 2
        for bits in around(form.near(saturation), 10):
            yield "near saturation", bits
        for bits in [1, 2, form.sign | 1, smallest_normal - 1, smallest_normal, form.infinity - 1]:
            yield "ends", bits


def unary_candidate(function, form, generator):
    """An argument of the kind among which hard cases are looked for."""
    if function == "exp":
        return form.draw(generator, -6, int(mpmath.log(mpmath.log(form.number(form.infinity - 1)), 2)) - 1)
    if function == "log":
        return form.draw(generator, form.lowest, form.top, signed=False)
    return form.draw(generator, -5, 3)


def power_pair(form, generator, low, high):
    """A base and an exponent whose power has a binary logarithm near a uniform one between low and high."""
    wanted = generator.uniform(low, high)
    while True:
        span = generator.choice([0, 1, 3, form.top // 8, form.top])
        base = form.draw(generator, max(-span, form.lowest), span, signed=False)
        logarithm = mpmath.log(form.number(base), 2)
        if logarithm == 0:
            continue
        exponent = form.near(wanted / logarithm)
        if 0 < exponent & (form.sign - 1) < form.infinity:
            return base, exponent


def power_strata(form, generator):
    lowest, top = form.lowest, form.top
    for _ in range(120):
        yield "range", power_pair(form, generator, lowest, top)
    for _ in range(40):
        yield "subnormal result", power_pair(form, generator, lowest - 1, 1 - top)
    for _ in range(24):
        yield "near overflow", power_pair(form, generator, top + 0.99, top + 1.01)
    for _ in range(12):
        yield "near underflow", power_pair(form, generator, lowest - 1.01, lowest - 0.99)
    for _ in range(30):
        yield "near one", power_pair(form, generator, -0.001, 0.001)
    one = form.near(1)
    for offset in [-3, -2, -1, 1, 2, 3]:
        for scale in [0.3, 0.9]:
            size = abs(mpmath.log(form.number(one + offset), 2))
            yield "base next to one", (one + offset, min(form.near(top * scale / size), form.infinity - 1))
    for exponent in [2, 3, 4, 5, 7, 10, 16, 17, 33, 63, 64, -1, -2, -3, -7, -20, -33]:
        for _ in range(4):
            room = max(1, top // abs(exponent))
            base = form.draw(generator, max(-room, lowest), room - 1)
            yield "integer exponent", (base, form.near(exponent))
    for exponent in [0.5, -0.5, 1.5, -1.5, 0.25, 2.5]:
        for _ in range(6):
            base = form.draw(generator, max(-top // 3, lowest), top // 3, signed=False)
            yield "half exponent", (base, form.near(exponent))
    for bits in range(8):
        whole = (generator.getrandbits(form.precision // 2) | 1 << form.precision // 2) | 1
        yield "exact tie", (form.near(whole), form.near(2))
    for exponent in [-1, -2, -3]:
        yield "powers of two", (form.near(mpmath.ldexp(mpmath.mpf(1), top // 2)), form.near(exponent))
    for base in [1, 2, 1 << form.stored, form.infinity - 1]:
        for exponent in [0.5, 1, -0.5, -1, 2, -2]:
            yield "ends", (base, form.near(exponent))


def main():
    generator = random.Random(20240607)
    rows = {}

    def row(function, form, arguments, stratum):
        """Keeps a row; says how far its value was from halfway."""
        values = [form.number(bits) for bits in arguments]
        if function == "power" and values[0] < 0 and values[1] != mpmath.floor(values[1]):
            return None
        expected, distance = form.round(functions()[function](*values))
        key = (function, form.name, tuple(arguments))
        return key, (expected, stratum), distance

    def keep(found):
        if found is not None:
            rows.setdefault(found[0], found[1])

    for name in FORMATS:
        form = Format(name)
        for function in functions():
            if function == "power":
                for stratum, (base, exponent) in power_strata(form, generator):
                    keep(row(function, form, (base, exponent), stratum))
            else:
                for stratum, bits in unary_strata(function, form, generator):
                    keep(row(function, form, (bits,), stratum))
            # Hard cases: of many draws those whose exact value lies nearest to halfway between two numbers.
            hard = []
            for _ in range(HARD_DRAWS[name]):
                if function == "power":
                    arguments = power_pair(form, generator, 2 - form.top, form.top - 1)
                else:
                    arguments = (unary_candidate(function, form, generator),)
                found = row(function, form, arguments, "hard")
                if found is not None and found[2] is not None:
                    hard.append(found)
            for found in sorted(hard, key=lambda found: found[2])[:HARD_KEPT]:
                keep(found)

    print(f"# Made by make_table.py with mpmath {mpmath.__version__}. function, dtype, arguments, value, stratum")
    for (function, name, arguments), (expected, stratum) in rows.items():
        digits = FORMATS[name][0] // 4
        cells = [function, name, ",".join(f"{bits:0{digits}x}" for bits in arguments)]
        print("\t".join([*cells, f"{expected:0{digits}x}", stratum]))
    print(f"{len(rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
