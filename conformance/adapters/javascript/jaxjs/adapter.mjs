// jax-js on its WebAssembly backend: `jax.numpy` under the rule set `numpy`, `broadcastTo`, and `grad` and `vjp`.
import { readFileSync } from "node:fs";
import { Skipped, evaluate, limit, refusals, serve } from "../protocol.mjs";
import { DECLARED, FUNCTIONS, NAMES, TYPES, program } from "./program.mjs";
import { defaultDevice, grad, init, numpy, vjp } from "@jax-js/jax";

const CALLS = Object.fromEntries(FUNCTIONS.map((name) => [name, numpy[NAMES[name] ?? name]]));
const KINDS = [
  [/^Incompatible array broadcast shapes/, "dimension_mismatch"],
  [/^Can't expand/, undefined],
  [/^(grad|vjp|linearize) only supports floating-point dtypes|^Unsupported dtype for /, "unsupported_function"],
  [/^Wrong dtype in where/, "dtype_mismatch"],
];
// A function that a backend lacks for a dtype.
const LACKS = /not supported in wasm backend$/;

// A function consumes the arrays that it is given; `.ref` keeps them for the next.
class Kept extends Map {
  get(name) {
    return super.get(name).ref;
  }
}

function result(request, tensors) {
  if (request.target_shape) return numpy.broadcastTo(tensors.get(request.operands[0].name), request.target_shape);
  return evaluate(request.expression, tensors, CALLS);
}

function gradient(request, tensors) {
  const of = (wrt) => result(request, new Kept(tensors).set(request.wrt, wrt));
  if (!request.cotangent) return grad((wrt) => numpy.sum(of(wrt)))(tensors.get(request.wrt));
  return vjp(of, [tensors.get(request.wrt)])[1](tensors.get(request.cotangent))[0];
}

/** Most of what the system says about shapes and dtypes is a TypeError, as is what JavaScript itself raises. */
function plain(call) {
  try {
    return call();
  } catch (error) {
    if (LACKS.test(error.message)) throw new Skipped(error.message);
    if (error instanceof TypeError && KINDS.some(([pattern]) => pattern.test(error.message))) throw new Error(error.message);
    throw error;
  }
}

function read(answer) {
  const { dtype, shape } = answer;
  return [dtype, shape, answer.dataSync()];
}

function run(request) {
  if (request.target_shape) limit(request.target_shape);
  const made = request.operands.map((o) => [o.name, numpy.array(o.values, { shape: o.shape, dtype: TYPES[o.dtype] })]);
  const tensors = new Kept(made);
  const compute = request.operation === "gradient" ? gradient : result;
  // Nothing is computed until the values are asked for.
  const [dtype, shape, data] = refusals(KINDS, () => plain(() => read(compute(request, tensors))));
  const values = dtype === "bool" ? Array.from(data, Boolean) : data;
  return { dtype: Object.keys(TYPES).find((name) => TYPES[name] === dtype), shape, values };
}

globalThis.Float16Array ??= class {}; // program.mjs says why
await init("wasm");
defaultDevice("wasm");
const { version } = JSON.parse(readFileSync(new URL("node_modules/@jax-js/jax/package.json", import.meta.url)));
await serve({ ...DECLARED, version, unused_operands: false, large_sizes: false, run, program });
