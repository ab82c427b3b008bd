#!/usr/bin/env node
// The command `broadcheck-cases`: runs the cases against an adapter, and prints the failures and a summary.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Adapter } from "./adapter.js";
import { manifest } from "./kit.js";
import { check } from "./runner.js";

const HELP = `Run the broadcasting cases against an adapter

Usage: broadcheck-cases [OPTIONS] <ADAPTER>

Arguments:
  <ADAPTER>        A module whose default export, or export \`adapter\`, is the adapter

Options:
  --filter GLOB    Only cases with this id, beginning of an id, or glob; may be repeated
  --known FILE     Known failures: a JSON object from ids or globs to reasons
  --extreme        Also the cases with lengths, strides and counts beyond 2^53, which are BigInt
  --exact          Fail the inferred shapes that are wider than exact
  --sweeps         Also the patterns, about 4,000 cases
  --kit DIR        A directory that \`broadcheck export\` wrote, instead of the cases of the package
  --skipped        List why cases were skipped
  --help           Print help
  --version        Print the version of the suite

Exit status: 0 everything passed, 1 something failed or nothing could be asked, 2 invalid command line or adapter.
`;

// So many answers that are wider than exact are listed.
const LISTED = 10;

async function main() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            filter: { type: "string", multiple: true },
            known: { type: "string" },
            kit: { type: "string" },
            extreme: { type: "boolean" },
            sweeps: { type: "boolean" },
            exact: { type: "boolean" },
            skipped: { type: "boolean" },
            help: { type: "boolean" },
            version: { type: "boolean" },
        },
    });
    if (values.help) return process.stdout.write(HELP);
    if (values.version) return console.log(manifest().version);
    if (positionals.length !== 1) throw new Error(`found ${positionals.length} adapters, expected one: broadcheck-cases ./adapter.mjs`);
    const [path] = positionals;
    const module = await import(pathToFileURL(resolve(path)));
    const given = module.default ?? module.adapter;
    if (!given) throw new Error(`${path}: no default export and no export \`adapter\`, expected an adapter`);
    const adapter = new Adapter(given, path);
    const known = values.known ? JSON.parse(readFileSync(values.known, "utf8")) : given.known;
    const { counts, failures, wider, skipped, conventions } = await check(adapter, { ...values, known, extreme: values.extreme ?? given.extreme });
    for (const { id, text } of failures) console.log(`FAILED  ${id}\n${text.replace(/^/gm, "    ")}\n`);
    for (const { id, text } of wider.slice(0, LISTED)) console.log(`wider than exact: ${id}: ${text}`);
    if (wider.length > LISTED) console.log(`and ${wider.length - LISTED} more: --exact fails them all`);
    if (values.skipped) for (const [reason, count] of [...skipped].sort()) console.log(`skipped ${count}: ${reason}`);
    for (const [name, { agrees, differs }] of [...conventions].sort()) {
        console.log(`convention ${name}: agrees in ${agrees}, differs in ${differs}`);
    }
    const also = wider.length ? `; ${wider.length} of those that passed are wider than exact` : "";
    console.log(`${adapter.name} ${adapter.version}: ${Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ")}${also}`);
    const asked = counts.passed + counts.failed + counts.known + counts.differs;
    if (asked === 0) console.log("nothing could be asked: --skipped lists the reasons");
    process.exitCode = counts.failed || asked === 0 ? 1 : 0;
}

main().catch((error) => {
    console.error(`broadcheck-cases: ${error.message}`);
    process.exitCode = 2;
});
