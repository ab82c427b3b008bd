// A small array library, written for clarity. It follows the rule set `numpy`, in the dtypes that have a typed array,
// and bool.
//
// BUG=1, 2 or 3 in the environment plants a bug, to show that the cases find it.

const BUG = process.env.BUG;
const MAX_COUNT = 2 ** 63; // of the lengths other than 0: the first that is too large
const MAX_COMPUTED = 2 ** 24;

const BUFFERS = {
  f64: Float64Array, f32: Float32Array, i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array,
  u64: BigUint64Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array, bool: Array,
};

export class Refused extends Error {
  constructor(kind, axis) {
    super(axis === undefined ? kind : `${kind}, axis ${axis}`);
    Object.assign(this, { kind, axis });
  }
}

/** An array, or with strides a view of the buffer `values`. Storing rounds floats and wraps integers. */
export function array(dtype, shape, values, strides = dense(shape), offset = 0) {
  if (shape.reduce((count, length) => count * (length || 1), 1) >= MAX_COUNT) throw new Refused("too_large");
  const buffer = values instanceof BUFFERS[dtype] ? values : BUFFERS[dtype].from(values);
  return { dtype, shape, strides, offset, buffer, values: () => read({ dtype, shape, strides, offset, buffer }) };
}

function dense(shape) {
  let stride = 1;
  return shape.map((_, k) => shape[shape.length - 1 - k]).map((length) => {
    const own = stride;
    stride *= length;
    return own;
  }).reverse();
}

/** The elements of an array in row-major order. */
function read({ shape, strides, offset, buffer }) {
  if (shape.includes(0)) return [];
  if (shape.reduce((count, length) => count * length, 1) > MAX_COMPUTED) throw new RangeError("too many elements");
  let places = [offset];
  shape.forEach((length, axis) => {
    // With the bug, a reversed view is read forwards.
    const stride = BUG === "2" ? Math.abs(strides[axis]) : strides[axis];
    places = places.flatMap((place) => Array.from({ length }, (_, i) => place + i * stride));
  });
  return places.map((place) => buffer[place]);
}

/** A view with the shape: axes are aligned at the right, and those of length 1 get the stride 0. */
export function broadcastTo(a, shape) {
  const missing = shape.length - a.shape.length;
  if (missing < 0) throw new Refused("rank_mismatch");
  const strides = shape.map((length, axis) => {
    const own = axis < missing ? 1 : a.shape[axis - missing];
    if (own !== 1 && own !== length) throw new Refused("dimension_mismatch", axis);
    return own === 1 ? 0 : a.strides[axis - missing];
  });
  return array(a.dtype, shape, a.buffer, strides, a.offset);
}

/** On each axis, the one length other than 1. */
function commonShape(shapes) {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, axis) => {
    // With the bug, axes are aligned at the left.
    const lengths = shapes.map((shape) => shape[BUG === "1" ? axis : axis - rank + shape.length] ?? 1);
    const others = new Set(lengths.filter((length) => length !== 1));
    if (others.size > 1) throw new Refused("dimension_mismatch", axis);
    return others.size ? [...others][0] : 1;
  });
}

const kindOf = (dtype) => (dtype === "bool" ? "bool" : dtype[0] === "f" ? "float" : "integer");

/** A function of arrays, from one of values that also gets the dtype. */
function elementwise(kinds, f, returns) {
  return (...arrays) => {
    const [{ dtype }] = arrays.slice(-1); // of select, the first argument is the condition
    const typed = f === choose ? arrays.slice(1) : arrays;
    if (typed.some((a) => a.dtype !== dtype) || (f === choose && arrays[0].dtype !== "bool")) {
      throw new Refused("dtype_mismatch");
    }
    if (!kinds.includes(kindOf(dtype))) throw new Refused("unsupported_function");
    const shape = commonShape(arrays.map((a) => a.shape));
    const columns = arrays.map((a) => broadcastTo(a, shape).values());
    return array(returns ?? dtype, shape, columns[0].map((_, i) => f(...columns.map((column) => column[i]), dtype)));
  };
}

const choose = (condition, x, y) => (condition ? x : y);
const larger = (x, y) => {
  if (BUG === "3") return x > y ? x : y; // drops a NaN in x
  return x !== x || x > y || (x === y && Object.is(y, -0)) ? x : y;
};
const smaller = (x, y) => (x !== x || x < y || (x === y && Object.is(x, -0)) ? x : y);
// A product of 32 bits does not fit the 53 bits of a number.
const product = (x, y, dtype) => (kindOf(dtype) === "integer" && typeof x === "number" ? Math.imul(x, y) : x * y);

const NUMBERS = ["float", "integer"], ALL = ["float", "integer", "bool"];
export const add = elementwise(NUMBERS, (x, y) => x + y);
export const subtract = elementwise(NUMBERS, (x, y) => x - y);
export const multiply = elementwise(NUMBERS, product);
export const maximum = elementwise(NUMBERS, (x, y) => (y !== y && BUG !== "3" ? y : larger(x, y)));
export const minimum = elementwise(NUMBERS, (x, y) => (y !== y ? y : smaller(x, y)));
export const negate = elementwise(NUMBERS, (x) => -x);
export const abs = elementwise(NUMBERS, (x) => (x < 0 || Object.is(x, -0) ? -x : x));
export const divide = elementwise(["float"], (x, y) => x / y);
// IEEE 754 has 1 ** NaN = 1 and (-1) ** inf = 1, where JavaScript has NaN.
export const power = elementwise(["float"], (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y));
export const sqrt = elementwise(["float"], (x) => Math.sqrt(x));
export const exp = elementwise(["float"], (x) => Math.exp(x));
export const log = elementwise(["float"], (x) => Math.log(x));
export const tanh = elementwise(["float"], (x) => Math.tanh(x));
export const less = elementwise(NUMBERS, (x, y) => x < y, "bool");
export const less_equal = elementwise(NUMBERS, (x, y) => x <= y, "bool");
export const greater = elementwise(NUMBERS, (x, y) => x > y, "bool");
export const greater_equal = elementwise(NUMBERS, (x, y) => x >= y, "bool");
export const equal = elementwise(ALL, (x, y) => x === y, "bool");
export const not_equal = elementwise(ALL, (x, y) => x !== y, "bool");
export const logical_and = elementwise(["bool"], (x, y) => x && y);
export const logical_or = elementwise(["bool"], (x, y) => x || y);
export const logical_not = elementwise(["bool"], (x) => !x);
export const select = elementwise(ALL, choose);
