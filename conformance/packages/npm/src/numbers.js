// The dtypes, and the values of a case: reading, rounding and equality. i64 and u64 are BigInt, other numbers Number.

/** In the order in which the suite looks for another dtype, for a library that lacks the one of a case. */
export const DTYPES = ["f64", "f32", "i64", "i32", "f16", "bf16", "i16", "i8", "u64", "u32", "u16", "u8", "bool"];

// Precision in bits, exponents of the smallest subnormal and the smallest normal number, and the largest number.
const FLOATS = {
    f64: [53, -1074, -1022, Number.MAX_VALUE],
    f32: [24, -149, -126, (2 - 2 ** -23) * 2 ** 127],
    f16: [11, -24, -14, 65504],
    bf16: [8, -133, -126, (2 - 2 ** -7) * 2 ** 127],
};

export const isFloat = (dtype) => dtype in FLOATS;
const isWide = (dtype) => dtype === "i64" || dtype === "u64";

/** The number of a float dtype that is nearest to an f64, ties to even. */
export function roundTo(dtype, number) {
    if (dtype === "f64" || number === 0 || !Number.isFinite(number)) return number;
    if (dtype === "f32") return Math.fround(number);
    const [precision, smallest, , largest] = FLOATS[dtype];
    const unit = 2 ** Math.max(exponentOf(number) + 1 - precision, smallest);
    // Exact: the unit is a power of two, and the quotient is in the range of f64.
    const units = Math.abs(number) / unit;
    const below = Math.floor(units);
    const part = units - below;
    const rounded = (part > 0.5 || (part === 0.5 && below % 2 === 1) ? below + 1 : below) * unit;
    const result = rounded > largest ? Infinity : rounded;
    return number < 0 ? -result : result;
}

/** The exponent of the power of two at or below a number; -1023 for all that are subnormal in f64. */
function exponentOf(number) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, number);
    return ((view.getUint16(0) >> 4) & 0x7ff) - 1023;
}

export const isSubnormal = (dtype, value) => isFloat(dtype) && value !== 0 && Math.abs(value) < 2 ** FLOATS[dtype][2];

/** A value of a case file: what JSON numbers cannot express is a string. */
export function read(dtype, literal) {
    if (dtype === "bool") return literal;
    if (isWide(dtype)) return BigInt(literal);
    if (typeof literal !== "string") return literal;
    return { nan: NaN, inf: Infinity, "-inf": -Infinity, "-0.0": -0 }[literal] ?? Number(literal);
}

/** A value of an answer in its dtype, a float rounded to it; throws RangeError if it is no value of the dtype. */
export function normal(dtype, value) {
    if (dtype === "bool") {
        if (typeof value === "boolean") return value;
    } else if (isFloat(dtype)) {
        if (typeof value === "number") return roundTo(dtype, value);
    } else {
        const signed = dtype.startsWith("i");
        const bits = BigInt(dtype.slice(1));
        const whole = typeof value === "bigint" ? value : Number.isSafeInteger(value) ? BigInt(value) : undefined;
        const [low, high] = signed ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n)] : [0n, 2n ** bits];
        // A zero of either sign is the integer 0.
        if (whole !== undefined && whole >= low && whole < high) return isWide(dtype) ? whole : Number(whole);
    }
    throw new RangeError(`found ${show(value)}, expected a value of ${dtype}`);
}

/** Whether two values of one dtype are equal to the bit. Any NaN is NaN. */
export const same = (a, b) => Object.is(a, b);

/** A length, stride or offset: a Number, or a BigInt beyond 2^53. */
export function integer(literal) {
    const number = Number(literal);
    return Number.isSafeInteger(number) ? number : BigInt(literal);
}

export const show = (value) => (Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : String(value));
