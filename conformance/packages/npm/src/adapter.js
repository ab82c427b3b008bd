// An adapter: an object that declares what a library supports, and passes cases to it. The names of the declared
// capabilities and their meaning are those of broadcheck's protocol.
import { CONVENTIONS, FUNCTIONS, OPERATIONS, RULES, calls } from "./kit.js";
import { DTYPES, isSubnormal } from "./numbers.js";
import { Refused } from "./judge.js";

const PREDICATES = new Set("equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not".split(" "));
const COUNTS = { min_rank: 0, max_rank: Infinity, max_operands: Infinity, max_calls: Infinity, max_elements: 2 ** 28 };
const FLAGS = {
    ordered_operands: false, equal_ranks: false, scalars: true, unused_operands: true, negative_strides: true, large_sizes: true,
};
const FLOATS = ["f64", "f32", "f16", "bf16"];

/** Thrown by an adapter: the library cannot express the case, and no capability describes why. */
export class Skipped extends Error {}

/** What `operations` may contain besides operations. */
const WORDS = ["strided", "broadcast_in_dim", "permuted", "cotangent"];

/** An adapter with its capabilities checked and completed by their defaults. */
export class Adapter {
    constructor(given, place = "adapter") {
        if (typeof given?.run !== "function") throw new TypeError(`${place}: no function \`run\`, expected an adapter with run(case)`);
        this.given = given;
        this.name = String(given.name ?? place);
        this.version = String(given.version ?? "");
        const list = (field, known, fallback) => {
            const words = given[field] ?? fallback;
            if (!Array.isArray(words)) throw new TypeError(`${place}.${field}: found ${JSON.stringify(words)}, expected a list of: ${known.join(" ")}`);
            return new Set(words.map((word) => checked(`${place}.${field}`, word, known)));
        };
        this.rules = list("rules", RULES);
        this.operations = list("operations", [...OPERATIONS, ...WORDS]);
        this.functions = list("functions", FUNCTIONS, []);
        this.dtypes = list("dtypes", DTYPES);
        this.conventions = given.conventions === "all" ? new Set(CONVENTIONS) : list("conventions", CONVENTIONS, []);
        this.flushed_subnormals = list("flushed_subnormals", FLOATS, []);
        for (const [field, keys, values] of [["function_dtypes", FUNCTIONS, DTYPES], ["rule_operations", RULES, OPERATIONS], ["rule_functions", RULES, FUNCTIONS]]) {
            this[field] = given[field] ?? {};
            for (const [key, words] of Object.entries(this[field])) {
                checked(`${place}.${field}`, key, keys);
                words.forEach((word) => checked(`${place}.${field}.${key}`, word, values));
            }
        }
        for (const [field, fallback] of Object.entries(COUNTS)) {
            this[field] = given[field] ?? fallback;
            if (!(this[field] === Infinity || (Number.isInteger(this[field]) && this[field] >= 0))) {
                throw new TypeError(`${place}.${field}: found ${this[field]}, expected a number from 0`);
            }
        }
        for (const [field, fallback] of Object.entries(FLAGS)) {
            this[field] = given[field] ?? fallback;
            if (typeof this[field] !== "boolean") throw new TypeError(`${place}.${field}: found ${this[field]}, expected true or false`);
        }
    }

    /** What the library does with a case: `{dtype, shape, values}` or a `Refused`. */
    async answer(request) {
        try {
            return await this.given.run(request);
        } catch (error) {
            if (error instanceof Refused) return error;
            throw error;
        }
    }

    /** Why the library cannot be asked a case, such as `no f16`; undefined if it can. */
    missing(request) {
        const { rules, operation } = request;
        if (!this.rules.has(rules)) return `no rule set ${rules}`;
        if (!this.operations.has(operation)) return `no ${operation}`;
        if (!(this.rule_operations[rules] ?? OPERATIONS).includes(operation)) return `no ${operation} under ${rules}`;
        return this.#missingTarget(request) ?? this.#missingOperands(request) ?? this.#missingCalls(request) ?? this.#missingResult(request);
    }

