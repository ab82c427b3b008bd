// What a kit has in `into/` and in `infer/`: reading and judging, and which adapters are asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES, FUNCTIONS, OPERATIONS, Operand, RULES, Refused, UNKNOWN, cases, judge } from "../src/index.js";
import { Adapter } from "../src/adapter.js";
import { excused } from "../src/judge.js";
import { check } from "../src/runner.js";

const f64 = (shape, values, strides, offset) => new Operand({ name: "d", dtype: "f64", shape, values, strides, offset });
const into = (destination, values) => ({ into: "d", operands: [destination], result: { dtype: "f64", shape: destination.shape, values, admitted: new Map() } });
const reason = (one, buffer) => judge(one, { ...one.result, buffer }).reason;

test("the buffer is judged where an answer has it", () => {
    // The example of clause INTO-4: every second element of [1,2,3,4,5] is negated in place.
    const one = into(f64([2], [1, 2, 3, 4, 5], [2], 1), [-2, -4]);
    assert(judge(one, { dtype: "f64", shape: [2], values: [-2, -4] }).passed);
    assert.equal(reason(one, [1, -2, 3, -4, 5]), "");
    const outside = "as before: it is outside of the destination";
    assert.equal(reason(one, [1, -2, -4, 4, 5]), `buffer at 2: found -4, expected 3, ${outside}\nbuffer at 3: found 4, expected -4, the element (1)`);
    assert.equal(reason(one, [1, -2, 3, -4]), "buffer: found 4 values, expected 5, as before the write");
    assert.equal(reason(one, [1, "x", 3, -4, 5]), "buffer at 1: found x, expected a value of f64");
    assert.equal(reason({ ...one, into: undefined }, [1]), "buffer: found one, expected none for a request without a destination");
});

test("what is outside of a destination keeps its bits, except for NaN", () => {
    const one = into(f64([1], ["-0.0", 1, "nan"], [1], 1), [-1]);
    assert.equal(reason(one, [-0, -1, NaN]), "");
    assert.equal(reason(one, [0, -1, NaN]), "buffer at 0: found 0, expected -0, as before: it is outside of the destination");
});

test("a write outside of a destination is no matter of zeros", () => {
    const one = { ...into(f64([2], [1, 2, 3, 4, 5], [2], 1), [-0, 0]), convention: "zero-signs" };
    for (const [buffer, free] of [[[1, 0, 3, 0, 5], true], [[1, 0, 9, 0, 5], false]]) {
        const answer = { dtype: "f64", shape: [2], values: [0, 0], buffer };
        assert.equal(excused(one, answer, judge(one, answer)), free);
    }
});

test("the places of a destination follow its strides", () => {
    assert.equal(reason(into(f64([3], [1, 2, 3], [-1], 2), [7, 8, 9]), [9, 8, 7]), "");
    assert.equal(reason(into(f64([3, 2], [0, 0, 0, 0, 0, 0], [1, 3]), [11, 21, 12, 22, 13, 23]), [11, 12, 13, 21, 22, 23]), "");
    assert.equal(reason(into(f64([2, 0], [7, 8], [1, 1], 1), []), [7, 8]), "");
});

test("an operand reads the destination before it is written", () => {
    const [one] = cases({ into: true, filter: "numpy/into/shifted-right" });
    const [a, b] = one.operands;
    assert.deepEqual([one.into, b.of, a.elements(), b.elements(), one.result.values], ["a", "a", [1, 2, 3], [0, 1, 2], [1, 3, 5]]);
    assert.equal(reason(one, [0, 1, 3, 5]), "");
    assert(!judge(one, { dtype: "f64", shape: [3], values: [1, 3, 6] }).passed);
});

const between = (min, max) => ({ min, max });
const infers = (exact, ...shapes) => ({
    rules: "numpy", operation: "infer", expression: ["add", "a", "b"],
    operands: shapes.map((shape, place) => ({ name: "ab"[place], dtype: "f32", shape })),
    ...(exact.kind ? { refusal: exact } : { inferred: { dtype: "f32", ...exact } }),
});
// (2,?) with (?,3) gives (2,3), and not every run is accepted (INFER-3); (?) with (1) gives (?), always (INFER-4).
const depends = infers({ shape: [2, 3], accepts: "depends" }, [2, "?"], ["?", 3]);
const always = infers({ shape: ["?"], accepts: "always" }, ["?"], [1]);
const bounded = infers({ shape: [between(2, 3)], accepts: "depends" }, [between(2, 3)], [{ max: 5 }]);
const known = infers({ shape: [2], accepts: "always" }, [2], [2]);
const none = infers({ kind: "dimension_mismatch", axis: 1 }, ["?", 2], ["?", 3]);
const noneKnown = infers({ kind: "dimension_mismatch", axis: 0 }, [2], [3]);
const types = infers({ kind: "dtype_mismatch" }, ["?"], ["?"]);
const unranked = infers({ shape: "...", accepts: "depends" }, "...", [2]);

