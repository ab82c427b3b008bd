// The cases, and how they are read from a kit.
import { readFileSync, readdirSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DTYPES, integer, read } from "./numbers.js";

export const RULES = ["none", "numpy", "pdpd", "bidirectional", "xla", "theano", "leading", "repeat"];
export const OPERATIONS = ["elementwise", "broadcast", "gradient"];
export const FUNCTIONS = (
    "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal " +
    "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split(" ");
export const CONVENTIONS = [
    "checked-sizes", "separate-dtypes", "unused-operands", "refusal-order", "gradient-refusals", "gradient-ties",
    "undefined-functions", "zero-signs", "inferred-refusals",
];

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));
/** The directory of the kit in this package. */
export const kitPath = join(PACKAGE, "kit");

/** An operand: `values` are its elements in row-major order or, for a view, the buffer that it looks into. */
export class Operand {
    /** `owner` has the values: the operand itself, or the destination whose buffer it reads. */
    constructor(fields, owner = fields) {
        this.name = fields.name;
        this.dtype = fields.dtype;
        this.shape = fields.shape.map(integer);
        this.of = fields.of;
        this.values = owner.values.map((literal) => read(fields.dtype, literal));
        this.strides = fields.strides?.map(integer);
        this.offset = Number(fields.offset ?? 0);
        this.broadcastable = fields.broadcastable;
        if (!this.strides && this.offset) {
            this.strides = this.shape.map((_, axis) => this.shape.slice(axis + 1).reduce((a, b) => a * b, 1));
        }
    }

    /** The places of the elements in `values`, in row-major order. */
    places() {
        if (!this.strides) return [...this.values.keys()];
        if (this.shape.includes(0)) return [];
        let places = [this.offset];
        for (const [axis, length] of this.shape.entries()) {
            // The stride of an axis of length 1 is never used, and may have any size.
            const stride = length === 1 ? 0 : this.strides[axis];
            places = places.flatMap((place) => Array.from({ length: Number(length) }, (_, index) => place + index * stride));
        }
        return places;
    }

    /** The elements in row-major order, for a library without views. */
    elements() {
        return this.places().map((place) => this.values[place]);
    }
}

/** The cases of a kit, in its order. */
export function cases(options = {}) {
    const { extreme = false, sweeps = false, into = false, kit } = options;
    const wanted = {};
    for (const [field, known] of Object.entries({ rules: RULES, dtypes: DTYPES, operation: [...OPERATIONS, "infer"], functions: FUNCTIONS, conventions: CONVENTIONS })) {
        wanted[field] = words(field, options[field], known);
    }
    const globs = options.filter === undefined ? undefined : [options.filter].flat().map((text) => glob(text, true));
    const chosen = [];
    const infer = wanted.operation?.has("infer") ?? false;
    for (const found of allCases({ extreme, sweeps, into, infer, kit })) {
        if (wanted.rules && !wanted.rules.has(found.rules)) continue;
        if (wanted.operation && !wanted.operation.has(found.operation)) continue;
        if (found.convention && wanted.conventions && !wanted.conventions.has(found.convention)) continue;
        if (wanted.functions && !calls(found.expression).every((name) => wanted.functions.has(name))) continue;
        if (globs && !globs.some((matches) => matches(found.id))) continue;
        const inDtype = wanted.dtypes ? inDtypes(found, wanted.dtypes, kit) : found;
        if (inDtype) chosen.push(inDtype);
    }
    return chosen;
}

function words(field, given, known) {
    if (given === undefined) return undefined;
    const list = [given].flat();
    for (const word of list) {
        if (!known.includes(word)) throw new RangeError(`${field}: found "${word}", expected one of: ${known.join(" ")}`);
    }
    return new Set(list);
}

/** The manifest of a kit. */
export function manifest(kit = kitPath) {
    const file = join(kit, "manifest.json");
    let read;
    try {
        read = JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
        throw new Error(`${file}: ${error.message}, expected the manifest of a directory that \`broadcheck export\` wrote`);
    }
    if (read.format !== 1) throw new Error(`${file}: found the format ${read.format}, expected 1`);
    return read;
}

/** Every case, without retyping. */
export function allCases({ extreme, sweeps, into, infer, kit = kitPath }) {
    manifest(kit);
    const folders = { json: true, "json/optional": true, "json/extreme": extreme, "json/sweeps": sweeps, into, infer };
    return Object.keys(folders).flatMap((folder) => {
        const directory = join(kit, folder);
        if (!folders[folder] || !existsSync(directory)) return [];
        const files = readdirSync(directory).filter((name) => name.endsWith(".json")).sort();
        return files.flatMap((name) => readCases(join(directory, name), `${folder}/${name}`));
    });
}

