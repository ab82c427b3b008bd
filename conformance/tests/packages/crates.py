#!/usr/bin/env python3
"""Packages every crate of the workspace as for crates.io, and builds and uses the command from the packages alone.

    conformance/tests/packages/crates.py [--no-adapter]

First the contents: what each package must have (README, both licences, metadata) and must not have. Then the packages are
unpacked into a temporary directory, where the crates find each other and no checkout. A small library there depends on the
crate `broadcheck`, and `cargo install` builds the command, which then runs outside of the checkout: check, list, explain,
clause, export, completions, man, and the adapter for NumPy with its known failures. Nothing is uploaded.

--no-adapter leaves out what needs the Python package index; so does an index that does not answer, with a message. Exit status:
0 everything works, 1 something does not.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
# crates.io accepts no larger package.
MAX_BYTES = 10 << 20
REQUIRED = ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "Cargo.toml", "src/lib.rs"]
# At the top of a package, and anywhere in it.
TESTS = {"tests", "benches", "examples"}
MADE = {"target", "venvs", "__pycache__", "node_modules", ".git", ".gitignore"}
# cargo names each unpacked package after its crate and version.
USER = {
    "Cargo.toml": """[package]
name = "user"
version = "0.0.0"
edition = "2024"
publish = false

[dev-dependencies]
broadcheck = "VERSION"
broadcheck-reference = "VERSION"

[[test]]
name = "broadcasting"
harness = false
""",
    "src/lib.rs": "",
    "tests/broadcasting.rs": """fn main() -> std::process::ExitCode {
    broadcheck::testing::Tests::new(broadcheck_reference::Reference::new()).main()
}
""",
}

failures = []


def fail(message):
    failures.append(message)
    print(f"FAILED: {message}", flush=True)


def run(command, status=0, quiet=False, **options):
    """Runs a command that must end with this status. Returns its standard output and standard error."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != status and not quiet:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}, expected {status}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout, done.stderr


def metadata():
    text, _ = run(["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"], cwd=ROOT)
    return json.loads(text)


def check_contents(name, files, manifest, size):
    """What users see on crates.io, and what a build needs."""
    inside = [pathlib.PurePosixPath(path) for path in files]
    for required in REQUIRED:
        if pathlib.PurePosixPath(required) not in inside:
            fail(f"{name}: found no {required} in the package")
    for path in inside:
        if path.parts[0] in TESTS or MADE.intersection(path.parts) or path.suffix == ".pyc":
            fail(f"{name}: found {path} in the package, expected it to be left out by `include`")
    if size > MAX_BYTES:
        fail(f"{name}: found {size} bytes, expected at most {MAX_BYTES}")
    package = manifest["package"]
    for field in ("description", "license", "repository", "homepage", "keywords", "categories", "readme", "rust-version"):
        if not package.get(field):
            fail(f"{name}: found no {field} in its Cargo.toml")
    if not package.get("metadata", {}).get("docs", {}).get("rs", {}).get("all-features"):
        fail(f"{name}: found no all-features in [package.metadata.docs.rs]")
    for section in ("dependencies", "dev-dependencies", "build-dependencies"):
        for dependency, value in manifest.get(section, {}).items():
            if isinstance(value, dict) and "path" in value:
                fail(f"{name}: found a path in its dependency {dependency}")


def unpack(archive, into):
    """The names of the files in a package. They get the current time, so that cargo builds what has changed."""
    with tarfile.open(archive) as package:
        members = package.getmembers()
        for member in members:
            member.mtime = time.time()
        package.extractall(into, members, filter="data")
    return [member.name.split("/", 1)[1] for member in members if member.isfile()]


def package_all(members, target, into):
    """Packages and unpacks every crate, prints what is in each, and returns the directories."""
    shutil.rmtree(target / "package", ignore_errors=True)
    run(["cargo", "package", "--workspace", "--no-verify", "--locked", "--allow-dirty", "--target-dir", target, "--quiet"], cwd=ROOT)
    directories = {}
    print(f"{'package':28} {'files':>6} {'unpacked':>10} {'packed':>10}")
    for name, version in members:
        archive = target / "package" / f"{name}-{version}.crate"
        if not archive.is_file():
            fail(f"{name}: found no package {archive.name}")
            continue
        files = unpack(archive, into)
        directory = into / f"{name}-{version}"
        size = sum((directory / file).stat().st_size for file in files)
        print(f"{directory.name:28} {len(files):6} {size:10,} {archive.stat().st_size:10,}", flush=True)
        manifest = tomllib.loads((directory / "Cargo.toml").read_text(encoding="utf-8"))
        check_contents(name, files, manifest, archive.stat().st_size)
        directories[name] = directory
    return directories


