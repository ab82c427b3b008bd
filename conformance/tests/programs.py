#!/usr/bin/env python3
"""Writes the cases as programs of each system, runs them, and compares what they print with what the system's adapter answers.

    programs.py CASES                   for every system whose adapter is set up and writes programs
    programs.py CASES NAME [NAME...]    for these

CASES is a directory that `broadcheck export --format json` wrote, or a program `broadcheck`, which is then asked for it. The programs of a
system run in one process, with the interpreter of its adapter; those in Rust are compiled against the crates that the adapter was built
with. Where the adapter answers with a refusal or an error, a program must end with the same message. Of each finding about a system, one
of its cases at least must be writable. Prints how many programs were written, how many requests cannot be written and why, and each
difference. Exit status: 0 no differences, 1 some, 2 nothing was run.
"""
import argparse
import collections
import contextlib
import functools
import io
import json
import math
import os
import pathlib
import random
import re
import runpy
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

# The directory `conformance`, wherever in it this script is.
CONFORMANCE = next(path for path in pathlib.Path(__file__).resolve().parents if (path / "findings").is_dir())
ADAPTERS = CONFORMANCE / "adapters"
PACKAGES = ADAPTERS / "javascript"
CRATE = ADAPTERS / "rust"
# Longer than any request takes, in seconds.
PATIENCE = 20
# Findings whose cases no program shows: one is about an operand that is not used, two about more elements or calls than a program may
# have, and in the case of one the ranks differ, which burn does not take.
WITHOUT_PROGRAM = {29, 60, 109, 136}
SHOWN = 5


# ---------------------------------------------------------------- what is asked

def requests(cases):
    """The requests of the cases, by their ids, shuffled: a sample is of all files."""
    found = {}
    for path in [*cases.glob("json/*.json"), *cases.glob("json/optional/*.json"), *cases.glob("into/*.json")]:
        found.update((case["id"], case) for case in json.loads(path.read_text(encoding="utf-8"))["cases"] if "operands" in case)
    for id, request in list(found.items()):
        found.update((f"{id}, {how}", given) for how, given in given_otherwise(request))
    ids = sorted(found)
    random.Random(1).shuffle(ids)
    return {id: found[id] for id in ids}


def given_otherwise(request):
    """The request with its operands given in other ways, of which the case does not speak."""
    operands = request["operands"]
    special = {request.get(field) for field in ("wrt", "into")}
    if request.get("operation") == "infer" or request.get("into") or any("declared" in operand for operand in operands):
        return
    if operands[0]["name"] not in special:
        yield "constant", {**request, "operands": [{**operands[0], "constant": True}, *operands[1:]]}
    alike = len(operands) > 1 and all(operands[0].get(key) == operands[1].get(key) for key in ("dtype", "shape", "broadcastable"))
    if alike and operands[1]["name"] != request.get("cotangent"):
        same = {**operands[0], "name": operands[1]["name"], "same": operands[0]["name"]}
        yield "same", {**request, "operands": [operands[0], same, *operands[2:]]}


