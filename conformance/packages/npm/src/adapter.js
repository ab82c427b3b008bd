// An adapter: an object that declares what a library supports, and passes cases to it. The names of the declared
// capabilities and their meaning are those of broadcheck's protocol.
import { CONVENTIONS, FUNCTIONS, OPERATIONS, RULES, calls } from "./kit.js";
import { UNKNOWN, bounds, shapesOf, unknownIn } from "./infer.js";
import { DTYPES, isSubnormal } from "./numbers.js";
import { Refused } from "./judge.js";

const PREDICATES = new Set("equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not".split(" "));
const COUNTS = { min_rank: 0, max_rank: Infinity, max_operands: Infinity, max_calls: Infinity, max_elements: 2 ** 28 };
const FLAGS = {
    ordered_operands: false, equal_ranks: false, scalars: true, unused_operands: true, negative_strides: true, large_sizes: true,
    static_flags: false,
};
const FLOATS = ["f64", "f32", "f16", "bf16"];

/** Thrown by an adapter: the library cannot express the case, and no capability describes why. */
export class Skipped extends Error {}

const EVERY = [...OPERATIONS, "infer"];
/** What `operations` may contain besides operations. */
const WORDS = ["strided", "broadcast_in_dim", "permuted", "cotangent", "into", "infer"];

/** An adapter with its capabilities checked and completed by their defaults. */
export class Adapter {
    constructor(given, place = "adapter") {
        const needs = (name) => {
            if (typeof given?.[name] !== "function") throw new TypeError(`${place}: no function \`${name}\`, expected an adapter with ${name}(case)`);
        };
        if (typeof given?.infer !== "function") needs("run");
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
        if (OPERATIONS.some((operation) => this.operations.has(operation))) needs("run");
        if (this.operations.has("infer")) needs("infer");
        this.functions = list("functions", FUNCTIONS, []);
        this.dtypes = list("dtypes", DTYPES);
        this.unknown = list("unknown", Object.keys(UNKNOWN), ["length"]);
        this.conventions = given.conventions === "all" ? new Set(CONVENTIONS) : list("conventions", CONVENTIONS, []);
        this.flushed_subnormals = list("flushed_subnormals", FLOATS, []);
        for (const [field, keys, values] of [["function_dtypes", FUNCTIONS, DTYPES], ["rule_operations", RULES, EVERY], ["rule_functions", RULES, FUNCTIONS]]) {
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

    /** What the library does with a case: `{dtype, shape, values}` (to `infer`, `{dtype, shape}`) or a `Refused`. */
    async answer(request) {
        try {
            return await (request.operation === "infer" ? this.given.infer(request) : this.given.run(request));
        } catch (error) {
            if (error instanceof Refused) return error;
            throw error;
        }
    }

    /** Whether the library has what puts a case into a directory of its own. If not, the case is not counted either. */
    declares({ operation, into }) {
        return operation === "infer" ? this.operations.has("infer") : into === undefined || this.operations.has("into");
    }

    /** Why the library cannot be asked a case, such as `no f16`; undefined if it can. */
    missing(request) {
        const { rules, operation } = request;
        if (!this.rules.has(rules)) return `no rule set ${rules}`;
        if (!this.operations.has(operation)) return `no ${operation}`;
        if (!(this.rule_operations[rules] ?? EVERY).includes(operation)) return `no ${operation} under ${rules}`;
        if (operation === "infer") return this.#missingInference(request);
        return this.#missingTarget(request) ?? this.#missingOperands(request) ?? this.#missingCalls(request) ?? this.#missingResult(request);
    }

    #missingInference(request) {
        const { rules, target_shape } = request;
        const operation = target_shape === undefined ? "elementwise" : "broadcast";
        // A library without operations infers those of all of them.
        const runs = OPERATIONS.filter((word) => this.operations.has(word));
        const isRun = (runs.length === 0 || runs.includes(operation)) && (this.rule_operations[rules] ?? OPERATIONS).includes(operation);
        if (!isRun) return `no ${operation} under ${rules}`;
        const missing = this.#missingDimensions(request) ?? this.#missingTypes(request);
        return missing ?? this.#missingTogether(request.operands, request.expression) ?? this.#missingCalls(request);
    }

    #missingTypes({ rules, operands, ...request }) {
        const lacking = operands.find(({ dtype }) => !this.dtypes.has(dtype));
        if (lacking) return `no ${lacking.dtype}`;
        for (const shape of shapesOf({ operands, ...request })) {
            const word = unknownIn(shape).find((one) => !this.unknown.has(one));
            if (word) return `no ${UNKNOWN[word]}`;
            if (shape === "...") continue;
            const ends = shape.map(bounds);
            const numbers = ends.filter(({ min, max }) => min == max).map(({ min }) => min);
            const missing = this.#missingRank(shape) ?? (numbers.length === shape.length && this.#large(shape) ? "no sizes beyond memory" : undefined);
            if (missing) return missing;
            const highest = ends.map(({ min, max }) => (max === Infinity ? min : max));
            const count = numbers.reduce((all, number) => all * BigInt(number || 1), 1n);
            if (!this.large_sizes && [count, ...highest].some((size) => size >= 2n ** 63n)) return "no sizes beyond memory";
        }
        const isStatic = ({ shape, broadcastable = [] }) => [...shape].every((length, axis) => (broadcastable[axis] ?? false) === (length === 1));
        return this.static_flags && rules === "theano" && !operands.every(isStatic) ? "no flags that differ from static lengths of 1" : undefined;
    }

