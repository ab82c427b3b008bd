// Judges an array library by the broadcasting cases of this kit. Each case is one test, named by the case's id.
//
//     node --test                                             # the library in naive.mjs
//     node --test --test-name-pattern="numpy/zero"            # some cases
//
// The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON. To judge your
// own library, change the first section; the others know only its error Refused.

import assert from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

// ---- The library ----------------------------------------------------------------------------------------------------

import * as library from "./naive.mjs";

const RULES = new Set(["numpy"]); // the rule sets that it follows
const DTYPES = new Set(["f64", "f32", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"]);

/** Why the library cannot express the request in a case, or false if it can. */
function inexpressible(request) {
  const other = request.operands.find(({ dtype }) => !DTYPES.has(dtype));
  if (other) return `the library has no ${other.dtype}`;
  return request.operation === "gradient" && "the library has no gradients";
}

/** The library's answer to the request: an array with `dtype`, `shape` and, in row-major order, `values()`. */
function run(request) {
  const operands = {};
  for (const { name, dtype, shape, values, strides, offset } of request.operands) {
    // With strides, the operand is a view of the buffer `values`; strides and offset are counted in elements.
    operands[name] = library.array(dtype, shape, values.map((value) => literal(dtype, value)), strides, offset);
  }
  // An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]].
  const evaluate = (expression) =>
    typeof expression === "string" ? operands[expression] : library[expression[0]](...expression.slice(1).map(evaluate));
  if (request.operation === "broadcast") return library.broadcastTo(Object.values(operands)[0], request.target_shape);
  return evaluate(request.expression);
}

// ---- The judge ------------------------------------------------------------------------------------------------------

/** The value of a JSON literal. An i64 or u64 is a BigInt: a number cannot hold it beyond 2^53, where the kit writes a
 * string. Floats may be "nan", "inf", "-inf" or "-0.0". */
function literal(dtype, value) {
  if (dtype === "i64" || dtype === "u64") return BigInt(value);
  return typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
}

/** Whether a value is right: Object.is compares to the bit, but takes any NaN for NaN. */
function isRight(dtype, got, wanted, admitted = []) {
  if (Object.is(got, literal(dtype, wanted))) return true;
  return admitted.some(({ value, lower, upper }) => lower === undefined
    ? Object.is(got, literal(dtype, value))
    : literal(dtype, lower) <= got && got <= literal(dtype, upper));
}

function judge(request) {
  if (request.refusal) {
    assert.throws(() => run(request), (error) => {
      if (!(error instanceof library.Refused)) throw error; // a crash
      for (const [field, wanted] of Object.entries(request.refusal)) { // compared only where the library reports them
        if (error[field] !== undefined && wanted !== "any") assert.strictEqual(error[field], wanted, field);
      }
      return true;
    });
    return;
  }
  const { dtype, shape, values: wanted, admitted = {} } = request.result;
  const got = run(request);
  assert.strictEqual(got.dtype, dtype);
  assert.deepStrictEqual([...got.shape], shape);
  const values = got.values();
  assert.strictEqual(values.length, wanted.length);
  wanted.forEach((value, i) => { // `admitted` has the elements of which more than the value in the list is right
    assert(isRight(dtype, values[i], value, admitted[i]), `element ${i} is ${values[i]}, expected ${value}`
      + (admitted[i] ? `, or one of ${JSON.stringify(admitted[i])}` : ""));
  });
}

// ---- The cases ------------------------------------------------------------------------------------------------------

const kit = process.env.BROADCHECK_JSON ?? fileURLToPath(new URL("../../json", import.meta.url));
const counts = { cases: 0, passed: 0, failed: 0, skipped: 0, agree: 0, differ: 0 };
// Not `extreme`: its lengths are strings, because a number cannot hold them. No array in memory is that long.
for (const directory of [".", "optional", "sweeps"]) {
  let files = [];
  try { files = readdirSync(`${kit}/${directory}`).filter((name) => name.endsWith(".json")).sort(); } catch {}
  for (const file of files) {
    for (const request of JSON.parse(readFileSync(`${kit}/${directory}/${file}`, "utf8")).cases) {
      if (!RULES.has(request.rules)) continue;
      const skip = inexpressible(request);
      // Implementations may differ in a case about a convention: as `todo` it is reported, and does not fail the run.
      const optional = request.convention !== undefined;
      const todo = optional && `a convention: ${request.convention}`;
      counts.cases++;
      if (skip) counts.skipped++;
      test(request.id, { skip, todo }, () => {
        try {
          judge(request);
          counts[optional ? "agree" : "passed"]++;
        } catch (error) {
          counts[optional ? "differ" : "failed"]++;
          throw error;
        }
      });
    }
  }
}
assert(counts.cases > 0, `no cases in ${kit}: set BROADCHECK_JSON to the kit's directory json`);
after(() => {
  const { passed, failed, skipped, agree, differ } = counts;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped; conventions: ${agree} agree, ${differ} differ`);
  assert(passed + failed + agree + differ > 0, "no case was judged");
});