def exported(cases, directory):
    """The directory of the cases."""
    if cases.is_dir():
        return cases
    subprocess.run([str(cases), "export", "--format", "json", "--out", f"{directory}/cases"], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(directory) / "cases"


# ---------------------------------------------------------------- in the environment of a system

def asked(system, protocol, fields):
    """A request's answer and its program, each as JSON; no program but the reason if it cannot be written."""
    import programs
    try:
        program = programs.program_of(system, fields)
    except programs.Unwritable as reason:
        return None, {"undeclared" if isinstance(reason, programs.Undeclared) else "unwritable": str(reason)}
    return protocol._answer(system, fields), {"program": program}


class Octave:
    """A process that runs programs in Octave."""

    LOOP = r"""
        while ischar(name = fgetl(stdin))
          if isempty(name) continue; end
          try source(name); catch failure, printf("raised %s\n", strrep(failure.message, "\n", " ")); end
          printf("end\n"); fflush(stdout);
        end"""

    def __init__(self):
        command = ["octave-cli", "--norc", "--quiet", "--no-history", "--eval", self.LOOP]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.directory = tempfile.TemporaryDirectory()

    def run(self, program, _):
        path = pathlib.Path(self.directory.name) / "program.m"
        path.write_text(program, encoding="utf-8")
        # fgetl waits for the first character after the line that it returns.
        print(path, end="\n\n", file=self.process.stdin, flush=True)
        lines = list(iter(self.process.stdout.readline, "end\n"))
        if lines[-1].startswith("raised "):
            return {"raised": "OctaveError: error " + " ".join(lines[-1][len("raised "):].split())}
        return {"printed": self.in_python(lines[-1])}

    @staticmethod
    def in_python(printed):
        """The line as a program in Python prints it, with Octave's classes and sizes."""
        kind, size, values = re.fullmatch(r"(\w+) \[([\d ]+)\] \[(.*)\]\n", printed).groups()
        values = [value.replace("NaN", "nan").replace("Inf", "inf") for value in values.split()]
        if kind == "logical":
            values = [{"1": "True", "0": "False"}[value] for value in values]
        kind = {"double": "float64", "single": "float32", "logical": "bool"}.get(kind, kind)
        return f"{kind} ({', '.join(size.split())}) [{', '.join(values)}]\n"


def compiled(program, _):
    """What a program in C++ prints, or the exception of xtensor with which it ends."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "program.cpp").write_text(program, encoding="utf-8")
        subprocess.run(["g++", "-std=c++17", "-fwrapv", "program.cpp", "-o", "program"], cwd=directory, check=True, capture_output=True)
        done = subprocess.run(["./program"], cwd=directory, capture_output=True, text=True)
    if done.returncode == 0:
        return {"printed": done.stdout}
    return {"raised": "BroadcastError: " + " ".join(done.stderr.partition("what():")[2].split())}


def printed_by(program, protocol):
    """What a program in Python prints, or how it ends."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except Exception as error:  # whatever the system raises
        return {"raised": protocol.shortened(error)}
    return {"printed": out.getvalue()}


def work(name):
    """Answers each request on standard input, a line of JSON each, with one line."""
    sys.path.insert(0, str(ADAPTERS))
    import protocol
    systems = []
    protocol.serve = systems.append
    runpy.run_path(str(ADAPTERS / f"{name}_adapter.py"), run_name="__main__")
    protocol.np.seterr(all="ignore")
    run = compiled if name == "xtensor" else Octave().run if name == "octave" else printed_by
    print(json.dumps("ready"), file=protocol._ANSWERS, flush=True)
    for line in sys.stdin:
        fields = json.loads(line)
        answer, written = asked(systems[0], protocol, fields)
        ran = run(written["program"], protocol) if "program" in written else {}
        print(json.dumps({"answer": answer, **written, **ran}), file=protocol._ANSWERS, flush=True)


# ---------------------------------------------------------------- outside of it

class Worker:
    """A process in the environment of a system."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if self.process.stdout.readline().strip() != '"ready"':
            sys.exit(f"{command[-1]}: the adapter does not start")

    def ask(self, request):
        """What the process says of a request; None if it has ended, or does not answer."""
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else None

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Package:
    """The processes of a system in JavaScript: its adapter, and one that writes programs and runs them."""

    # Each program is a module of its own, in a directory in which the system's packages are found.
    LOOP = r"""
        import { createInterface } from "node:readline";
        import { pathToFileURL } from "node:url";
        import { writeFileSync } from "node:fs";
        const [directory, place] = process.argv.slice(-2);
        const { program } = await import(pathToFileURL(`${place}/program.mjs`));
        const { Unwritable } = await import(pathToFileURL(`${place}/../programs.mjs`));
        const { read } = await import(pathToFileURL(`${place}/../protocol.mjs`));
        const say = (found) => process.stdout.write(`${JSON.stringify(found)}\n`);
        let count = 0;
        let printed = "";
        say("ready");
        for await (const line of createInterface({ input: process.stdin })) {
          try {
            const text = program(read(JSON.parse(line)));
            const file = `${directory}/program${count++}.mjs`;
            writeFileSync(file, text);
            printed = "";
            console.log = (words) => { printed += `${words}\n`; };
            try { await import(pathToFileURL(file)); say({ program: text, printed }); }
            catch (error) { say({ program: text, raised: error.message }); }
          } catch (error) {
            if (!(error instanceof Unwritable)) throw error;
            say({ [/ has no | is given no /.test(error.message) ? "undeclared" : "unwritable"]: error.message });
          }
        }"""

    def __init__(self, name):
        place = PACKAGES / name
        self.directory = tempfile.TemporaryDirectory()
        os.symlink(place / "node_modules", f"{self.directory.name}/node_modules")
        self.programs = Worker(["node", "--input-type=module", "-e", self.LOOP, self.directory.name, str(place)])
        self.adapter = subprocess.Popen(["node", str(place / "adapter.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def ask(self, request):
        found = self.programs.ask(request)
        if found is None or "program" not in found:
            return found
        print(json.dumps({"cmd": "run", "seq": 1, "request": request}), file=self.adapter.stdin, flush=True)
        if "printed" in found:
            found["printed"] = self.in_python(found["printed"])
        return {**found, "answer": json.loads(self.adapter.stdout.readline())}

    @staticmethod
    def in_python(printed):
        """The line as a program in Python prints it. math.js has JavaScript's numbers and booleans."""
        words = {"NaN": "nan", "Infinity": "inf", "number": "float64", "boolean": "bool", "true": "True", "false": "False"}
        printed = re.sub(r"-0(?=[,\]])", "-0.0", printed)
        return re.sub(r"[A-Za-z]+", lambda word: words.get(word[0], word[0]), printed)

    def close(self):
        self.programs.close()
        self.adapter.kill()
        self.adapter.wait()
        self.adapter.stdin.close()
        self.adapter.stdout.close()
        self.directory.cleanup()


class Compiled:
    """A system in Rust: its adapter, and a compiler for its programs."""

    # Asked together, and compiled together: to compile one program takes as long as to compile several.
    TOGETHER = 200
    MODULES = 30
    # The crate of a system's interface.
    CRATES = {"candle": "candle_core", "tract": "tract_core", "burn": "burn_tensor", "burn-ndarray": "burn_tensor"}

    def __init__(self, name):
        self.name = name
        built = CRATE / "target" / name / "release"
        self.command = [str(built / name)]
        crate = self.CRATES[name]
        library = max((built / "deps").glob(f"lib{crate}-*.rlib"), key=lambda path: path.stat().st_mtime)
        # A program has no warnings. burn has deprecated one of its backends.
        self.compiler = ["rustc", "--edition", "2024", "-C", "debuginfo=0", "-D", "warnings", "-A", "deprecated",
                         "--extern", f"{crate}={library}", "-L", f"dependency={built / 'deps'}"]
        self.environment = {key: value for key, value in os.environ.items() if key not in ("RUST_BACKTRACE", "RUST_LIB_BACKTRACE")}
        self.directory = tempfile.TemporaryDirectory()
        self.start()

    def start(self):
        self.adapter = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, request):
        return self.ask_all([request])[0]

    def ask_all(self, requests):
        outcomes = [self.written(request) for request in requests]
        places = [place for place, outcome in enumerate(outcomes) if "program" in outcome]
        for start in range(0, len(places), self.MODULES):
            together = places[start:start + self.MODULES]
            for place, ran in zip(together, self.ran([outcomes[place]["program"] for place in together])):
                outcomes[place].update(ran, answer=self.answer(requests[place]))
        return outcomes

    def written(self, request):
        """The program of a request, or why there is none."""
        done = subprocess.run([*self.command, "--program"], input=json.dumps(request), capture_output=True, text=True)
        if done.returncode == 0:
            return {"program": done.stdout}
        if done.returncode != 2:
            sys.exit(f"{self.name}: {' '.join(self.command)} --program ended with status {done.returncode}: {done.stderr}")
        # A request whose f64 were made f32 has values that f32 does not have, and is none.
        reason = done.stderr.splitlines()[-1].removeprefix("cannot be written because ")
        return {"undeclared" if " has no " in reason else "unwritable": reason}

    def answer(self, request):
        """The answer of the adapter. A process that it ends is one, too."""
        try:
            print(json.dumps({"cmd": "run", "seq": 1, "request": request}), file=self.adapter.stdin, flush=True)
            line = self.adapter.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        message = self.ended(self.adapter.wait())
        self.stop()
        self.start()
        return {"errored": {"message": message}}

    @staticmethod
    def ended(status):
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    def ran(self, programs):
        """What each program prints, or how it ends."""
        error = self.compile(programs)
        if error is None:
            return [self.run(place) for place in range(len(programs))]
        if len(programs) == 1:
            return [{"raised": f"does not compile: {error}"}]
        middle = len(programs) // 2
        return self.ran(programs[:middle]) + self.ran(programs[middle:])

    def compile(self, programs):
        """Compiles these programs as modules of one, which runs that of the number it is given. Returns the first error."""
        modules = [f"mod program_{place} {{\n{program.replace('fn main()', 'pub fn main()', 1)}}}\n" for place, program in enumerate(programs)]
        calls = [f'        Some("{place}") => program_{place}::main().report(),\n' for place in range(len(programs))]
        main = "".join(["use std::process::{ExitCode, Termination};\nfn main() -> ExitCode {\n    match std::env::args().nth(1).as_deref() {\n",
                        *calls, "        _ => ExitCode::from(3),\n    }\n}\n"])
        source = pathlib.Path(self.directory.name, "programs.rs")
        source.write_text("".join(modules) + main, encoding="utf-8")
        done = subprocess.run([*self.compiler, source.name], cwd=self.directory.name, capture_output=True, text=True)
        return done.stderr if done.returncode else None

    def run(self, place):
        command = [f"{self.directory.name}/programs", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=PATIENCE)
        if done.returncode == 0:
            return {"printed": self.in_python(done.stdout)}
        # A panic, or the error that `main` returned, which tract writes with its causes below it.
        panic = re.search(r"panicked at [^\n]*:\n(.*?)(\nnote: |\Z)", done.stderr, re.DOTALL)
        error = re.match(r"Error: (.*)", done.stderr, re.DOTALL)
        if panic:
            said = panic[1]
        elif error:
            said = re.sub(r"\n\s+(\d+: )?", ": ", error[1].rstrip().replace("\n\nCaused by:", ""))
        else:
            said = self.ended(done.returncode)
        # One line, as long as the adapters' messages may be.
        return {"raised": " ".join(said.split())[:600]}

    @staticmethod
    def in_python(printed):
        """The line as a program in Python prints it. candle and burn print `F32 [2] [1.0, 2.0]`, and tract `2,F32 1, 2`."""
        found = re.fullmatch(r"(\w+)(?:\(\w+\))? \[(.*?)\] \[(.*)\]\n", printed)
        if found:
            kind, shape, values = found.groups()
        else:
            shape, kind, values = re.fullmatch(r"([\d,]*,)(\w+) (.*)\n", printed).groups()
        dtype = {"BF16": "bf16"}.get(kind, kind.lower())
        values = [value for value in values.split(", ") if value]
        if dtype == "bool":
            values = [{"true": "True", "false": "False"}[value] for value in values]
        elif dtype[0] in "bf":
            # As few digits as give back an f32, which f16 and bf16 are printed as.
            read = float if dtype == "f64" else lambda value: struct.unpack("f", struct.pack("f", float(value)))[0]
            values = [repr(read(value)) for value in values]
        return f"{NAMES[dtype]} ({shape.strip(',')}) [{', '.join(values)}]\n"

    def stop(self):
        self.adapter.kill()
        self.adapter.wait()
        self.adapter.stdin.close()
        self.adapter.stdout.close()

    def close(self):
        self.stop()
        self.directory.cleanup()


