"""Runs the ready consumers in conformance/consumers as somebody would who has only a kit.

    python3 consumers.py BROADCHECK [--only python,javascript,go,cpp,rust]

Exports a kit with the command BROADCHECK. For each language, copies the consumer and the cases to an empty directory,
and runs there:

- the consumer on the small library beside it, which must pass; in Python, also on NumPy;
- the same with each of three planted bugs: the consumer must fail, and name the cases;
- the consumer on kits that were tampered with: each case in TAMPERED must fail, each case in ADMITTED must pass;
- the consumer without cases, and with cases that the library cannot express: it must fail.

Go and node are installed with apt-get if they are missing. A language whose tools are not to be had is left out, with
a message. Exit status: 0 everything was as expected, 1 something was not.
"""
import argparse, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

BUGS = {"1": "shapes", "2": "views", "3": "special values"}
SUMMARY = r"(?P<passed>\d+) passed.*?(?P<skipped>\d+) skipped; conventions: (?P<agree>\d+) agree, (?P<differ>\d+) differ"


class LeftOut(Exception):
    pass


class Wrong(Exception):
    pass


# ---- The languages -------------------------------------------------------------------------------------------------

class Language:
    """`file` is the judge, `library` what calls the library (if it is not in the same file), `run` the command,
    `failed` finds the failed cases in what it prints."""
    library = None
    environment, build, summary = {}, None, SUMMARY
    others = 0  # passed tests that are not cases
    libraries = []  # real ones that must pass, too
    embeds = False  # the cases, if the directory json is beside the consumer

    def set_up(self, scratch):
        """Installs what is needed, in `scratch` if possible."""


class Python(Language):
    file = "test_broadcasting.py"
    failed = r"^FAILED \S+::test\[(.+?)\]"
    summary = r"(?P<passed>\d+) passed(, (?P<skipped>\d+) skipped)?(, (?P<differ>\d+) xfailed)?(, (?P<agree>\d+) xpassed)?"
    environment = {"LIBRARY": "naive"}
    others = 1
    libraries = ["numpy"]

    def set_up(self, scratch):
        environment = scratch / "venv"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        python = str(environment / "bin/python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest", "numpy"]
        if subprocess.run(install, capture_output=True).returncode != 0:
            raise LeftOut("the Python package index does not answer")
        self.run = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_broadcasting.py"]


class JavaScript(Language):
    file = "broadcasting.test.mjs"
    failed = r"^ *not ok \d+ - (\S+)$"
    run = ["node", "--test", "--test-reporter=tap"]

    def set_up(self, scratch):
        need("node", "nodejs")


class Go(Language):
    file, library = "broadcasting_test.go", "library_test.go"
    failed = r"--- FAIL: Test/(\S+) \("
    build = ["go", "test", "-c", "-o", "judge"]
    run = ["./judge", "-test.v"]
    embeds = True

    def set_up(self, scratch):
        need("go", "golang-go")


class Cpp(Language):
    file, library = "broadcasting.cpp", "library.hpp"
    failed = r"^not ok \d+ - (\S+)$"
    build = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "broadcasting.cpp", "-o", "broadcasting"]
    run = ["./broadcasting"]

    def set_up(self, scratch):
        need("g++", "g++")
        if not pathlib.Path("/usr/include/nlohmann/json.hpp").exists():
            install("nlohmann-json3-dev")


class Rust(Language):
    file, library = "tests/broadcasting/main.rs", "tests/broadcasting/library.rs"
    failed = r"^test (\S+) \.\.\. FAILED"
    build = ["cargo", "test", "--quiet", "--no-run"]
    run = ["cargo", "test", "--quiet"]

    def set_up(self, scratch):
        self.environment = {"CARGO_TARGET_DIR": str(scratch / "target")}
        if shutil.which("cargo") is None:
            raise LeftOut("cargo is not installed")


