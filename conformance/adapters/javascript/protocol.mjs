// broadcheck's protocol for adapters in JavaScript: everything that is the same for every system.
//
// An adapter exports nothing. It calls `serve` with an object that has the fields of the answer to `start`, and a method
// `run(request)`, which returns {dtype, shape, values}. Inside `refusals`, and only there, an exception that the system raises
// because the operands are incompatible becomes a refusal. Nothing here computes a rule.
import { createInterface } from "node:readline";
import { Unwritable } from "./programs.mjs";

// Standard output is for answers. What a library prints goes to standard error.
for (const name of ["log", "info", "debug", "warn"]) console[name] = console.error;

/** The system says that the request is invalid. */
class Refused extends Error {
  constructor(message, kind) {
    super(message);
    this.fields = { message, kind };
  }
}

/** The request cannot be expressed in the system. */
export class Skipped extends Error {}

const MAX_ELEMENTS = 2 ** 28;

/** Skips a shape that is too large to allocate, whether or not another length is 0. */
export function limit(shape) {
  if (shape.reduce((count, length) => count * (length || 1), 1) > MAX_ELEMENTS) {
    throw new Skipped(`a shape ${shape} has more than ${MAX_ELEMENTS} elements`);
  }
}

/** Calls the system. An exception is a refusal if JavaScript itself did not raise it; `kinds` are pairs of a pattern for the
 * message and the kind of refusal that it means. */
export function refusals(kinds, call) {
  try {
    return call();
  } catch (error) {
    if (error.constructor !== Error) throw error;
    const kind = kinds.find(([pattern]) => pattern.test(error.message));
    throw new Refused(error.message.slice(0, 600), kind && kind[1]);
  }
}

/** Evaluates the expression, function by function, with the system's functions on the system's arrays. */
export function evaluate(expression, operands, functions) {
  if (typeof expression === "string") return operands.get(expression);
  const [name, ...rest] = expression;
  return functions[name](...rest.map((argument) => evaluate(argument, operands, functions)));
}

function number(value) {
  return typeof value !== "string" ? value : { nan: NaN, inf: Infinity, "-inf": -Infinity }[value] ?? Number(value);
}

/** A request as the protocol writes it, with numbers in place of strings. */
export function read(request) {
  const lengths = (field) => field && field.map(Number);
  const operand = (o) => ({ ...o, shape: lengths(o.shape), values: o.values?.map(number) });
  return { operation: "elementwise", ...request, target_shape: lengths(request.target_shape), operands: request.operands.map(operand) };
}

/** JSON has a negative zero, which JSON.stringify does not write. */
function written(value) {
  if (typeof value === "boolean") return String(value);
  if (Object.is(value, -0)) return "-0.0";
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? '"nan"' : value > 0 ? '"inf"' : '"-inf"';
}

function answer(system, request) {
  try {
    const { dtype, shape, values } = system.run(read(request));
    const text = Array.from(values, written).join(",");
    return `"result":{"dtype":${JSON.stringify(dtype)},"shape":${JSON.stringify(shape)},"values":[${text}]}`;
  } catch (error) {
    if (error instanceof Refused) return `"refusal":${JSON.stringify(error.fields)}`;
    if (error instanceof Skipped) return `"skipped":${JSON.stringify({ reason: error.message })}`;
    return `"errored":${JSON.stringify({ message: `${error.name}: ${error.message}`.slice(0, 600) })}`;
  }
}

/** Prints the program of the request on standard input. The exit status is 2, with a message, if there is none. */
async function printProgram(system) {
  let text = "";
  for await (const part of process.stdin) text += part;
  try {
    process.stdout.write(system.program(read(JSON.parse(text))));
  } catch (error) {
    const reason = error instanceof Unwritable ? "cannot be written because " : "found no request, expected one as JSON: ";
    process.stderr.write(`${reason}${error.message}\n`);
    process.exitCode = 2;
  }
}

/** Answers requests until there are no more; with the argument `--program`, writes one as a program. */
export async function serve(system) {
  if (process.argv[2] === "--program") return printProgram(system);
  const { run, program, ...declared } = system;
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.cmd === "stop") break;
    const start = JSON.stringify({ version: 1, implementation: { language: "javascript", ...declared } });
    process.stdout.write(message.cmd === "start" ? `${start}\n` : `{"seq":${message.seq},${answer(system, message.request)}}\n`);
  }
  process.stdin.destroy();
}
