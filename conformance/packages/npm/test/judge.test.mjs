// The judge, on hand-written cases. `node --test test/` in the staging directory of a build.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FUNCTIONS, Operand, Refused, cases, judge } from "../src/index.js";
import { excused, judgeConvention } from "../src/judge.js";
import { check } from "../src/runner.js";
import { glob } from "../src/kit.js";
import { normal, read, roundTo } from "../src/numbers.js";

const required = (dtype, values, admitted = []) => ({ result: { dtype, shape: [values.length], values, admitted: new Map(admitted) } });
const passes = (one, values, dtype = one.result.dtype) => judge(one, { dtype, shape: [values.length], values }).passed;

test("values are compared to the bit, and any NaN is NaN", () => {
    assert(passes(required("f64", [1, -0, NaN]), [1, -0, NaN]));
    assert(!passes(required("f64", [-0]), [0]));
    assert(!passes(required("f64", [0]), [-0]));
    assert(!passes(required("f64", [1]), [1 + Number.EPSILON]));
    assert(!passes(required("f64", [NaN]), [1]) && !passes(required("f64", [1]), [NaN]));
});

test("an interval admits its bounds and both zeros, and never NaN", () => {
    const one = required("f64", [0.5], [[0, [{ lower: 0, upper: 1 }]]]);
    for (const value of [0, -0, 0.5, 1]) assert(passes(one, [value]));
    for (const value of [-Number.MIN_VALUE, 1 + Number.EPSILON, NaN, Infinity]) assert(!passes(one, [value]));
    const any = required("f64", [0], [[0, [{ lower: -Infinity, upper: Infinity }, { value: NaN }]]]);
    for (const value of [NaN, -Infinity, 3]) assert(passes(any, [value]));
});

test("a single admitted value is compared to the bit, and replaces the listed one", () => {
    const one = required("f32", [-0], [[0, [{ value: -0 }, { value: 2 }]]]);
    assert(passes(one, [-0]) && passes(one, [2]) && !passes(one, [0]) && !passes(one, [1]));
    assert(!passes(required("f32", [7], [[0, [{ value: 2 }]]]), [7]));
});

test("zeros that a case admits still differ from the convention", () => {
    const one = { ...required("f64", [0], [[0, [{ lower: -0, upper: 0 }]]]), convention: "zero-signs" };
    const answer = { dtype: "f64", shape: [1], values: [-0] };
    assert(judge(one, answer).passed && judgeConvention({ ...one, convention: undefined }, answer).passed);
    const verdict = judgeConvention(one, answer);
    assert(!verdict.passed && excused(one, answer, verdict) && judgeConvention(one, { ...answer, values: [0] }).passed);
});

test("64-bit integers keep every digit", () => {
    const one = required("i64", [2n ** 53n + 1n]);
    assert(passes(one, [9007199254740993n]) && !passes(one, [9007199254740992n]));
    assert(passes(one, new BigInt64Array([9007199254740993n])) && passes(required("i64", [5n]), [5]));
    const wide = required("u64", [0n], [[0, [{ lower: 0n, upper: 2n ** 64n - 1n }]]]);
    assert(passes(wide, [2n ** 64n - 1n]) && !passes(wide, [-1n]) && !passes(wide, [2n ** 64n]));
    assert.equal(read("i64", "-9223372036854775808"), -(2n ** 63n));
});

test("dtype, shape, count and the kinds of values must be right", () => {
    assert(!passes(required("f64", [1]), [1], "f32"));
    assert(!judge(required("f64", [1]), { dtype: "f64", shape: [], values: [1] }).passed);
    assert(!judge(required("f64", [1]), { dtype: "f64", shape: [1], values: [] }).passed);
    assert(!passes(required("bool", [true]), [1]) && !passes(required("i32", [1]), [true]) && !passes(required("i8", [1]), [300]));
    assert.throws(() => judge(required("f64", [1]), [1]), TypeError);
});

test("numbers are rounded to their dtype, ties to even", () => {
    assert.deepEqual([2049, 2051, 65519, 65520, 2 ** -25, -(2 ** -24)].map((x) => roundTo("f16", x)), [2048, 2052, 65504, Infinity, 0, -(2 ** -24)]);
    assert.deepEqual([257, 259, 3.4e38, -(2 ** -134)].map((x) => roundTo("bf16", x)), [256, 260, Infinity, -0]);
    assert.equal(normal("f32", 0.1), Math.fround(0.1));
});