LANGUAGES = {"python": Python, "javascript": JavaScript, "go": Go, "cpp": Cpp, "rust": Rust}


def need(command, package):
    if shutil.which(command) is None:
        install(package)


def install(package):
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise LeftOut(f"the package {package} is not installed, and this is not root on Debian")
    quiet = {"capture_output": True, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update"], **quiet)
    if subprocess.run(["apt-get", "install", "--yes", "--no-install-recommends", package], **quiet).returncode != 0:
        raise LeftOut(f"apt-get cannot install {package}")


# ---- Cases with a known verdict ------------------------------------------------------------------------------------

def case(name, values, operand=(1.5,), dtype="f64", result=None, **fields):
    """`negate` of `operand`. The right answer is known; the case expects `values`."""
    result = {"dtype": dtype, "shape": [len(values)], "values": list(values)} | (result or {})
    made = {"id": f"numpy/{name}", "title": "", "clause": "V-1", "since": "0.1.0", "origin": "hand", "rules": "numpy",
            "operation": "elementwise", "expression": ["negate", "a"],
            "operands": [{"name": "a", "dtype": dtype, "shape": [len(operand)], "values": list(operand)}],
            "result": result} | fields
    return {key: value for key, value in made.items() if value is not None}


def admitted(*entries):
    return {"admitted": {"0": list(entries)}}


INTERVAL = {"lower": -1.75, "upper": -1.25, "lower_bits": "0xbffc000000000000", "upper_bits": "0xbff4000000000000"}
BELOW = {"lower": -2.0, "upper": -1.75, "lower_bits": "0xc000000000000000", "upper_bits": "0xbffc000000000000"}
ABOVE = {"lower": -1.25, "upper": "inf", "lower_bits": "0xbff4000000000000", "upper_bits": "0x7ff0000000000000"}
NUMBERS = {"lower": "-inf", "upper": "inf", "lower_bits": "0xfff0000000000000", "upper_bits": "0x7ff0000000000000"}
MISMATCH = {"kind": "dimension_mismatch", "axis": 0}
PAIR = [{"name": name, "dtype": "f64", "shape": [n], "values": [1.0] * n} for name, n in (("a", 2), ("b", 3))]
# Cases that are wrong in one respect. A consumer that passes one of them does not judge this respect.
TAMPERED = [
    case("dtype", [-1.5], result={"dtype": "f32"}),
    case("shape-of-higher-rank", [-1.5], result={"shape": [1, 1]}),
    case("shape-of-a-scalar", [-1.5], result={"shape": []}),
    case("last-value", [-1.5, -2.0], operand=[1.5, 2.5]),
    case("next-float", [-1.5000000000000002]),
    case("sign", [1.5]),
    case("sign-of-zero", [0.0], operand=[0.0]),
    case("zero-for-a-number", [0.0]),
    case("nan-for-a-number", ["nan"]),
    case("number-for-nan", [-1.5], operand=["nan"]),
    case("infinity-for-a-number", ["-inf"]),
    case("sign-of-infinity", ["inf"], operand=["inf"]),
    case("integer-beyond-2-to-the-53", ["-9007199254740992"], operand=["9007199254740993"], dtype="i64"),
    case("bool", [True, True], dtype="bool", operand=[True, False], expression="a"),
    case("below-the-interval", [3.0], result=admitted(ABOVE)),
    case("above-the-interval", [3.0], result=admitted(BELOW)),
    case("another-element", [-1.5, 3.0], operand=[1.5, 2.5], result=admitted(NUMBERS)),
    case("nan-is-in-no-interval", [3.0], operand=["nan"], result=admitted(NUMBERS)),
    case("none-of-the-values", [3.0], result=admitted({"value": 1.0}, {"value": "nan"}, {"value": -1.0})),
    case("no-entry-of-three", [3.0], result=admitted(BELOW, {"value": "nan"}, ABOVE)),
    case("sign-of-an-admitted-zero", [3.0], operand=[0.0], result=admitted({"value": 0.0})),
    case("not-in-an-interval-of-i64", ["-9007199254740999"], operand=["9007199254740993"], dtype="i64",
         result=admitted({"lower": "-9007199254740999", "upper": "-9007199254740994"})),
    case("not-refused", [], result=None, refusal=MISMATCH) | {"result": None},
    case("refused", [2.0, 2.0], operands=PAIR, expression=["add", "a", "b"]),
    case("kind-of-refusal", [], operands=PAIR, expression=["add", "a", "b"], refusal={"kind": "too_large"}) | {"result": None},
]
# Cases with a wrong value in `values`, where `admitted` has the right one.
ADMITTED = [
    case("in-the-interval", [3.0], result=admitted(INTERVAL)),
    case("lower-end", [3.0], result=admitted({"lower": -1.5, "upper": 0.0})),
    case("upper-end", [3.0], result=admitted({"lower": "-inf", "upper": -1.5})),
    case("second-entry", [3.0], result=admitted(BELOW, {"value": -1.5})),
    case("any-nan", [3.0], operand=["nan"], result=admitted({"value": "nan"})),
    case("anything", [3.0], operand=["nan"], result=admitted(NUMBERS, {"value": "nan"})),
    case("negative-zero", [0.0], operand=[0.0], result=admitted({"value": "-0.0", "bits": "0x8000000000000000"})),
    case("zero-in-an-interval", [3.0], operand=[0.0], result=admitted({"lower": 0.0, "upper": 1.0})),
    case("interval-of-i64", ["-9007199254740999"], operand=["9007199254740993"], dtype="i64",
         result=admitted({"lower": "-9007199254740999", "upper": "-9007199254740993"})),
    case("either-bool", [True], operand=[False], dtype="bool", expression="a",
         result=admitted({"value": False}, {"value": True})),
    case("refused-as-expected", [], operands=PAIR, expression=["add", "a", "b"], refusal={"kind": "any"}) | {"result": None},
]
GRADIENT = [case("gradient", [-1.0], operation="gradient", wrt="a")]


def write(directory, cases):
    """A kit's directory json with these cases."""
    directory.mkdir()
    if cases:
        kept = [{key: value for key, value in one.items() if value is not None} for one in cases]
        (directory / "numpy-cases.json").write_text(json.dumps({"format": 1, "cases": kept}))
    return directory


# ---- Running -------------------------------------------------------------------------------------------------------

class Judge:
    """A consumer in a clean directory, with the cases beside it."""

    def __init__(self, language, kit, scratch, name):
        self.language, self.ids = language, ids_of(kit / "json")
        self.directory = scratch / "kit" / "consumers" / name
        shutil.copytree(kit / "consumers" / name, self.directory)
        shutil.copytree(kit / "json", scratch / "kit" / "json")

    def call(self, command, **environment):
        """Exit status, output and seconds."""
        began = time.monotonic()
        done = subprocess.run(command, cwd=self.directory, text=True, errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600,
                              env={**os.environ, **self.language.environment, **environment})
        return done.returncode, done.stdout, time.monotonic() - began

    def judge(self, **environment):
        return self.call(self.language.run, **environment)

    def counts(self, said):
        counts = re.search(self.language.summary, said)
        expect(counts, "no summary", said)
        counts = {field: int(number or 0) for field, number in counts.groupdict().items()}
        return counts | {"passed": counts["passed"] - self.language.others}

    def failures(self, said):
        return list(dict.fromkeys(re.findall(self.language.failed, said, re.MULTILINE)))


def ids_of(directory):
    return {case["id"] for file in directory.rglob("*.json") for case in json.loads(file.read_text())["cases"]}


def expect(truth, what, said):
    if not truth:
        raise Wrong(f"{what}\n{said[-3000:]}")


def try_language(name, kit, exported, scratch):
    language = LANGUAGES[name]()
    began = time.monotonic()
    language.set_up(scratch)
    prepared = time.monotonic() - began
    judge = Judge(language, kit, scratch, name)
    built = 0.0
    if language.build:
        status, said, built = judge.call(language.build)
        expect(status == 0, "the consumer does not build", said)

    status, said, passing = judge.judge()
    expect(status == 0, "the library fails", said)
    counts = judge.counts(said)
    expect(counts["passed"] >= 1000, "fewer than 1000 cases passed", said)
    for library in language.libraries:
        status, said, _ = judge.judge(LIBRARY=library)
        expect(status == 0, f"{library} fails", said)
        print(f"ok    {name}: {library}: {said.strip().splitlines()[-1]}")
    lines = [len((judge.directory / file).read_text().splitlines()) for file in (language.file, language.library) if file]
    print(f"ok    {name}: {' + '.join(map(str, lines))} lines; the library passes: {counts['passed']} passed, {counts['skipped']} skipped; "
          f"conventions: {counts['agree']} agree, {counts['differ']} differ")

    for bug, kind in BUGS.items():
        status, said, caught = judge.judge(BUG=bug)
        failed = judge.failures(said)
        expect(status != 0 and failed, f"bug {bug} is not caught", said)
        expect(set(failed) <= judge.ids, "a failed test is not named by the id of a case", said)
        print(f"ok    {name}: bug {bug} ({kind}) is caught, first by {failed[0]} (failed: {len(failed)})")
        if bug == "1":
            first = exported + built + passing + caught

    try_verdicts(judge, scratch)
    print(f"ok    {name}: {len(TAMPERED)} wrong cases fail, {len(ADMITTED)} admitted answers pass, no cases fail")
    if language.embeds:
        shutil.move(scratch / "kit" / "json", judge.directory / "json")
        judge.call(language.build)
        shutil.rmtree(judge.directory / "json")
        status, said, _ = judge.judge()
        expect(status == 0 and judge.counts(said) == counts, "the embedded cases are not judged", said)
        print(f"ok    {name}: the same with the cases embedded")
    print(f"ok    {name}: {first:.1f} s from export to a caught bug: export {exported:.1f}, build {built:.1f}, "
          f"the library {passing:.1f}, bug {caught:.1f} (tools: {prepared:.1f} s)")


def try_verdicts(judge, scratch):
    tampered = write(scratch / "tampered", TAMPERED)
    status, said, _ = judge.judge(BROADCHECK_JSON=str(tampered))
    missed = ids_of(tampered) - set(judge.failures(said))
    expect(status != 0 and not missed, f"passes cases that are wrong: {', '.join(sorted(missed))}", said)
    status, said, _ = judge.judge(BROADCHECK_JSON=str(write(scratch / "admitted", ADMITTED)))
    expect(status == 0 and judge.counts(said)["passed"] == len(ADMITTED), "fails cases with an admitted value", said)
    for directory, cases in ("empty", []), ("inexpressible", GRADIENT):
        status, said, _ = judge.judge(BROADCHECK_JSON=str(write(scratch / directory, cases)))
        expect(status != 0, f"passes although no case was judged ({directory})", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("broadcheck", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(LANGUAGES), help="languages, separated by commas")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as made:
        kit, began = pathlib.Path(made) / "kit", time.monotonic()
        export = [options.broadcheck.resolve(), "export", "--rules", "numpy", "--format", "json", "--out", kit]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
        exported = time.monotonic() - began
        for name in options.only.split(","):
            scratch = pathlib.Path(made) / name
            scratch.mkdir()
            try:
                try_language(name, kit, exported, scratch)
            except LeftOut as reason:
                print(f"!! LEFT OUT: the consumer in {name}: {reason}")
            except Wrong as message:
                wrong.append(name)
                print(f"FAILED  {name}: {message}")
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
