// How a program for TensorFlow.js is written, and what TensorFlow.js has.
import { programOf } from "../programs.mjs";

// The protocol's names that are not TensorFlow's.
export const NAMES = {
  subtract: "sub", multiply: "mul", divide: "div", power: "pow", not_equal: "notEqual", less_equal: "lessEqual",
  greater_equal: "greaterEqual", logical_and: "logicalAnd", logical_or: "logicalOr", logical_not: "logicalNot", negate: "neg",
  select: "where",
};
export const FUNCTIONS = (
  "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal " +
  "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split(" ");
export const TYPES = { f32: "float32", i32: "int32", bool: "bool" };
export const DECLARED = {
  name: "tfjs",
  rules: ["numpy"],
  operations: ["elementwise", "broadcast", "gradient", "cotangent"],
  functions: FUNCTIONS,
  dtypes: Object.keys(TYPES),
};

const TABLE = {
  declared: DECLARED,
  start: ['import tf from "@tensorflow/tfjs";', 'await tf.setBackend("cpu");'],
  calls: Object.fromEntries(FUNCTIONS.map((name) => [name, `tf.${NAMES[name] ?? name}`])),
  tensor: (values, shape, dtype) => `tf.tensor(${values}, [${shape.join(", ")}], "${TYPES[dtype]}")`,
  broadcast: (tensor, shape) => `tf.broadcastTo(${tensor}, [${shape.join(", ")}])`,
  gradient: (wrt, result, cotangent) => `tf.grad((${wrt}) => ${result})(${cotangent ? `${wrt}, ${cotangent}` : wrt})`,
  printed: [
    'const values = Array.from(result.dataSync(), (value) => (Object.is(value, -0) ? "-0" : String(value)));',
    "console.log(`${result.dtype} (${result.shape}) [${values.join(\", \")}]`);",
  ],
};

/** The program of a request. */
export const program = (request) => programOf(TABLE, request);