def write_workspace(into, directories, version):
    """A workspace of the packages, in which each crate takes the others from beside it instead of the registry."""
    for file, text in USER.items():
        place = into / "user" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.replace("VERSION", version), encoding="utf-8")
    names = [directory.name for directory in directories.values()]
    patches = [f"{name} = {{ path = {json.dumps(directory.name)} }}" for name, directory in directories.items()]
    text = f'[workspace]\nresolver = "3"\nmembers = {json.dumps([*names, "user"])}\n\n[patch.crates-io]\n' + "\n".join(patches) + "\n"
    (into / "Cargo.toml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", into / "Cargo.lock")


def build(into, directories, target):
    """Runs the suite in a library of a user, and installs the command. Returns its path."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target / "installed")}
    # What is built runs only once.
    environment |= {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    # The lock file lacks only the library, so that nothing else is resolved anew.
    out, _ = run(["cargo", "test", "--quiet", "--package", "user", "--test", "broadcasting", "numpy/examples"], cwd=into, env=environment)
    if "passed" not in out:
        fail(f"a library that depends on the packages: found no passed test\n{out}")
    command = ["cargo", "install", "--quiet", "--debug", "--locked", "--path", directories["broadcheck-cli"], "--root", into / "installed"]
    run(command, cwd=into, env=environment)
    return into / "installed/bin/broadcheck"


def use(broadcheck, home, version, adapter):
    """Uses the command as someone does who has nothing else."""
    for directory in ("work", "data"):
        (home / directory).mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BROADCHECK_")}
    environment |= {"XDG_DATA_HOME": str(home / "data")}

    def does(*words, status=0, says=""):
        out, err = run([broadcheck, *words], status, cwd=home / "work", env=environment)
        if says not in out + err:
            fail(f"broadcheck {' '.join(words)}: found no `{says}` in\n{(out + err)[:2000]}")
        return out

    does("--version", says=f"broadcheck {version}")
    cases = does("list").splitlines()
    if len(cases) < 2000:
        fail(f"broadcheck list: found {len(cases)} lines, expected one for each case")
    does("check", "--impl", "reference", "--filter", "numpy/examples", says="ok: ")
    does("explain", "--rules", "numpy", "2x3", "3", says="accepted")
    does("clause", "G-2", says="Two lengths are compatible")
    does("clause", "G-99", status=2, says="expected an id such as")
    does("show", "numpy/examples/vector-onto-matrix", says="clause")
    for shell in ("bash", "zsh", "fish", "powershell"):
        does("completions", shell, says="broadcheck")
    does("man", "--out", "man", says="page")
    if not (home / "work/man/broadcheck-check.1").is_file():
        fail("broadcheck man: found no broadcheck-check.1")
    does("export", "--out", "kit", says="kit: ")
    manifest = json.loads((home / "work/kit/manifest.json").read_text(encoding="utf-8"))
    commit, _ = run(["git", "rev-parse", "HEAD"], cwd=ROOT)
    if manifest.get("commit", commit.strip()) != commit.strip():
        fail(f"broadcheck export: found the commit {manifest['commit']}, expected {commit.strip()}")
    does("adapters", says="numpy")
    does("check", "--impl", "adapter:numpy", status=2, says="broadcheck adapters install numpy")
    if not adapter:
        print("!! LEFT OUT: the adapter for NumPy was not installed, as requested")
        return
    _, err = run([broadcheck, "adapters", "install", "numpy"], quiet=True, cwd=home / "work", env=environment)
    if "does not answer" in err:
        print("!! LEFT OUT: the Python package index does not answer, so the adapter for NumPy was not installed")
        return
    does("adapters", says="--impl adapter:numpy")
    # One of these cases is a known failure: without its file, the run would fail.
    does("check", "--impl", "adapter:numpy", "--filter", "numpy/values", says="known")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-adapter", action="store_true", help="leave out what needs the Python package index")
    args = parser.parse_args()
    data = metadata()
    members = [(package["name"], package["version"]) for package in data["packages"] if package["publish"] is None]
    if len(members) != len(data["workspace_members"]):
        fail("found a crate of the workspace that is not published, expected the command to depend on published crates only")
    version = members[0][1]
    if any(other != version for _, other in members):
        fail(f"found crates of several versions: {members}")
    target = pathlib.Path(data["target_directory"]) / "packages"
    with tempfile.TemporaryDirectory() as directory:
        # Not below the checkout, where the command would find it.
        into = pathlib.Path(directory).resolve()
        directories = package_all(members, target, into)
        if not failures:
            write_workspace(into, directories, version)
            broadcheck = build(into, directories, target)
            if broadcheck.is_file():
                use(broadcheck, into / "home", version, not args.no_adapter)
    if failures:
        print(f"{len(failures)} failures")
        return 1
    print(f"ok: {len(members)} packages, and the command {version} installed from them works outside of the checkout")
    return 0


if __name__ == "__main__":
    sys.exit(main())
