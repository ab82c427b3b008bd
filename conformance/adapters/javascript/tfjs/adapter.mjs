// TensorFlow.js on its backend in plain JavaScript: its functions under the rule set `numpy`, `tf.broadcastTo`, and `tf.grad`.
import { evaluate, limit, refusals, serve } from "../protocol.mjs";
import { DECLARED, FUNCTIONS, NAMES, TYPES, program } from "./program.mjs";
import tf from "@tensorflow/tfjs";

const CALLS = Object.fromEntries(FUNCTIONS.map((name) => [name, tf[NAMES[name] ?? name]]));
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
  ...DECLARED,
  version: tf.version.tfjs,
  unused_operands: false, // a function takes none
  large_sizes: false,
  run,
  program,
});
