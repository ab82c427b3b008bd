// Compares an answer with what a case requires. The case has everything: no tolerance is applied, and no ULP counted.
import { judgeInference } from "./infer.js";
import { DTYPES, normal, same, show } from "./numbers.js";

const LISTED = 5;

/** Thrown or returned by an adapter: the library refuses the case. Give kind, axis and operand only if it reports them. */
export class Refused extends Error {
    constructor(message = "", { kind, axis, operand } = {}) {
        super(message);
        Object.assign(this, { name: "Refused", kind, axis, operand });
    }
}

/** Judges an answer: `{dtype, shape, values}` (to `infer`, `{dtype, shape}`) or a `Refused`. Returns `{passed, reason}`. */
export function judge(required, answer) {
    if (required.operation === "infer") return judgeInference(required, answer);
    if (answer instanceof Refused) return judgeRefusal(required, answer);
    if (!answer || !DTYPES.includes(answer.dtype) || !answer.shape || !answer.values) {
        throw new TypeError(`found ${answer?.dtype ? `the dtype ${answer.dtype}` : String(answer)}, expected {dtype, shape, values} or a Refused`);
    }
    const wrong = (reason) => ({ passed: false, reason });
    if (required.refusal) return wrong(`found ${shown(answer)}, expected a refusal (${required.refusal.kind})`);
    const { dtype, shape, intermediate, broadcastable } = required.result;
    if (answer.dtype !== dtype) return wrong(`dtype: found ${answer.dtype}, expected ${dtype}`);
    if (!equal(answer.shape, shape)) return wrong(`shape: found ${tuple(answer.shape)}, expected ${tuple(shape)}`);
    const reasons = wrongValues(required.result, answer.values);
    if (answer.broadcastable && !(broadcastable && equal(answer.broadcastable, broadcastable))) {
        reasons.push(`flags of the result: found ${answer.broadcastable}, expected ${broadcastable ?? "none"}`);
    }
    if (answer.intermediate && !intermediate) reasons.push("intermediate: found one, expected none for this request");
    else if (answer.intermediate && !equal(answer.intermediate.shape, intermediate.shape)) {
        reasons.push(`shape of the intermediate: found ${tuple(answer.intermediate.shape)}, expected ${tuple(intermediate.shape)}`);
    } else if (answer.intermediate) {
        const dense = { ...intermediate, admitted: new Map() };
        reasons.push(...wrongValues(dense, answer.intermediate.values).map((reason) => `intermediate: ${reason}`));
    }
    const buffer = wrongBuffer(required, answer);
    const onlyValues = reasons.length !== 0 && buffer.length === 0;
    return { passed: reasons.length + buffer.length === 0, reason: [...reasons, ...buffer].join("\n"), onlyValues };
}

/** These decide single values of a result, whose dtype and shape can still be wrong. Others decide the whole answer. */
export const VALUE_CONVENTIONS = ["gradient-ties", "zero-signs"];
/** These are about whole answers, but a library without them refuses all the same. */
const REFUSAL_CONVENTIONS = ["refusal-order", "inferred-refusals"];

/**
 * Judges an answer as `judge` does, but what `zero-signs` leaves open by the listed values alone: a case of this
 * convention admits what every library may return.
 */
export function judgeConvention(required, answer) {
    const verdict = judge(required, answer);
    if (!verdict.passed || required.convention !== "zero-signs" || !required.result) return verdict;
    return judge({ ...required, result: { ...required.result, admitted: new Map() } }, answer);
}

/** Whether a wrong answer to a case of a convention is one that a library without this convention may give. */
export function excused({ convention }, answer, { onlyValues = false }) {
    if (VALUE_CONVENTIONS.includes(convention)) return onlyValues;
    return convention !== undefined && (!REFUSAL_CONVENTIONS.includes(convention) || answer instanceof Refused);
}