def judged(found, seconds, start):
    """What each request came to, until the time is over. `start` starts what is asked."""
    began, outcomes, worker, ids = time.monotonic(), {}, start(), list(found)
    together = getattr(worker, "TOGETHER", 1)
    for first in range(0, len(ids), together):
        part = ids[first:first + together]
        if together > 1:
            outcomes.update(zip(part, worker.ask_all([found[id] for id in part])))
        else:
            outcomes[part[0]] = worker.ask(found[part[0]])
        if any(outcomes[id] is None for id in part):
            worker.close()
            worker = start()
        if seconds is not None and time.monotonic() - began > seconds:
            break
    worker.close()
    return outcomes


def value(text):
    """A value of an answer."""
    if not isinstance(text, str):
        return text
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def is_same(left, right):
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return left == right and math.copysign(1, left) == math.copysign(1, right)


def flat(values):
    return [one for value in values for one in flat(value)] if isinstance(values, list) else [values]


NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "bool": "bool",
         **{f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}}


def read(printed):
    """The dtype, the shape and the values that a program printed."""
    dtype, shape, values = re.fullmatch(r"(\S+) (\([\d, ]*\)) (.*)\n", printed).groups()
    known = {"nan": math.nan, "inf": math.inf}
    return dtype.split(".")[-1], [int(length) for length in shape.strip("()").split(",") if length.strip()], flat(eval(values, known))


