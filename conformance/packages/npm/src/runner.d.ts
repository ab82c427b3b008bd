import type {
    Case, Convention, DType, Inference, InferenceCase, OperationKind, Refused, Result, RuleSet, Unknown,
} from "./index.js";

/** What a library supports. The names are those of broadcheck's protocol; everything else is skipped with a reason. */
export interface Adapter {
    name?: string;
    version?: string;
    rules: RuleSet[];
    operations: (OperationKind | "strided" | "broadcast_in_dim" | "permuted" | "cotangent" | "into" | "infer")[];
    /** With `infer`: what may be unknown of a shape; default `["length"]`. */
    unknown?: Unknown[];
    functions?: string[];
    dtypes: DType[];
    conventions?: Convention[] | "all";
    /** Known failures: reasons by id or glob. */
    known?: Record<string, string>;
    /** Whether to ask the cases with lengths, strides and counts beyond 2^53. */
    extreme?: boolean;
    function_dtypes?: Record<string, DType[]>;
    rule_operations?: Partial<Record<RuleSet, (OperationKind | "infer")[]>>;
    rule_functions?: Partial<Record<RuleSet, string[]>>;
    ordered_operands?: boolean;
    min_rank?: number;
    max_rank?: number;
    equal_ranks?: boolean;
    scalars?: boolean;
    max_operands?: number;
    max_calls?: number;
    unused_operands?: boolean;
    negative_strides?: boolean;
    max_elements?: number;
    large_sizes?: boolean;
    static_flags?: boolean;
    flushed_subnormals?: DType[];
    /** Throws or returns a `Refused` if the library refuses the case. An adapter that only infers has none. */
    run?(request: Case): Result | Refused | Promise<Result | Refused>;
    /** The same for the operation `infer`. */
    infer?(request: InferenceCase): Inference | Refused | Promise<Inference | Refused>;
}

export interface Options {
    filter?: string | string[];
    /** Instead of `adapter.known`. */
    known?: Record<string, string>;
    extreme?: boolean;
    sweeps?: boolean;
    /** Fails the inferred shapes that are wider than exact. */
    exact?: boolean;
    kit?: string;
}

/** Registers one test of `node:test` per case, named by its id. */
export declare function run(adapter: Adapter, options?: Options): Promise<void>;

export interface Report {
    counts: { passed: number; failed: number; known: number; differs: number; skipped: number };
    failures: { id: string; text: string }[];
    /** Of those that passed: inferred shapes that are wider than exact, and how. */
    wider: { id: string; text: string }[];
    /** How many cases were skipped, by reason. */
    skipped: Map<string, number>;
    conventions: Map<Convention, { agrees: number; differs: number }>;
}
/** Runs the cases at once. */
export declare function check(adapter: Adapter, options?: Options): Promise<Report>;
