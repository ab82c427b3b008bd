// How a program for jax-js is written, and what jax-js has.
import { programOf } from "../programs.mjs";

// The protocol's names that are not those of `jax.numpy` in JavaScript.
export const NAMES = {
  not_equal: "notEqual", less_equal: "lessEqual", greater_equal: "greaterEqual", logical_and: "logicalAnd", logical_or: "logicalOr",
  logical_not: "logicalNot", negate: "negative", select: "where",
};
export const FUNCTIONS = (
  "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal " +
  "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split(" ");
export const TYPES = { f32: "float32", f64: "float64", i32: "int32", u32: "uint32", bool: "bool" };
export const DECLARED = {
  name: "jaxjs",
  rules: ["numpy"],
  operations: ["elementwise", "broadcast", "gradient", "cotangent"],
  functions: FUNCTIONS,
  dtypes: Object.keys(TYPES),
};

// Where JavaScript has no Float16Array (Node.js before 24), jax-js makes no array of float64, since it asks whether the values are one. A
// function consumes the arrays that it is given; `.ref` keeps them for the next.
const TABLE = {
  declared: DECLARED,
  start: [
    'import { defaultDevice, grad, init, numpy, vjp } from "@jax-js/jax";',
    "globalThis.Float16Array ??= class {};",
    'await init("wasm");',
    'defaultDevice("wasm");',
  ],
  calls: Object.fromEntries(FUNCTIONS.map((name) => [name, `numpy.${NAMES[name] ?? name}`])),
  operand: (name) => `${name}.ref`,
  tensor: (values, shape, dtype) => `numpy.array(${values}, { shape: [${shape.join(", ")}], dtype: "${TYPES[dtype]}" })`,
  broadcast: (tensor, shape) => `numpy.broadcastTo(${tensor}.ref, [${shape.join(", ")}])`,
  gradient: (wrt, result, cotangent) =>
    cotangent
      ? `vjp((${wrt}) => ${result}, [${wrt}.ref])[1](${cotangent}.ref)[0]`
      : `grad((${wrt}) => numpy.sum(${result}))(${wrt}.ref)`,
  printed: [
    "const { dtype, shape } = result;",
    'const values = Array.from(result.dataSync(), (value) => (Object.is(value, -0) ? "-0" : String(value)));',
    "console.log(`${dtype} (${shape}) [${values.join(\", \")}]`);",
  ],
};

/** The program of a request. */
export const program = (request) => programOf(TABLE, request);