/** The case, or the same case in the first of these dtypes in which this package has it; undefined if there is none. */
export function inDtypes(found, dtypes, kit) {
    const fits = (one) => one.operands.every((operand) => dtypes.has(operand.dtype));
    if (fits(found)) return found;
    if (kit !== undefined && kit !== kitPath) return undefined;
    return DTYPES.filter((dtype) => dtypes.has(dtype)).map((dtype) => retyped(dtype).get(found.id)).find((one) => one && fits(one));
}

const retypedCases = new Map();
function retyped(dtype) {
    if (!retypedCases.has(dtype)) {
        const file = join(PACKAGE, "retyped", `${dtype}.json`);
        const list = existsSync(file) ? readCases(file, `retyped/${dtype}.json`) : [];
        retypedCases.set(dtype, new Map(list.map((one) => [one.id, one])));
    }
    return retypedCases.get(dtype);
}

function readCases(file, place) {
    return (JSON.parse(readFileSync(file, "utf8")).cases ?? []).map((fields) => caseOf(fields, place));
}

function caseOf(fields, file) {
    const found = { operation: "elementwise", ...fields, file };
    if (fields.operation === "infer") return inferenceCaseOf(found);
    const named = (wanted) => fields.operands.find(({ name }) => name === wanted);
    found.operands = fields.operands.map((operand) => new Operand(operand, named(operand.of ?? operand.name)));
    for (const field of ["target_shape", "broadcast_dimensions"]) {
        if (fields[field]) found[field] = fields[field].map(integer);
    }
    if (fields.axis !== undefined) found.axis = integer(fields.axis);
    if (fields.result) found.result = resultOf(fields.result, lowest(found.operands).dtype);
    found.name = fields.retyped_from ? `${fields.id}[${found.operands.find(({ dtype }) => dtype !== "bool").dtype}]` : fields.id;
    return found;
}

/** A case of `infer`: the same fields, with large numbers as BigInt. */
function inferenceCaseOf(found) {
    const whole = ({ min, max }) => ({ ...(min !== undefined && { min: integer(min) }), ...(max !== undefined && { max: integer(max) }) });
    const length = (one) => (one === "?" ? one : typeof one === "object" ? whole(one) : integer(one));
    const shaped = ({ shape, ...rest }) => ({ ...rest, shape: shape === "..." ? shape : shape.map(length) });
    if (found.target_shape) found.target_shape = shaped({ shape: found.target_shape }).shape;
    if (found.inferred) found.inferred = shaped(found.inferred);
    if (found.broadcast_dimensions) found.broadcast_dimensions = found.broadcast_dimensions.map(integer);
    if (found.axis !== undefined) found.axis = integer(found.axis);
    return { ...found, name: found.id, operands: found.operands.map(shaped) };
}

const lowest = (operands) => operands.reduce((a, b) => (b.shape.length < a.shape.length ? b : a));

/** The intermediate is the lower-rank operand after the first step, and has that operand's dtype. */
function resultOf({ dtype, shape, values, admitted = {}, intermediate, broadcastable }, lower) {
    const all = (literals, type = dtype) => literals.map((literal) => read(type, literal));
    const entry = (one) => ("value" in one ? { value: read(dtype, one.value) } : { lower: read(dtype, one.lower), upper: read(dtype, one.upper) });
    return {
        dtype,
        shape: shape.map(integer),
        values: all(values),
        admitted: new Map(Object.entries(admitted).map(([place, entries]) => [Number(place), entries.map(entry)])),
        ...(intermediate && { intermediate: { dtype: lower, shape: intermediate.shape.map(integer), values: all(intermediate.values, lower) } }),
        ...(broadcastable && { broadcastable }),
    };
}

/** The functions that an expression calls, arguments before their call. */
export function calls(expression) {
    return Array.isArray(expression) ? [...expression.slice(1).flatMap(calls), expression[0]] : [];
}

/** Evaluates an expression with a library's functions on its arrays, by the names of the operands. */
export function evaluate(expression, arrays, functions) {
    if (typeof expression === "string") return arrays[expression];
    const [name, ...rest] = expression;
    return functions[name](...rest.map((argument) => evaluate(argument, arrays, functions)));
}

/**
 * Whether an id matches: `*` is any text including `/`, `?` one character, `[a-c]` one of a set, `{x,y}` either. With
 * `prefix`, a text without these characters matches the ids that begin with it.
 */
export function glob(text, prefix = false) {
    if (prefix && !/[*?[{]/.test(text)) return (id) => id.startsWith(text);
    let depth = 0;
    const pattern = text.replace(/\[[^\]]+\]|[^]/g, (part) => {
        if (part.length > 1) return part.replace(/[\\^]/g, "\\$&");
        if (part === "{") return (depth++, "(?:");
        if (part === "}" && depth) return (depth--, ")");
        if (part === "," && depth) return "|";
        return { "*": ".*", "?": "." }[part] ?? part.replace(/[$()+./\\\]^|}[]/, "\\$&");
    });
    if (depth) throw new RangeError(`found the glob "${text}", expected every brace to be closed`);
    const compiled = new RegExp(`^(?:${pattern})$`);
    return (id) => compiled.test(id);
}
