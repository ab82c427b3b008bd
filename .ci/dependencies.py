#!/usr/bin/env python3
"""Compares DEPENDENCIES.md with the manifests and lock files.

    .ci/dependencies.py            compare; a difference is printed, and the exit status is 1
    .ci/dependencies.py --bless    rewrite the numbers; the reasons for a crate are written by hand

It compares the number of crates that a user of each package compiles, the number of crates in each lock file, and the tables of
direct dependencies, which must name each of them once and nothing else. Every crate must come from crates.io, and every lock file
must fit its manifest; if the index of crates.io does not answer, that is left out with a message.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "DEPENDENCIES.md"
# In the order of Cargo.toml. Each is a manifest with a lock file.
WORKSPACES = {
    ".": "the workspace, with tests and benches",
    "fuzz": "the fuzz targets",
    "fast/peers/engine": "the comparison with other systems",
    "fast/tests/accuracy": "the measurement with MPFR",
    "conformance/consumers/rust": "the consumer in Rust",
    "conformance/adapters/rust": "the adapters for candle, burn and tract, of which one at a time is built",
}
# The numbers of a package differ between platforms: this is the one that CI runs on.
TARGET = "x86_64-unknown-linux-gnu"
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def members():
    """The packages of the workspace in the order of Cargo.toml: name and dependencies."""
    listed = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    packages = json.loads(cargo("metadata", "--locked", "--no-deps", "--format-version", "1"))["packages"]
    by_directory = {pathlib.Path(package["manifest_path"]).parent: package for package in packages}
    return [by_directory[ROOT / directory] for directory in listed]


def crates_of(package, own):
    """The crates that a user of a package compiles: those of the workspace, and the others."""
    tree = cargo("tree", "--locked", "--package", package, "--edges", "normal", "--prefix", "none", "--no-dedupe",
                 "--target", TARGET, "--format", "{p}")
    crates = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    inside = {crate for crate in crates if crate[0] in own}
    return len(inside) - 1, len(crates - inside)


def locked(directory):
    """The crates in a lock file that do not come from this repository."""
    packages = tomllib.loads((ROOT / directory / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    foreign = [package for package in packages if "source" in package]
    for package in foreign:
        if package["source"] != REGISTRY:
            sys.exit(f"{directory}/Cargo.lock: {package['name']} comes from {package['source']}, expected crates.io")
    return len(foreign)


def stale(directory):
    """What is wrong with a lock file. This cannot be known without the index of crates.io."""
    command = ["cargo", "update", "--workspace", "--locked", "--manifest-path", f"{directory}/Cargo.toml"]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return []
    if "--locked was passed" in done.stderr:
        return [f"{directory}/Cargo.lock does not fit its manifest: run `cargo update --workspace` there"]
    print(f"!! LEFT OUT: cargo cannot say whether {directory}/Cargo.lock fits its manifest: {done.stderr.strip().splitlines()[0]}")
    return []


def tables(packages):
    own = {package["name"] for package in packages}
    lines = ["| package | of this workspace | others |", "|---|--:|--:|"]
    for package in packages:
        inside, others = crates_of(package["name"], own)
        lines.append(f"| `{package['name']}` | {inside} | {others} |")
    lines += ["", "| lock file | crates | for |", "|---|--:|---|"]
    for directory, purpose in WORKSPACES.items():
        path = (pathlib.PurePosixPath(directory) / "Cargo.lock").as_posix()
        lines.append(f"| [`{path}`]({path}) | {locked(directory)} | {purpose} |")
    return "\n".join(lines) + "\n"


def direct(packages):
    """The names of the direct dependencies, of packages and of their tests."""
    names = {dependency["name"] for package in packages for dependency in package["dependencies"] if not dependency.get("path")}
    for directory in list(WORKSPACES)[1:]:
        manifest = tomllib.loads((ROOT / directory / "Cargo.toml").read_text(encoding="utf-8"))
        for section in "dependencies", "dev-dependencies", "build-dependencies":
            for name, wanted in manifest.get(section, {}).items():
                if not isinstance(wanted, dict) or "path" not in wanted:
                    names.add(name)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bless", action="store_true", help="rewrite the numbers")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- numbers: .ci/dependencies.py --bless -->\n", "<!-- end of the numbers -->\n"
    before, rest = page.split(begin)
    numbers, after = rest.split(end)
    packages = members()
    wrong = [message for directory in WORKSPACES for message in stale(directory)]

    made = tables(packages)
    if numbers != made and options.bless:
        PAGE.write_text(before + begin + made + end + after, encoding="utf-8")
    elif numbers != made:
        old, new = numbers.splitlines(), made.splitlines()
        wrong += [f"DEPENDENCIES.md: found {line}" for line in old if line not in new]
        wrong += [f"DEPENDENCIES.md: expected {line}" for line in new if line not in old]
        wrong.append("find out which crates came or went (git diff '*Cargo.lock'), and run .ci/dependencies.py --bless")

    described = after.split("\n## Which, and why\n")[1].split("\n## ")[0]
    rows = collections.Counter(re.findall(r"^\| `([\w-]+)` \|", described, re.MULTILINE))
    names = direct(packages)
    missing = "is a direct dependency without a row: say why it is needed, and when it was last released"
    wrong += [f"DEPENDENCIES.md: `{name}` {missing}" for name in sorted(names - set(rows))]
    wrong += [f"DEPENDENCIES.md: `{name}` has a row, but is not a direct dependency" for name in sorted(set(rows) - names)]
    wrong += [f"DEPENDENCIES.md: `{name}` has {count} rows" for name, count in rows.items() if count > 1]
    for message in wrong:
        print(message, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
