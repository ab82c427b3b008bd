// Writes a request as a program in the interface of a system in JavaScript: everything that is the same for every system.
//
// A system describes how its programs are written with a table, and passes `(request) => programOf(table, request)` to `serve` as `program`:
// `start` has the first lines, `calls` the text of each function, `tensor(values, shape, dtype)`, `broadcast(tensor, shape)` and
// `gradient(wrt, result, cotangent)` make their texts, and `printed` has the last lines. `operand(name)`, if there is one, is how a
// variable is given to a function.

/** Why a request cannot be written as a program. */
export class Unwritable extends Error {}

// A longer operand is written if its values are all equal, or follow each other by 1.
const MOST_VALUES = 256;
const FEW_VALUES = 12;
const MOST_ELEMENTS = 4096;
const MOST_CALLS = 40;
const TAKEN = new Set([
  "tf", "result", "values", "console", "Array", "Object", "String", "NaN", "Infinity", "fill", "step",
  "numpy", "grad", "vjp", "init", "dtype", "shape", "math", "all", "create", "elementwise", "elements", "types",
]);

/** A value as text. */
function number(value) {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** The values of an operand as text. */
function written({ name, values }) {
  if (values.length > FEW_VALUES) {
    if (values.every((value) => Object.is(value, values[0]))) return `new Array(${values.length}).fill(${number(values[0])})`;
    const [first] = values;
    const follow = typeof first === "number" && values.every((value, place) => Object.is(value, first + place));
    if (follow) return `Array.from({ length: ${values.length} }, (_, place) => ${first === 0 ? "place" : `${first} + place`})`;
  }
  if (values.length > MOST_VALUES) {
    throw new Unwritable(`the operand ${name} has ${values.length} elements that follow no formula, and a program at most ${MOST_VALUES}`);
  }
  return `[${values.map(number).join(", ")}]`;
}

/** What each operand is called in the program: its own name if it can be one. */
function names(operands) {
  const all = new Map();
  operands.forEach(({ name }, place) => {
    let text = /^[a-z]\w{0,8}$/.test(name) && isVariable(name) && !TAKEN.has(name) ? name : `operand${place}`;
    while ([...all.values()].includes(text)) text += "_";
    all.set(name, text);
  });
  return all;
}

function isVariable(name) {
  try {
    // In strict mode, as in a module; the text is one word.
    new Function(`"use strict"; let ${name};`);
    return true;
  } catch {
    return false;
  }
}

const count = (shape) => shape.reduce((product, length) => product * (length || 1), 1);
const calls = (expression) => (typeof expression === "string" ? 0 : 1 + expression.slice(1).reduce((sum, one) => sum + calls(one), 0));

function check(table, request) {
  const { declared } = table;
  if (request.operation === "infer") throw new Unwritable("nothing is run for an inference");
  if (!declared.rules.includes(request.rules) || !declared.operations.includes(request.operation)) {
    throw new Unwritable(`${declared.name} has no ${request.operation} under the rule set ${request.rules}`);
  }
  const special = ["into", "declared_target_shape"].some((field) => field in request);
  const given = ["strides", "constant", "same", "of", "declared"].find((field) => request.operands.some((operand) => field in operand));
  if (special || given) throw new Unwritable(`${declared.name} is given no operand with ${given ?? "a destination or a declared shape"}`);
  const lacks = request.operands.find(({ dtype }) => !declared.dtypes.includes(dtype));
  if (lacks) throw new Unwritable(`${declared.name} has no ${lacks.dtype}`);
  for (const shape of [...request.operands.map((operand) => operand.shape), request.target_shape ?? []]) {
    if (count(shape) > MOST_ELEMENTS) throw new Unwritable(`the shape (${shape}) has more than ${MOST_ELEMENTS} elements`);
  }
  if (request.expression && calls(request.expression) > MOST_CALLS) throw new Unwritable(`it has more than ${MOST_CALLS} calls`);
}

function text(table, expression, operands) {
  if (typeof expression === "string") return table.operand?.(operands.get(expression)) ?? operands.get(expression);
  const [name, ...rest] = expression;
  if (!table.calls[name]) throw new Unwritable(`${table.declared.name} has no ${name}`);
  return `${table.calls[name]}(${rest.map((argument) => text(table, argument, operands)).join(", ")})`;
}

/** The program of a request, with what is expected if its field `expected` says it. */
export function programOf(table, request) {
  check(table, request);
  const operands = names(request.operands);
  const lines = request.operands.map((o) => `const ${operands.get(o.name)} = ${table.tensor(written(o), o.shape, o.dtype)};`);
  const value = request.target_shape
    ? table.broadcast(operands.get(request.operands[0].name), request.target_shape)
    : text(table, request.expression, operands);
  const cotangent = operands.get(request.cotangent);
  const result = request.operation === "gradient" ? table.gradient(operands.get(request.wrt), value, cotangent) : value;
  const expected = (request.expected ?? "").split("\n").filter((line) => line).map((line) => `// ${line}`);
  return [...table.start, ...lines, `const result = ${result};`, ...table.printed, ...expected, ""].join("\n");
}