for (const [one, shape, accepts, verdict] of [
    [depends, [2, 3], "depends", "exact"],
    [depends, [2, between(3, 3)], undefined, "exact"],
    [depends, ["?", 3], undefined, "wider"],
    [depends, ["?", "?"], "depends", "wider"],
    [depends, "...", undefined, "wider"],
    [depends, [2, 3], "always", "unsound, some runs are refused"],
    [depends, ["?", 3], "always", "unsound, some runs are refused"],
    [depends, [2, 4], undefined, "unsound, the shape leaves out"],
    [depends, [2], undefined, "unsound, the shape leaves out"],
    [depends, [2, 3, 1], undefined, "unsound, the shape leaves out"],
    [always, ["?"], "always", "exact"],
    [always, ["?"], undefined, "exact"],
    [always, [{ min: 0 }], "always", "exact"],
    [always, ["?"], "depends", "wider"],
    [always, [1], undefined, "unsound, the shape leaves out"],
    [always, [{ min: 1 }], undefined, "unsound, the shape leaves out"],
    [bounded, [between(2, 3)], undefined, "exact"],
    [bounded, [{ max: 3 }], undefined, "wider"],
    [bounded, [{ min: 2 }], undefined, "wider"],
    [bounded, [2], undefined, "unsound, the shape leaves out"],
    [bounded, [between(3, 5)], undefined, "unsound, the shape leaves out"],
    [known, [2], undefined, "exact"],
    [known, ["?"], undefined, "all lengths are known"],
    [known, [2], "depends", "all lengths are known"],
    [none, ["?", 3], undefined, "wider"],
    [noneKnown, [3], undefined, "found f32(3), expected a refusal"],
    [types, ["?"], undefined, "found f32(?), expected a refusal"],
    [unranked, "...", "depends", "exact"],
    [unranked, ["?"], undefined, "unsound, the shape leaves out"],
]) {
    test(`inferred ${JSON.stringify(shape)} ${accepts ?? ""} is judged by ${JSON.stringify(one.inferred ?? one.refusal)}`, () => {
        const found = judge(one, { dtype: "f32", shape, accepts });
        assert.deepEqual([found.passed, found.wider ?? false], [["exact", "wider"].includes(verdict), verdict === "wider"]);
        assert(found.passed ? found.reason === "" || found.wider : found.reason.startsWith(verdict), found.reason);
    });
}

test("a refusal, the dtype and the flags of an inference", () => {
    assert(judge(depends, new Refused("no")).reason.startsWith("unsound: found a refusal, expected f32(2,3), depends"));
    assert(judge(none, new Refused("no")).passed && judge(none, new Refused("no", { axis: 1 })).passed);
    assert(!judge(none, new Refused("no", { axis: 0 })).passed);
    assert(judge(depends, { dtype: "f64", shape: [2, 3] }).reason.startsWith("dtype: "));
    const flagged = infers({ shape: ["?"], accepts: "always", broadcastable: [false] }, [1], ["?"]);
    assert(judge(flagged, { dtype: "f32", shape: ["?"] }).passed && judge(flagged, { dtype: "f32", shape: ["?"], broadcastable: [false] }).passed);
    assert(!judge(flagged, { dtype: "f32", shape: ["?"], broadcastable: [true] }).passed);
    const ordered = { ...none, convention: "inferred-refusals" };
    for (const [answer, free] of [[new Refused("no", { kind: "rank_mismatch" }), true], [{ dtype: "f32", shape: [2] }, false]]) {
        assert.equal(excused(ordered, answer, judge(ordered, answer)), free);
    }
});

test("an answer has lengths", () => {
    for (const shape of ["?", [-1], [between(3, 2)], [true], [2.5], [null], [undefined], ["3"], [NaN], 2]) {
        assert.throws(() => judge(known, { dtype: "f32", shape }), TypeError, String(shape));
    }
    assert.throws(() => judge(known, { dtype: "f32", shape: [2], accepts: "sometimes" }), /accepts: found "sometimes"/);
    const [large] = cases({ operation: "infer", filter: "numpy/infer/largest-bound-meets-two" });
    assert(large.operands.some(({ shape }) => shape.some(({ max }) => max === 2n ** 64n - 1n)));
});

const everything = {
    rules: RULES, operations: [...OPERATIONS, "strided", "broadcast_in_dim", "permuted", "cotangent", "into", "infer"], dtypes: DTYPES,
    unknown: Object.keys(UNKNOWN), functions: FUNCTIONS, conventions: "all", extreme: true, max_elements: Number.MAX_SAFE_INTEGER,
    run: ({ result, refusal }) => result ?? new Refused("", refusal),
    infer: ({ inferred, refusal }) => inferred ?? new Refused("", refusal),
};
const apart = [...cases({ into: true }).filter(({ into }) => into), ...cases({ operation: "infer" })];