export function judgeRefusal({ refusal, result }, answer) {
    if (!refusal) return { passed: false, reason: `found a refusal, expected ${shown(result)}: ${answer.message}` };
    if (refusal.kind === "any") return { passed: true, reason: "" };
    for (const field of ["kind", "axis", "operand"]) {
        // A library need not report it, and a case need not require it.
        if (answer[field] !== undefined && refusal[field] !== undefined && answer[field] !== refusal[field]) {
            return { passed: false, reason: `${field} of the refusal: found ${answer[field]}, expected ${refusal[field]}` };
        }
    }
    return { passed: true, reason: "" };
}

function wrongValues({ dtype, shape, values, admitted }, answered) {
    const found = [...answered];
    if (found.length !== values.length) return [`values: found ${found.length}, expected ${values.length} for the shape ${tuple(shape)}`];
    const wrong = [];
    for (const [place, expected] of values.entries()) {
        try {
            const value = normal(dtype, found[place]);
            const entries = admitted.get(place);
            if (entries ? entries.some((entry) => admits(entry, value)) : same(value, expected)) continue;
            wrong.push(`element ${index(place, shape)}: found ${show(value)}, expected ${entries ? entries.map(range).join(" or ") : show(expected)}`);
        } catch (error) {
            if (!(error instanceof RangeError)) throw error;
            wrong.push(`element ${index(place, shape)}: ${error.message}`);
        }
    }
    return wrong.length > LISTED ? [...wrong.slice(0, LISTED), `and ${wrong.length - LISTED} more of ${values.length} elements`] : wrong;
}

/** The destination's buffer, if the answer has it: the answered elements at their places, and elsewhere what was there. */
function wrongBuffer({ into, operands }, { buffer, values }) {
    if (!buffer) return [];
    if (into === undefined) return ["buffer: found one, expected none for a request without a destination"];
    const destination = operands.find(({ name }) => name === into);
    const { dtype, shape, values: before } = destination;
    const found = [...buffer];
    if (found.length !== before.length) return [`buffer: found ${found.length} values, expected ${before.length}, as before the write`];
    const answered = [...values];
    const written = (place, element) => [place, [answered[element], `the element ${index(element, shape)}`]];
    const elements = new Map(destination.places().slice(0, answered.length).map(written));
    const wrong = [];
    for (const [place, value] of found.entries()) {
        const [expected, why] = elements.get(place) ?? [before[place], "as before: it is outside of the destination"];
        try {
            if (!same(normal(dtype, value), normal(dtype, expected))) wrong.push(`buffer at ${place}: found ${show(value)}, expected ${show(expected)}, ${why}`);
        } catch (error) {
            if (!(error instanceof RangeError)) throw error;
            wrong.push(`buffer at ${place}: ${error.message}`);
        }
    }
    return wrong.length > LISTED ? [...wrong.slice(0, LISTED), `and ${wrong.length - LISTED} more of ${found.length} places`] : wrong;
}

/** An entry is one value, to the bit, or an interval, in which both zeros are the same number and NaN is not. */
const admits = (entry, value) => ("value" in entry ? same(entry.value, value) : entry.lower <= value && value <= entry.upper);
const range = (entry) => ("value" in entry ? show(entry.value) : `${show(entry.lower)} to ${show(entry.upper)}`);

// Lengths are compared as numbers: 2n == 2.
const equal = (a, b) => a.length === b.length && [...a].every((one, place) => one == b[place]);
const tuple = (numbers) => `(${[...numbers].join(",")})`;

function index(place, shape) {
    const indices = [];
    for (const length of [...shape].reverse()) {
        indices.unshift(place % Number(length));
        place = Math.floor(place / Number(length));
    }
    return tuple(indices);
}

export function shown({ dtype, shape, values }) {
    const all = [...values];
    return `${dtype}${tuple(shape)} [${all.slice(0, 12).map(show).join(" ")}${all.length > 12 ? " ..." : ""}]`;
}
