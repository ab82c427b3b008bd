// The cases of the operation `infer`: what is known of a result before the run, from lengths that may be unknown. A shape is
// "..." (not even the rank is known), or a list of numbers, "?" and bounds {min, max}, as in the files of the kit.
import { Refused, judgeRefusal } from "./judge.js";
import { DTYPES } from "./numbers.js";

/** What may be unknown of a shape. An adapter declares what its library can express. */
export const UNKNOWN = {
    length: "unknown lengths",
    bound: "lengths with an upper bound",
    interval: "lengths with a lower bound",
    rank: "unknown ranks",
};

// Types are checked before shapes (clause INFER-12), so these refusals do not depend on lengths.
const OF_TYPES = ["dtype_mismatch", "unsupported_function", "operand_count"];

/** The bounds of a length, both included; without an upper bound, `max` is Infinity. */
export function bounds(length) {
    const given = length === "?" ? {} : length;
    const isRange = typeof given === "object" && given !== null;
    const min = isRange ? given.min ?? 0 : given;
    const max = isRange ? given.max ?? Infinity : given;
    const valid = (end) => typeof end === "bigint" || Number.isSafeInteger(end);
    if (!valid(min) || !(valid(max) || max === Infinity) || min < 0 || max < min) {
        throw new TypeError(`found the length ${shownLength(length)}, expected a number from 0, "?" or {min, max}`);
    }
    return { min, max };
}

/** The words of `UNKNOWN` that describe a shape. */
export function unknownIn(shape) {
    if (shape === "...") return ["rank"];
    return shape.map(bounds).flatMap(({ min, max }) => (min == max ? [] : [min > 0 ? "interval" : max === Infinity ? "length" : "bound"]));
}

/** The shapes of a request, and whether every length in them is a number. */
export const shapesOf = ({ operands, target_shape }) => [...operands.map(({ shape }) => shape), ...(target_shape === undefined ? [] : [target_shape])];
const isKnown = (request) => shapesOf(request).every((shape) => unknownIn(shape).length === 0);

/** Whether a shape admits every shape that the other one admits. */
function contains(shape, other) {
    if (shape === "..." || other === "...") return shape === "...";
    const within = (a, b) => a.min <= b.min && b.max <= a.max;
    return shape.length === other.length && shape.every((length, axis) => within(bounds(length), bounds(other[axis])));
}

/** Judges an answer to `infer` by the exact one: `{dtype, shape, accepts, broadcastable}` or a `Refused`. */
export function judgeInference(required, answer) {
    const { inferred: exact, refusal } = required;
    const wrong = (reason) => ({ passed: false, reason });
    const wider = (reason) => ({ passed: true, reason, wider: true });
    if (answer instanceof Refused) {
        return refusal ? judgeRefusal(required, answer) : wrong(`unsound: found a refusal, expected ${shownInference(exact)}: ${answer.message}`);
    }
    checkInference(answer);
    if (refusal) {
        const reason = `found ${shownInference(answer)}, expected a refusal (${refusal.kind})`;
        return isKnown(required) || OF_TYPES.includes(refusal.kind) ? wrong(reason) : wider(`no run is accepted: ${reason}`);
    }
    const told = `found ${shownInference(answer)}, expected ${shownInference(exact)}`;
    if (answer.dtype !== exact.dtype) return wrong(`dtype: ${told}`);
    if (!contains(answer.shape, exact.shape)) return wrong(`unsound, the shape leaves out what a run may give: ${told}`);
    if (exact.accepts === "depends" && answer.accepts === "always") return wrong(`unsound, some runs are refused: ${told}`);
    if (answer.broadcastable && String(answer.broadcastable) !== String(exact.broadcastable)) {
        return wrong(`flags of the result: found ${answer.broadcastable}, expected ${exact.broadcastable ?? "none"}`);
    }
    const unsure = exact.accepts === "always" && answer.accepts === "depends";
    if (contains(exact.shape, answer.shape) && !unsure) return { passed: true, reason: "" };
    return isKnown(required) ? wrong(`all lengths are known: ${told}`) : wider(told);
}

function checkInference(answer) {
    if (!answer || !DTYPES.includes(answer.dtype) || !(answer.shape === "..." || Array.isArray(answer.shape))) {
        throw new TypeError(`found ${answer?.dtype ? `the dtype ${answer.dtype}` : String(answer)}, expected {dtype, shape} with the shape "..." or a list, or a Refused`);
    }
    if (![undefined, "always", "depends"].includes(answer.accepts)) {
        throw new TypeError(`accepts: found ${JSON.stringify(answer.accepts)}, expected "always", "depends" or undefined`);
    }
    unknownIn(answer.shape);
}

/** A shape as in the documents: `(2,?,..3,1..3)`. */
export const shownShape = (shape) => `(${shape === "..." ? shape : shape.map(shownLength).join(",")})`;

function shownLength(length) {
    if (typeof length !== "object" || length === null) return String(length);
    const { min = "", max = "" } = length;
    return min === max ? String(min) : `${min}..${max}`;
}

const shownInference = ({ dtype, shape, accepts }) => `${dtype}${shownShape(shape)}${accepts ? `, ${accepts}` : ""}`;
