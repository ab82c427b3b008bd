// Runs the cases against an adapter: as tests of node:test, or at once.
import { Adapter, Skipped } from "./adapter.js";
import { allCases, glob, inDtypes, manifest } from "./kit.js";
import { shownShape } from "./infer.js";
import { VALUE_CONVENTIONS, excused, judgeConvention } from "./judge.js";
import { show } from "./numbers.js";

/**
 * Registers one test of `node:test` per case, named by its id.
 *
 * A case that the adapter does not declare is skipped, with the reason. A known failure is a TODO that must fail. A case
 * of a convention that the adapter does not declare passes, or is skipped as different. An inferred shape that is right but
 * says less than is known passes with a diagnostic, and fails with `exact`.
 */
export async function run(given, options = {}) {
    const { test } = await import("node:test");
    const { adapter, selected, known, exact } = prepare(given, options);
    for (const found of selected) {
        const missing = adapter.missing(found);
        test(found.name, { skip: missing }, async (t) => {
            const outcome = await tried(adapter, found, known, exact);
            if (outcome.wider) t.diagnostic(`wider than exact: ${outcome.wider}`);
            if (outcome.status === "known") t.todo(outcome.reason);
            if (outcome.status === "differs") return t.skip(`differs from the convention ${found.convention}`);
            if (outcome.status === "skipped") return t.skip(outcome.reason);
            if (outcome.status !== "passed") throw outcome.error ?? new Error(outcome.text);
        });
    }
    if (!selected.some((found) => !adapter.missing(found))) {
        test("at least one case can be asked", () => {
            throw new Error(`${adapter.name} declares no case of this selection, expected at least one`);
        });
    }
}

/** Runs the cases, and returns `{counts, failures, wider, skipped, conventions}`. */
export async function check(given, options = {}) {
    const { adapter, selected, known, exact } = prepare(given, options);
    const report = { counts: { passed: 0, failed: 0, known: 0, differs: 0, skipped: 0 }, failures: [], wider: [], skipped: new Map(), conventions: new Map() };
    for (const found of selected) {
        const missing = adapter.missing(found);
        const outcome = missing ? { status: "skipped", reason: missing } : await tried(adapter, found, known, exact);
        report.counts[outcome.status] += 1;
        if (outcome.status === "failed") report.failures.push({ id: found.name, text: outcome.text });
        if (outcome.wider) report.wider.push({ id: found.name, text: outcome.wider });
        if (outcome.status === "skipped") report.skipped.set(outcome.reason, (report.skipped.get(outcome.reason) ?? 0) + 1);
        if (found.convention && ["passed", "differs"].includes(outcome.status)) {
            const counts = report.conventions.get(found.convention) ?? { agrees: 0, differs: 0 };
            counts[outcome.status === "passed" ? "agrees" : "differs"] += 1;
            report.conventions.set(found.convention, counts);
        }
    }
    return report;
}

function prepare(given, { filter, known = given?.known ?? {}, extreme = given?.extreme ?? false, sweeps = false, exact = false, kit } = {}) {
    const adapter = given instanceof Adapter ? given : new Adapter(given);
    const globs = filter === undefined ? [() => true] : [filter].flat().map((text) => glob(text, true));
    const everything = allCases({ extreme: true, sweeps: true, into: true, infer: true, kit });
    const entries = Object.entries(known).map(([id, reason]) => ({ id, reason, matches: glob(id) }));
    checkKnown(entries, everything, Object.keys(manifest(kit).sweeps_by_name ?? {}));
    const selected = everything
        .filter(({ file }) => (extreme || !file.startsWith("json/extreme/")) && (sweeps || !file.startsWith("json/sweeps/")))
        .filter((found) => adapter.declares(found))
        .filter(({ id }) => globs.some((matches) => matches(id)))
        .map((found) => inDtypes(found, adapter.dtypes, kit) ?? found);
    return { adapter, selected, known: entries, exact };
}

function checkKnown(entries, everything, sweeps) {
    for (const { id, reason, matches } of entries) {
        if (typeof reason !== "string" || !reason.trim()) throw new TypeError(`known["${id}"]: found no reason, expected why the library fails it`);
        const matched = everything.filter((found) => matches(found.id));
        if (!matched.length && !sweeps.some(matches)) throw new RangeError(`known["${id}"]: found no case with this id, expected one of this kit`);
        if (matched.length && matched.every(({ convention }) => convention && !VALUE_CONVENTIONS.includes(convention))) {
            throw new RangeError(`known["${id}"]: found only cases that test a convention, expected a defect: leave the entry out`);
        }
    }
}

/** Asks one case. The status is passed, failed, known, differs or skipped. */
async function tried(adapter, found, known, exact) {
    const entry = known.find(({ matches }) => matches(found.id));
    let answer, verdict, error;
    try {
        answer = await adapter.answer(found);
        verdict = judgeConvention(found, answer);
        if (verdict.wider && exact) verdict = { ...verdict, passed: false, reason: `wider than exact: ${verdict.reason}` };
    } catch (thrown) {
        if (thrown instanceof Skipped) return { status: "skipped", reason: thrown.message };
        error = thrown;
        verdict = { passed: false, reason: `the adapter threw ${thrown?.stack ?? thrown}` };
    }
    const text = described(found, verdict.reason);
    if (entry) {
        if (!verdict.passed) return { status: "known", reason: entry.reason, text, error };
        return { status: "failed", text: described(found, "found a right answer, expected the known failure: remove the entry") };
    }
    if (verdict.passed) return { status: "passed", wider: verdict.wider ? verdict.reason : undefined };
    const differs = !error && !verdict.wider && !adapter.conventions.has(found.convention) && excused(found, answer, verdict);
    return { status: differs ? "differs" : "failed", text, error };
}

/** A case for people: what it says, what it asks, and what was wrong. */
function described(found, reason) {
    const written = (part) => (typeof part === "string" ? part : `${part[0]}(${part.slice(1).map(written).join(", ")})`);
    const lines = [found.title, `clause ${found.clause}${found.since ? `, since ${found.since}` : ""}`, ""];
    lines.push(`request: ${found.rules} ${found.operation}${found.expression === undefined ? "" : ` of ${written(found.expression)}`}`);
    for (const field of ["wrt", "cotangent", "into", "target_shape", "axis", "broadcast_dimensions"]) {
        if (found[field] === undefined) continue;
        const isPartial = field === "target_shape" && found.operation === "infer";
        lines.push(`  ${field}: ${isPartial ? shownShape(found[field]) : found[field]}`);
    }
    for (const { name, dtype, shape, strides, offset, of, broadcastable, values } of found.operands) {
        const view = strides ? ` strides (${strides}) offset ${offset}` : "";
        const shared = of === undefined ? "" : ` of ${of}`;
        const flags = broadcastable ? ` broadcastable (${broadcastable})` : "";
        const some = values ? ` [${values.slice(0, 12).map(show).join(" ")}${values.length > 12 ? " ..." : ""}]` : "";
        lines.push(`  ${name}: ${dtype}${shownShape(shape)}${view}${shared}${flags}${some}`);
    }
    return [...lines, reason].join("\n");
}
