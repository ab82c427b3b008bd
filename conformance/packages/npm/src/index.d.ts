/** The cases and the judge. i64 and u64 values are bigint, other numbers number. */
export type RuleSet = "none" | "numpy" | "pdpd" | "bidirectional" | "xla" | "theano" | "leading" | "repeat";
export type OperationKind = "elementwise" | "broadcast" | "gradient";
/** What may be unknown of a shape. */
export type Unknown = "length" | "bound" | "interval" | "rank";
export type DType =
    | "f64" | "f32" | "f16" | "bf16" | "i64" | "i32" | "i16" | "i8" | "u64" | "u32" | "u16" | "u8" | "bool";
export type Convention =
    | "checked-sizes" | "separate-dtypes" | "unused-operands" | "refusal-order"
    | "gradient-refusals" | "gradient-ties" | "undefined-functions" | "zero-signs"
    | "inferred-refusals";
export type Value = number | bigint | boolean;
/** A length, stride or offset: a bigint beyond 2^53, which only the extreme cases have. */
export type Integer = number | bigint;
/** The name of an operand, or a function and its arguments. */
export type Expression = string | [string, ...Expression[]];

/** A length that may be unknown: of `{min, max}`, either end may be missing, and both are included. */
export type Length = Integer | "?" | { min?: Integer; max?: Integer };
/** A shape of which lengths may be unknown, or not even the rank is known. */
export type PartialShape = "..." | Length[];

export declare const UNKNOWN: Readonly<Record<Unknown, string>>;
export declare const RULES: readonly RuleSet[];
export declare const OPERATIONS: readonly OperationKind[];
export declare const FUNCTIONS: readonly string[];
export declare const DTYPES: readonly DType[];
export declare const CONVENTIONS: readonly Convention[];

/** An operand: `values` are its elements in row-major order or, for a view, the buffer that it looks into. */
export declare class Operand {
    readonly name: string;
    readonly dtype: DType;
    readonly shape: Integer[];
    readonly values: Value[];
    /** In elements, one per axis; undefined unless the operand is a view. */
    readonly strides?: Integer[];
    /** The place of the first element in `values`. */
    readonly offset: number;
    /** Theano's flags, one per axis. */
    readonly broadcastable?: boolean[];
    /** The destination, if the operand reads its buffer: `values` are those of the destination. */
    readonly of?: string;
    /** The places of the elements in `values`, in row-major order. */
    places(): number[];
    /** The elements in row-major order, for a library without views. */
    elements(): Value[];
}

/** One value to the bit (any NaN is NaN), or the bounds of an interval in which both zeros are the same number. */
export type Admitted = { value: Value } | { lower: Value; upper: Value };

export interface Result {
    dtype: DType;
    shape: ArrayLike<Integer>;
    values: Iterable<Value>;
    intermediate?: { shape: ArrayLike<Integer>; values: Iterable<Value> };
    broadcastable?: boolean[];
    /** Of an answer to a case with a destination: the destination's buffer after the write, if it shall be judged. */
    buffer?: Iterable<Value>;
}

export interface RequiredResult extends Result {
    shape: Integer[];
    values: Value[];
    /** The lower-rank operand after the first step, in that operand's dtype. */
    intermediate?: { dtype: DType; shape: Integer[]; values: Value[] };
    /** What may be returned at these row-major indices instead of only the value in `values`. */
    admitted: Map<number, Admitted[]>;
}

export interface Case {
    id: string;
    /** The id, with the dtype if that is not the one in the suite: `numpy/zero/rows[f32]`. */
    name: string;
    title: string;
    clause: string;
    rules: RuleSet;
    operation: OperationKind;
    operands: Operand[];
    expression?: Expression;
    wrt?: string;
    target_shape?: Integer[];
    axis?: Integer;
    broadcast_dimensions?: Integer[];
    /** The destination: the operand into which the result is written. */
    into?: string;
    /** Exactly one of `result` and `refusal` is present. */
    result?: RequiredResult;
    refusal?: { kind: string; axis?: number; operand?: string };
    convention?: Convention;
    since?: string;
    note?: string;
    retyped_from?: DType;
    /** The file in the kit. */
    file: string;
}

/** What is known of an operand before the run. */
export interface OperandType {
    readonly name: string;
    readonly dtype: DType;
    readonly shape: PartialShape;
    /** Theano's flags, one per axis. */
    readonly broadcastable?: boolean[];
}

/** What is known of a result before the run. An answer need not have `accepts` and `broadcastable`. */
export interface Inference {
    dtype: DType;
    shape: PartialShape;
    /** Whether every run is accepted, or some are refused. */
    accepts?: "always" | "depends";
    broadcastable?: boolean[];
}

/** A case of the operation `infer`. */
export interface InferenceCase {
    id: string;
    name: string;
    title: string;
    clause: string;
    rules: RuleSet;
    operation: "infer";
    operands: OperandType[];
    expression?: Expression;
    target_shape?: PartialShape;
    axis?: Integer;
    broadcast_dimensions?: Integer[];
    /** The exact answer, unless every run is refused. */
    inferred?: Inference;
    refusal?: { kind: string; axis?: number; operand?: string };
    convention?: Convention;
    since?: string;
    note?: string;
    /** The file in the kit. */
    file: string;
}

export interface Selection {
    rules?: RuleSet | RuleSet[];
    /** Only cases whose operands have no other dtypes. A case whose dtype does not matter is given in another one. */
    dtypes?: DType | DType[];
    operation?: OperationKind | OperationKind[];
    /** Only cases that call no other functions. */
    functions?: string | string[];
    /** Only these conventions; `[]` for none. */
    conventions?: Convention | Convention[];
    /** Ids, beginnings of ids, or globs. */
    filter?: string | string[];
    /** Adds lengths, strides and counts beyond 2^53. */
    extreme?: boolean;
    /** Adds the patterns, 4,000 cases. */
    sweeps?: boolean;
    /** Adds the cases whose result is written into an operand. */
    into?: boolean;
    /** Another directory that `broadcheck export` wrote. */
    kit?: string;
}

/** The cases, in the order of the kit. Throws RangeError for a word that does not exist. */
export declare function cases(selection?: Selection): Case[];
/** Those of the operation `infer`. Other selections do not have them. */
export declare function cases(selection: Omit<Selection, "operation"> & { operation: "infer" }): InferenceCase[];
/** The directory of the kit in this package. */
export declare const kitPath: string;
export declare function manifest(kit?: string): { version: string; format: 1; [field: string]: unknown };
/** Evaluates an expression with a library's functions on its arrays, by the names of the operands. */
export declare function evaluate<T>(
    expression: Expression, arrays: Record<string, T>, functions: Record<string, (...args: T[]) => T>,
): T;

export interface Verdict {
    passed: boolean;
    reason: string;
    /** Whether the answer has the required dtype and shape, and only values are wrong. */
    onlyValues?: boolean;
    /** Whether the answer to a case of `infer` is right, but admits more than is possible. `reason` says what. */
    wider?: boolean;
}
/** Judges an answer by what the case admits. Throws TypeError if it is neither a result nor a `Refused`. */
export declare function judge(required: Case, answer: Result | Refused): Verdict;
export declare function judge(required: InferenceCase, answer: Inference | Refused): Verdict;

/** The library refuses the case. Give kind, axis and operand only if it reports them. */
export declare class Refused extends Error {
    constructor(message?: string, details?: { kind?: string; axis?: number; operand?: string });
    kind?: string;
    axis?: number;
    operand?: string;
}
/** The library cannot express the case, and no capability describes why. */
export declare class Skipped extends Error {}
