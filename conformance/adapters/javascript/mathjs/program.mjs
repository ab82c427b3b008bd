// How a program for math.js is written, and what math.js has.
import { programOf } from "../programs.mjs";

// The protocol's names that are not those of math.js. Its `multiply` and `pow` are those of matrices.
export const NAMES = {
  multiply: "dotMultiply", divide: "dotDivide", power: "dotPow", not_equal: "unequal", less: "smaller", less_equal: "smallerEq",
  greater: "larger", greater_equal: "largerEq", logical_and: "and", logical_or: "or", logical_not: "not", negate: "unaryMinus",
};
// These take no matrices.
export const MAPPED = ["sqrt", "exp", "log", "tanh"];
export const FUNCTIONS = (
  "add subtract multiply divide power equal not_equal less less_equal greater greater_equal " +
  "logical_and logical_or negate abs sqrt exp log tanh logical_not"
).split(" ");
export const DATATYPES = { f64: "number", bool: "boolean" };
export const CONFIGURATION = { predictable: true };
export const DECLARED = {
  name: "mathjs",
  rules: ["numpy"],
  operations: ["elementwise"],
  functions: FUNCTIONS,
  dtypes: Object.keys(DATATYPES),
};

function matrix(values, shape, dtype) {
  const lengths = shape.join(", ");
  if (shape.length === 0) return values.slice(1, -1);
  if (shape.includes(0)) return `math.matrix(math.zeros(${lengths}), "dense", "${DATATYPES[dtype]}")`;
  return `math.matrix(${shape.length === 1 ? values : `math.reshape(${values}, [${lengths}])`})`;
}

const START = [
  'import { all, create } from "mathjs";',
  "const math = create(all, { predictable: true });",
];
const ELEMENTWISE = "const elementwise = (call) => (x) => (math.isMatrix(x) ? math.map(x, (one) => call(one)) : call(x));";
const TABLE = {
  declared: DECLARED,
  start: START,
  calls: Object.fromEntries(FUNCTIONS.map((name) => {
    const call = `math.${NAMES[name] ?? name}`;
    return [name, MAPPED.includes(name) ? `elementwise(${call})` : call];
  })),
  tensor: matrix,
  printed: [
    "const elements = math.isMatrix(result) ? result.valueOf().flat(Infinity) : [result];",
    'const types = new Set(elements.length ? elements.map((value) => typeof value) : [result.datatype()]);',
    'const values = elements.map((value) => (Object.is(value, -0) ? "-0" : String(value)));',
    "console.log(`${[...types].join(\" \")} (${math.isMatrix(result) ? result.size() : \"\"}) [${values.join(\", \")}]`);",
  ],
};

/** The program of a request. */
export function program(request) {
  const maps = MAPPED.some((name) => JSON.stringify(request.expression ?? "").includes(`["${name}",`));
  return programOf({ ...TABLE, start: maps ? [...START, ELEMENTWISE] : START }, request);
}