test("an adapter of everything misses nothing, and each capability misses something", () => {
    const missing = (fields) => apart.filter((one) => new Adapter({ ...everything, ...fields }).missing(one)).length;
    assert(apart.length > 600);
    assert.equal(missing({}), 0);
    for (const [field, value] of Object.entries({
        rules: ["numpy"], operations: ["elementwise", "into"], dtypes: ["f32"], functions: ["add"], unknown: ["rank"], max_rank: 1,
        min_rank: 2, equal_ranks: true, scalars: false, max_operands: 1, max_calls: 0, unused_operands: false, large_sizes: false,
        static_flags: true, function_dtypes: { add: ["f64"] }, rule_operations: { xla: ["elementwise", "broadcast"] }, rule_functions: { numpy: ["less"] },
    })) {
        assert(missing({ [field]: value }) > 0 && missing({ [field]: value }) < apart.length, field);
    }
});

test("a destination is no unused operand, and what is unknown is named", () => {
    const missing = (fields, one) => new Adapter({ ...everything, ...fields }).missing(one);
    const [out] = cases({ into: true, filter: "numpy/into/out-first" });
    assert.equal(missing({ unused_operands: false }, out), undefined);
    assert.equal(missing({ operations: OPERATIONS }, out), "no destinations");
    const shapes = [["?"], [{ max: 3 }], [between(1, 3)], [{ min: 2 }], "..."];
    const lower = "no lengths with a lower bound";
    assert.deepEqual(shapes.map((shape) => missing({ unknown: ["length"] }, infers({ kind: "any" }, shape, shape))), [undefined, "no lengths with an upper bound", lower, lower, "no unknown ranks"]);
    const declares = (fields) => [out, always].map((one) => new Adapter({ ...everything, ...fields }).declares(one));
    assert.deepEqual([declares({}), declares({ operations: OPERATIONS })], [[true, true], [false, false]]);
    const ends = [[{ max: 2n ** 63n - 1n }], [{ max: 2n ** 63n }], [{ min: 2n ** 63n }], ["?", 2 ** 32, 2 ** 31]];
    const large = "no sizes beyond memory";
    assert.deepEqual(ends.map((shape) => missing({ large_sizes: false }, infers({ kind: "any" }, shape, shape))), [undefined, large, large, large]);
    // A library that only infers, infers every operation; one that runs has those that it runs.
    const [onto] = cases({ operation: "infer", filter: "numpy/infer-broadcast/" });
    assert.equal(missing({ operations: ["infer"] }, onto), undefined);
    assert.equal(missing({ operations: ["infer", "elementwise"] }, onto), "no broadcast under numpy");
    assert.throws(() => new Adapter({ ...everything, infer: undefined }, "a"), /a: no function `infer`, expected an adapter with infer\(case\)/);
    assert.throws(() => new Adapter({ ...everything, run: undefined }, "a"), /a: no function `run`, expected an adapter with run\(case\)/);
});

test("only adapters that declare them are asked, and wider answers fail on request", async () => {
    const counts = async (fields, options) => (await check({ ...everything, ...fields }, { filter: ["numpy/examples/", "numpy/into/", "numpy/infer*"], ...options }));
    const right = await counts();
    assert.deepEqual({ ...right.counts, passed: 0 }, { passed: 0, failed: 0, known: 0, differs: 0, skipped: 0 });
    assert.equal(right.wider.length, 0);
    const plain = await counts({ operations: OPERATIONS, known: { "numpy/into/*": "a reason", "numpy/infer/*": "a reason" } });
    assert(right.counts.passed > 250 && plain.counts.passed > 10 && plain.counts.passed < 50 && plain.counts.skipped === 0);
    const vague = { infer: ({ inferred, refusal }) => (inferred ? { dtype: inferred.dtype, shape: "..." } : new Refused("", refusal)) };
    const some = await counts(vague, { filter: "numpy/infer/{u,l,t}*" });
    const strict = await counts(vague, { filter: "numpy/infer/{u,l,t}*", exact: true });
    assert(some.counts.failed === 0 && some.wider.length > 10);
    assert(strict.counts.failed === some.wider.length && strict.wider.length === 0);
    assert.match(strict.failures[0].text, /^ {2}a: f32\(.*\n[^]*\nwider than exact: found f32\(\.\.\.\), expected /m);
    const unsound = { infer: ({ inferred, refusal }) => (inferred ? { ...inferred, accepts: "always" } : new Refused("", refusal)) };
    assert.equal((await counts(unsound, { filter: "numpy/infer/unknown-meets-two" })).counts.failed, 1);
});