test("a refusal is compared in what both sides report", () => {
    const one = { refusal: { kind: "dimension_mismatch", axis: 1 } };
    assert(judge(one, new Refused("no")).passed && judge(one, new Refused("no", { kind: "dimension_mismatch", axis: 1 })).passed);
    assert(!judge(one, new Refused("no", { axis: 0 })).passed && !judge(one, new Refused("no", { kind: "too_large" })).passed);
    assert(judge({ refusal: { kind: "any" } }, new Refused("no", { kind: "too_large" })).passed);
    assert(!judge(one, { dtype: "f64", shape: [], values: [1] }).passed && !judge(required("f64", [1]), new Refused()).passed);
});

test("the flags and the intermediate are compared only if the answer has them", () => {
    const { result } = required("f64", [1, 2]);
    const answer = { dtype: "f64", shape: [2], values: [1, 2] };
    assert(!judge({ result }, { ...answer, broadcastable: [false] }).passed);
    const flagged = { result: { ...result, broadcastable: [false], intermediate: { dtype: "bool", shape: [1], values: [true] } } };
    assert(judge(flagged, answer).passed && judge(flagged, { ...answer, broadcastable: [false] }).passed);
    assert(judge(flagged, { ...answer, intermediate: { shape: [1], values: [true] } }).passed);
    assert(!judge(flagged, { ...answer, intermediate: { shape: [1], values: [false] } }).passed);
});

test("the elements of a view are read by strides and offset", () => {
    const view = { name: "a", dtype: "i64", shape: [2, 2, 1], values: [0, 1, 2, 3], strides: [-1, 2, "9223372036854775807"], offset: 1 };
    assert.deepEqual(new Operand(view).elements(), [1n, 3n, 0n, 2n]);
    assert.deepEqual(new Operand({ ...view, shape: [0, 2, 1], strides: [1, 1, 1] }).elements(), []);
});

test("globs", () => {
    const ids = ["numpy/zero/a", "numpy/zero-rows/b", "xla/zero/a"];
    const matching = (text, prefix) => ids.filter(glob(text, prefix)).length;
    assert.deepEqual(["numpy/zero", "numpy/*", "*/zero/[ab]", "{xla,numpy}/zero/?"].map((text) => matching(text, true)), [2, 2, 2, 2]);
    assert.equal(matching("numpy/zero"), 0);
    assert.throws(() => glob("{a"), RangeError);
});

test("the selection of cases", () => {
    const all = cases({ rules: "numpy", conventions: [] });
    assert(all.length > 500 && all.every((one) => one.rules === "numpy" && !one.convention));
    const single = cases({ dtypes: ["f32"], functions: ["add"] });
    assert(single.length > 50 && single.every((one) => one.operands.every(({ dtype }) => dtype === "f32")));
    assert(single.some((one) => one.retyped_from === "f64" && one.name.endsWith("[f32]")));
    assert.throws(() => cases({ rules: "nunpy" }), /rules: found "nunpy", expected one of: none numpy/);
});

test("an adapter that repeats the required outcome passes, and one that never does fails", async () => {
    const everything = {
        rules: ["none", "numpy", "pdpd", "bidirectional", "xla", "theano", "leading", "repeat"], operations: ["elementwise", "broadcast", "gradient", "strided", "broadcast_in_dim", "permuted", "cotangent"],
        dtypes: ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"],
        functions: FUNCTIONS, conventions: "all", extreme: true, max_elements: Number.MAX_SAFE_INTEGER,
    };
    const right = await check({ ...everything, run: ({ result, refusal }) => result ?? new Refused("", refusal) });
    assert.deepEqual({ ...right.counts, passed: 0 }, { passed: 0, failed: 0, known: 0, differs: 0, skipped: 0 });
    const wrong = await check({ ...everything, run: ({ result }) => (result ? new Refused("") : { dtype: "f64", shape: [], values: [0] }) });
    assert.equal(wrong.counts.passed, 0);
});
