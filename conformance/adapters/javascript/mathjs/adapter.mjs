// math.js on dense matrices of numbers and booleans, which its functions broadcast since version 11.6: the rule set `numpy`. It is
// configured to be `predictable`, because the root of a negative number would otherwise be a complex number.
//
// A matrix without elements has no values that tell its dtype, so it is made with a `datatype`.
import { readFileSync } from "node:fs";
import { Skipped, evaluate, limit, refusals, serve } from "../protocol.mjs";
import { CONFIGURATION, DATATYPES, DECLARED, FUNCTIONS, MAPPED, NAMES, program } from "./program.mjs";
import { all, create } from "mathjs";

const math = create(all, CONFIGURATION);
const KINDS = [
  [/^shape mismatch: |^Dimension mismatch\. Matrix A/, "dimension_mismatch"],
  [/^Dimension mismatch \(/, undefined],
];

/** Functions that take no matrices are mapped over them, as their messages propose. `map(M, log)` fails: it passes an index to `log`, too. */
const mapped = (call) => (argument) => (math.isMatrix(argument) ? math.map(argument, (element) => call(element)) : call(argument));
const CALLS = Object.fromEntries(
  FUNCTIONS.map((name) => [name, math[NAMES[name] ?? name]]).map(([name, call]) => [name, MAPPED.includes(name) ? mapped(call) : call]),
);

function matrix({ shape, values, dtype }) {
  if (shape.length === 0) return values[0];
  if (values.length === 0) return math.matrix(math.zeros(...shape), "dense", DATATYPES[dtype]);
  return math.matrix(math.reshape(values, shape));
}

/** What math.js says about sizes is often a RangeError, as is what JavaScript itself raises. */
function plain(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof RangeError && KINDS.some(([pattern]) => pattern.test(error.message))) throw new Error(error.message);
    throw error;
  }
}

function dtypeOf(answer, values) {
  const types = new Set(values.map((value) => typeof value));
  if (values.length === 0) types.add(answer.datatype());
  const found = [...types].map((type) => Object.keys(DATATYPES).find((dtype) => DATATYPES[dtype] === type));
  if (found.length !== 1 || !found[0]) throw new Error(`the answer has elements of the types ${[...types].join(", ")}`);
  return found[0];
}

function run(request) {
  for (const operand of request.operands) limit(operand.shape);
  const matrices = new Map(request.operands.map((operand) => [operand.name, matrix(operand)]));
  const answer = refusals(KINDS, () => plain(() => evaluate(request.expression, matrices, CALLS)));
  if (!math.isMatrix(answer)) return { dtype: dtypeOf(answer, [answer]), shape: [], values: [answer] };
  const values = answer.valueOf().flat(Infinity);
  return { dtype: dtypeOf(answer, values), shape: answer.size(), values };
}

const { version } = JSON.parse(readFileSync(new URL("node_modules/mathjs/package.json", import.meta.url)));
// A stretch to 65,537 elements takes a minute or three, by the machine: the time grows with the square of the length (finding 192).
await serve({ ...DECLARED, version, unused_operands: false, large_sizes: false, max_elements: 1 << 14, run, program });
