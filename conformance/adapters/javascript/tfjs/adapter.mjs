// TensorFlow.js on its backend in plain JavaScript: its functions under the rule set `numpy`, `tf.broadcastTo`, and `tf.grad`.
import { evaluate, limit, refusals, serve } from "../protocol.mjs";
import tf from "@tensorflow/tfjs";

// The protocol's names that are not TensorFlow's.
const NAMES = {
  subtract: "sub", multiply: "mul", divide: "div", power: "pow", not_equal: "notEqual", less_equal: "lessEqual",
  greater_equal: "greaterEqual", logical_and: "logicalAnd", logical_or: "logicalOr", logical_not: "logicalNot", negate: "neg",
  select: "where",
};
const FUNCTIONS = (
  "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal " +
  "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split(" ");
const CALLS = Object.fromEntries(FUNCTIONS.map((name) => [name, tf[NAMES[name] ?? name]]));
const TYPES = { f32: "float32", i32: "int32", bool: "bool" };
const KINDS = [
  [/could not be broadcast together with shapes|cannot be broadcast to/, "dimension_mismatch"],
  [/^broadcastTo\(\): shape.length=/, "rank_mismatch"],
];

function result(request, tensors) {
  if (request.target_shape) return tf.broadcastTo(tensors.get(request.operands[0].name), request.target_shape);
  return evaluate(request.expression, tensors, CALLS);
}

function gradient(request, tensors) {
  const by = tf.grad((wrt) => result(request, new Map(tensors).set(request.wrt, wrt)));
  return by(tensors.get(request.wrt), tensors.get(request.cotangent));
}

function run(request) {
  if (request.target_shape) limit(request.target_shape);
  return tf.tidy(() => {
    const tensors = new Map(request.operands.map((o) => [o.name, tf.tensor(o.values, o.shape, TYPES[o.dtype])]));
    // The message about weights of another shape does not say whether the rank differs.
    const kinds = request.cotangent ? [] : KINDS;
    const answer = refusals(kinds, () => (request.operation === "gradient" ? gradient : result)(request, tensors));
    const values = answer.dtype === "bool" ? Array.from(answer.dataSync(), Boolean) : answer.dataSync();
    return { dtype: Object.keys(TYPES).find((dtype) => TYPES[dtype] === answer.dtype), shape: answer.shape, values };
  });
}

await tf.setBackend("cpu");
await serve({
  name: "tfjs",
  version: tf.version.tfjs,
  rules: ["numpy"],
  operations: ["elementwise", "broadcast", "gradient", "cotangent"],
  functions: FUNCTIONS,
  dtypes: Object.keys(TYPES),
  unused_operands: false, // a function takes none
  large_sizes: false,
  run,
});