    #missingTarget({ rules, target_shape, cotangent, broadcast_dimensions }) {
        if (cotangent !== undefined && !this.operations.has("cotangent")) return "no cotangents";
        if (target_shape === undefined) return undefined;
        const broadcasts = this.operations.has("broadcast") && (this.rule_operations[rules] ?? OPERATIONS).includes("broadcast");
        if (!broadcasts || (rules === "xla" && !this.operations.has("broadcast_in_dim"))) return `no broadcast under ${rules}`;
        const falls = (broadcast_dimensions ?? []).some((axis, place, all) => place > 0 && all[place - 1] > axis);
        return falls && !this.operations.has("permuted") ? "no broadcast_dimensions that decrease" : undefined;
    }

    #missingOperands({ operands: all, expression, target_shape, cotangent }) {
        // A cotangent takes no part in the common shape.
        const operands = all.filter(({ name }) => name !== cotangent);
        for (const { dtype, shape, strides, values } of all) {
            if (!this.dtypes.has(dtype)) return `no ${dtype}`;
            if (strides && !this.operations.has("strided")) return "no strided views";
            const backwards = (strides ?? []).some((stride, axis) => stride < 0 && shape[axis] > 1);
            if (backwards && !this.negative_strides) return "no negative strides";
            if (this.#flushed(dtype, values)) return `no subnormal ${dtype}`;
        }
        if (operands.length > this.max_operands) return `no more than ${this.max_operands} operands`;
        if (this.equal_ranks && operands.some(({ shape }) => shape.length !== operands[0].shape.length)) return "no operands of different ranks";
        const used = new Set([expression].flat(Infinity));
        if (!this.unused_operands && expression !== undefined && operands.some(({ name }) => !used.has(name))) return "no unused operands";
        for (const shape of [...all.map((operand) => operand.shape), ...(target_shape ? [target_shape] : [])]) {
            if (shape.length === 0 && !this.scalars) return "no scalars";
            if (shape.length !== 0 && shape.length < this.min_rank) return `no rank below ${this.min_rank}`;
            if (shape.length > this.max_rank) return `no rank above ${this.max_rank}`;
            if (this.#large(shape)) return "no sizes beyond memory";
        }
        return undefined;
    }

    #missingCalls({ expression, operands, rules }) {
        if (expression === undefined) return undefined;
        const called = calls(expression);
        if (called.length > this.max_calls) return `no more than ${this.max_calls} calls`;
        for (const name of called) {
            if (!this.functions.has(name)) return `no ${name}`;
            if (!(this.rule_functions[rules] ?? FUNCTIONS).includes(name)) return `no ${name} under ${rules}`;
        }
        const names = operands.map(({ name }) => name);
        if (this.ordered_operands && rules === "pdpd") {
            if (names.length > 2) return "no third operand under pdpd";
            if (order(expression, names) === undefined) return "no order other than A, B under pdpd";
        }
        const lacks = [];
        const dtypeOf = (part) => {
            if (typeof part === "string") return operands.find(({ name }) => name === part).dtype;
            const [name, ...rest] = part;
            const values = rest.map(dtypeOf).slice(name === "select" ? 1 : 0);
            const lacking = values.find((dtype) => !(this.function_dtypes[name] ?? DTYPES).includes(dtype));
            if (lacking) lacks.push(`no ${name} of ${lacking}`);
            return PREDICATES.has(name) ? "bool" : values[0];
        };
        dtypeOf(expression);
        return lacks[0];
    }

    #missingResult({ result, refusal, operation, operands }) {
        if (refusal) return refusal.kind === "too_large" && !this.large_sizes ? "no sizes beyond memory" : undefined;
        const shapes = [result.shape];
        // Of the expression, whose elements are summed.
        if (operation === "gradient") shapes.push(common(operands));
        if (result.intermediate) shapes.push(result.intermediate.shape);
        for (const shape of shapes) {
            if (shape.length > this.max_rank) return `no rank above ${this.max_rank}`;
            if (product(shape) > this.max_elements) return `no result of more than ${this.max_elements} elements`;
            if (this.#large(shape)) return "no sizes beyond memory";
        }
        return this.#flushed(result.dtype, result.values) ? `no subnormal ${result.dtype}` : undefined;
    }

    #large(shape) {
        return !this.large_sizes && product(shape.map((length) => length || 1)) > this.max_elements;
    }

    #flushed(dtype, values) {
        return this.flushed_subnormals.has(dtype) && values.some((value) => isSubnormal(dtype, value));
    }
}

function checked(place, word, known) {
    if (!known.includes(word)) throw new RangeError(`${place}: found ${JSON.stringify(word)}, expected one of: ${known.join(" ")}`);
    return word;
}

const product = (shape) => shape.reduce((all, length) => all * Number(length), 1);

/** The longest length of each axis, aligned at the right. */
function common(operands) {
    const rank = Math.max(...operands.map(({ shape }) => shape.length));
    return Array.from({ length: rank }, (_, axis) => Math.max(...operands.map(({ shape }) => Number(shape[shape.length - 1 - axis] ?? 0))));
}

/** The operand whose shape an expression has, if A is on the left of B in each of its calls. */
function order(expression, names) {
    if (typeof expression === "string") return names.indexOf(expression);
    const places = expression.slice(1).map((part) => order(part, names));
    if (places.length === 2 && places[0] === 0 && places[1] === 1) return 0;
    return places.every((place) => place === places[0]) ? places[0] : undefined;
}