    #missingTarget(request) {
        const { rules, target_shape, cotangent, into } = request;
        if (cotangent !== undefined && !this.operations.has("cotangent")) return "no cotangents";
        if (into !== undefined && !this.operations.has("into")) return "no destinations";
        if (target_shape === undefined) return undefined;
        const broadcasts = this.operations.has("broadcast") && (this.rule_operations[rules] ?? OPERATIONS).includes("broadcast");
        return broadcasts ? this.#missingDimensions(request) : `no broadcast under ${rules}`;
    }

    #missingDimensions({ rules, target_shape, broadcast_dimensions }) {
        if (target_shape === undefined) return undefined;
        if (rules === "xla" && !this.operations.has("broadcast_in_dim")) return "no broadcast under xla";
        const falls = (broadcast_dimensions ?? []).some((axis, place, all) => place > 0 && all[place - 1] > axis);
        return falls && !this.operations.has("permuted") ? "no broadcast_dimensions that decrease" : undefined;
    }

    #missingOperands({ operands: all, expression, target_shape, cotangent, into }) {
        // A cotangent takes no part in the common shape.
        const operands = all.filter(({ name }) => name !== cotangent);
        for (const { dtype, shape, strides, values } of all) {
            if (!this.dtypes.has(dtype)) return `no ${dtype}`;
            if (strides && !this.operations.has("strided")) return "no strided views";
            const backwards = (strides ?? []).some((stride, axis) => stride < 0 && shape[axis] > 1);
            if (backwards && !this.negative_strides) return "no negative strides";
            if (this.#flushed(dtype, values)) return `no subnormal ${dtype}`;
        }
        const missing = this.#missingTogether(operands, expression, into);
        if (missing) return missing;
        for (const shape of shapesOf({ operands: all, target_shape })) {
            const reason = this.#missingRank(shape) ?? (this.#large(shape) ? "no sizes beyond memory" : undefined);
            if (reason) return reason;
        }
        return undefined;
    }

    #missingTogether(operands, expression, into) {
        if (operands.length > this.max_operands) return `no more than ${this.max_operands} operands`;
        // An unknown rank is a rank of its own.
        const rank = ({ shape }) => (shape === "..." ? undefined : shape.length);
        if (this.equal_ranks && operands.some((operand) => rank(operand) !== rank(operands[0]))) return "no operands of different ranks";
        // A destination is used: it is written.
        const used = new Set([expression, into].flat(Infinity));
        return !this.unused_operands && expression !== undefined && operands.some(({ name }) => !used.has(name)) ? "no unused operands" : undefined;
    }

    #missingRank({ length: rank }) {
        if (rank === 0) return this.scalars ? undefined : "no scalars";
        if (rank < this.min_rank) return `no rank below ${this.min_rank}`;
        return rank > this.max_rank ? `no rank above ${this.max_rank}` : undefined;
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