def plain(message):
    """A message without what differs from run to run: addresses, numbers of nodes, and places in a text."""
    # Before its call, candle's adapter asks candle for the common shape.
    message = re.sub(r"^(shape mismatch in) (broadcast_\w+|where_cond)", r"\1 _", message)
    # What MLIR notes repeats the operation, of which a long message has only a part.
    message = re.sub(r"^(MLIRError: .*?) note: .*", r"\1", message)
    message = re.sub(r"^(MLIRError: .*?error|Error|panicked): ", "", message)
    message = re.sub(r"(Graph execution error): .*", r"\1", message)
    message = re.sub(r' name: ?$|File "[^"]*", line \d+|\{\{node .*?\) ?', "", message)
    return re.sub(r"_\d+|0x[0-9a-f]+|<lambda>|function|unknown: |\"-\":\d+:\d+: ", "_", message)


def difference(name, outcome):
    """How what a program printed differs from the answer; None if it does not."""
    answer = outcome["answer"]
    failed = answer.get("refusal") or answer.get("errored")
    if failed:
        if plain(failed["message"]) == plain(outcome.get("raised", "")):
            return None
        return f"expected `{failed['message']}`"
    result = answer["result"]
    if "printed" not in outcome:
        return "expected a result"
    dtype, shape, values = read(outcome["printed"])
    if result["dtype"] == "bool":
        # TensorFlow.js and candle have 0 and 1 for them, candle of the dtype u8.
        values = [bool(one) for one in values]
        dtype = "bool" if (name, dtype) == ("candle", "uint8") else dtype
    expected = [value(one) for one in result["values"]]
    same = len(values) == len(expected) and all(map(is_same, values, expected))
    if name == "octave":
        # Octave's arrays have two axes or more, and no last ones of length 1 beyond them.
        shape = [*shape, *[1] * len(result["shape"])][:len(result["shape"])]
    if (dtype, shape) == (NAMES[result["dtype"]], result["shape"]) and same:
        return None
    return f"expected {result['dtype']} {result['shape']} {result['values']}"


