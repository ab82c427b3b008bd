// Test cases for array broadcasting: the loader and the judge. See README.md.
export { CONVENTIONS, FUNCTIONS, OPERATIONS, RULES, Operand, cases, evaluate, kitPath, manifest } from "./kit.js";
export { UNKNOWN } from "./infer.js";
export { Refused, judge } from "./judge.js";
export { Skipped } from "./adapter.js";
export { DTYPES } from "./numbers.js";