def findings(name):
    """The cases of the findings about a system, by the number of the finding."""
    found = {}
    for path in sorted((CONFORMANCE / "findings").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^adapter: (\S+)$", text, re.MULTILINE)[1] == name:
            found[int(path.name[:4])] = re.search(r"^cases: \[(.*)\]$", text, re.MULTILINE)[1].split(", ")
    return found


def in_f32(request):
    """The request with f32 in place of f64."""
    return json.loads(json.dumps(request).replace('"f64"', '"f32"'))


def unwritten_findings(name, found, start):
    """The findings of which no case can be written as a program, with the reason; those about inferences, sweeps and declared shapes have
    none."""
    worker, unwritten = start(), []
    for number, ids in findings(name).items():
        asked = [found[id] for id in ids if id in found and not any("declared" in operand for operand in found[id]["operands"])]
        # A system without f64 is asked in f32, as `check` asks it.
        asked += [in_f32(request) for request in asked]
        reasons = []
        for request in asked:
            outcome = worker.ask(request)
            if outcome is None:
                # The finding is that the process ends.
                worker.close()
                worker = start()
            reasons.append(outcome and (outcome.get("unwritable") or outcome.get("undeclared")))
        if reasons and all(reasons) and number not in WITHOUT_PROGRAM:
            unwritten.append(f"finding {number}: {reasons[0]}")
    worker.close()
    return unwritten


def report(name, outcomes, seconds):
    """Prints what came of a system's requests, and returns the number of differences."""
    counts, reasons, different = collections.Counter(), collections.Counter(), []
    for id, outcome in outcomes.items():
        if outcome is None:
            counts["ended the process or took too long"] += 1
        elif "undeclared" in outcome:
            counts["not its own"] += 1
        elif "unwritable" in outcome:
            counts["cannot be written"] += 1
            reasons[re.sub(r"\d+|operand \w+|`\w+`|\(.*\)|: .*", "…", outcome["unwritable"])] += 1
        elif "skipped" in outcome["answer"]:
            counts["skipped by the adapter"] += 1
        else:
            found = difference(name, outcome)
            counts["equal" if found is None else "different"] += 1
            if found is not None:
                different.append((id, outcome, found))
    for id in [id for id, outcome in outcomes.items() if outcome is None][:SHOWN]:
        print(f"{name}: {id} ended the process or took too long")
    for id, outcome, found in different[:SHOWN]:
        print(f"{name}: {id}\n{outcome['program']}  {found}\n  found {outcome.get('printed') or outcome.get('raised')}\n")
    print(f"{name}: {len(outcomes)} requests in {seconds:.0f} s: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    for reason, count in reasons.most_common():
        print(f"  cannot be written ({count}): {reason}")
    return len(different), counts["equal"]


def started(name):
    """What answers the requests of a system."""
    if (PACKAGES / name).is_dir():
        return Package(name)
    if is_in_rust(name):
        return Compiled(name)
    return Worker([str(ADAPTERS / "venvs" / name / "bin" / "python"), __file__, "--work", name])


def is_in_rust(name):
    return (CRATE / "src" / "bin" / f"{name}.rs").is_file()


def is_set_up(name):
    if (PACKAGES / name).is_dir():
        installed = PACKAGES / name / "node_modules"
    else:
        installed = CRATE / "target" / name if is_in_rust(name) else ADAPTERS / "venvs" / name
    return (installed / "installed.txt").is_file()


def all_names():
    """The systems whose adapters write programs."""
    scripts = [path.name[:-len("_adapter.py")] for path in ADAPTERS.glob("*_adapter.py") if "def program(" in path.read_text(encoding="utf-8")]
    # Theano and its descendants share theirs.
    packages = [path.parent.name for path in PACKAGES.glob("*/program.mjs")]
    return sorted([*scripts, "theano", "aesara", "pytensor", *packages, *(path.stem for path in CRATE.glob("src/bin/*.rs"))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, help="about how long to ask each system: a sample of the cases if they take longer")
    wanted = parser.parse_intermixed_args()
    names = [name for name in wanted.names or all_names() if is_set_up(name)]
    different = equal = 0
    with tempfile.TemporaryDirectory() as directory:
        found = requests(exported(wanted.cases, directory))
        for name in names:
            began = time.monotonic()
            unwritten = unwritten_findings(name, found, functools.partial(started, name))
            print("".join(f"{name}: {reason}\n" for reason in unwritten), end="")
            different += len(unwritten)
            outcomes = judged(found, wanted.seconds, functools.partial(started, name))
            one = report(name, outcomes, time.monotonic() - began)
            different, equal = different + one[0], equal + one[1]
    return 1 if different else 0 if equal else 2


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        sys.exit(main())
