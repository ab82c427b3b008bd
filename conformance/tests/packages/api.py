#!/usr/bin/env python3
"""Compares the public API of each published crate with its list, `api.txt` beside the crate's Cargo.toml.

    conformance/tests/packages/api.py                    compare; a difference is printed, and the exit status is 1
    conformance/tests/packages/api.py --bless            rewrite the lists
    conformance/tests/packages/api.py broadcheck-spec    only this crate

A difference is no error in itself: bless it, and say in CHANGELOG.md what users have to know. A removed or changed line breaks
them, which before 1.0 raises the minor version.

Each line is one public item with its signature, or the traits that a type implements; what the compiler derives for every type
(auto traits, blanket implementations) is left out. The lists are made from rustdoc's JSON, which the stable compiler writes
only if RUSTC_BOOTSTRAP is set. Its format may change with the compiler; FORMAT is that of the version in Cargo.toml.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FORMAT = 57

# broadcheck-cli is missing: its library is for its own program and tests.
CRATES = {
    "broadcheck-spec": "spec",
    "broadcheck-reference": "reference",
    "broadcheck-fast": "fast",
    "broadcheck-judge": "conformance/judge",
    "broadcheck": "conformance/suite",
    "broadcheck-harness": "conformance/harness",
    "broadcheck-search": "fuzz/search",
    "broadcheck-faults": "fuzz/faults",
}


# The path in a line.
PATH = re.compile(r'(?:(?:(?:const|async|unsafe) )*(?:extern "\S+" )?fn|\w+) ([\w:]*\w|\S+)')


def documented(name):
    """rustdoc's JSON for a crate, with all its features."""
    with tempfile.TemporaryDirectory() as directory:
        # Only rustdoc gets the variable: some build scripts would notice it, and everything would be built anew.
        rustdoc = pathlib.Path(directory) / "rustdoc"
        real = os.environ.get("RUSTDOC", "rustdoc")
        rustdoc.write_text(f'#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec {real} "$@"\n', encoding="utf-8")
        rustdoc.chmod(0o755)
        command = ["cargo", "rustdoc", "--quiet", "--locked", "--package", name, "--lib", "--all-features"]
        command += ["--message-format", "json", "--", "-Zunstable-options", "--output-format", "json"]
        command += ["--cap-lints", "allow"]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTDOC": str(rustdoc)}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{name}: rustdoc failed")
    target = json.loads(
        subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    )["target_directory"]
    data = json.loads((pathlib.Path(target) / "doc" / f"{name.replace('-', '_')}.json").read_text(encoding="utf-8"))
    if data["format_version"] != FORMAT:
        sys.exit(f"{name}: found rustdoc's format {data['format_version']}, expected {FORMAT}: look at what changed, then change FORMAT")
    return data


class Types:
    """Types, bounds and generics as Rust writes them."""

    def __init__(self, data):
        self.data = data

    def path(self, path):
        """An item with its arguments: of this crate by its name, of another one as `crate::Name`, of std as it is usually written."""
        known = self.data["paths"].get(str(path["id"]))
        if known is None:
            return path["path"] + self.arguments(path.get("args"))
        *modules, name = known["path"]
        if known["crate_id"] != 0:
            if modules[0] not in ("core", "alloc", "std"):
                name = f"{modules[0]}::{name}"
            elif modules[1] in ("fmt", "io"):
                name = f"{modules[1]}::{name}"
        return name + self.arguments(path.get("args"))

    def arguments(self, arguments):
        if not arguments:
            return ""
        if "parenthesized" in arguments:
            inner = arguments["parenthesized"]
            output = f" -> {self.type(inner['output'])}" if inner["output"] else ""
            return "(" + ", ".join(map(self.type, inner["inputs"])) + ")" + output
        if "angle_bracketed" not in arguments:
            return "(..)"
        inner = arguments["angle_bracketed"]
        parts = [self.argument(argument) for argument in inner["args"]]
        for constraint in inner["constraints"]:
            binding = constraint["binding"]
            if "equality" in binding:
                term = binding["equality"]
                parts.append(f"{constraint['name']} = {self.type(term['type']) if 'type' in term else term['constant']['expr']}")
            else:
                parts.append(f"{constraint['name']}: {self.bounds(binding['constraint'])}")
        return f"<{', '.join(parts)}>" if parts else ""

    def argument(self, argument):
        if argument == "infer":
            return "_"
        (kind, value), = argument.items()
        return {"lifetime": lambda: value, "type": lambda: self.type(value), "const": lambda: value["expr"]}[kind]()

    def bounds(self, bounds):
        return " + ".join(map(self.bound, bounds))

    def bound(self, bound):
        if "outlives" in bound:
            return bound["outlives"]
        if "use" in bound:
            return "use<" + ", ".join(part.get("lifetime") or part.get("param") for part in bound["use"]) + ">"
        bound = bound["trait_bound"]
        mark = {"none": "", "maybe": "?", "maybe_const": "const "}[bound["modifier"]]
        return self.for_all(bound["generic_params"]) + mark + self.path(bound["trait"])

    def for_all(self, params):
        names = [param["name"] for param in params]
        return f"for<{', '.join(names)}> " if names else ""

    def type(self, of):
        (kind, value), = of.items()
        if kind == "resolved_path":
            return self.path(value)
        if kind in ("generic", "primitive"):
            return value
        if kind == "dyn_trait":
            traits = [self.for_all(part["generic_params"]) + self.path(part["trait"]) for part in value["traits"]]
            return "dyn " + " + ".join(traits + ([value["lifetime"]] if value["lifetime"] else []))
        if kind == "impl_trait":
            return "impl " + self.bounds(value)
        if kind == "tuple":
            return "(" + ", ".join(map(self.type, value)) + ("," if len(value) == 1 else "") + ")"
        if kind == "slice":
            return f"[{self.type(value)}]"
        if kind == "array":
            return f"[{self.type(value['type'])}; {value['len']}]"
        if kind == "borrowed_ref":
            lifetime = value["lifetime"] + " " if value["lifetime"] else ""
            inner = self.type(value["type"])
            if inner.startswith(("dyn ", "impl ")) and " + " in inner:
                inner = f"({inner})"
            return "&" + lifetime + ("mut " if value["is_mutable"] else "") + inner
        if kind == "raw_pointer":
            return f"*{'mut' if value['is_mutable'] else 'const'} {self.type(value['type'])}"
        if kind == "function_pointer":
            return self.for_all(value["generic_params"]) + self.function("fn", "", value["sig"], value["header"], None)
        if kind == "qualified_path":
            trait = f" as {self.path(value['trait'])}" if value["trait"] and value["trait"]["path"] else ""
            owner = self.type(value["self_type"])
            return (f"<{owner}{trait}>" if trait else owner) + "::" + value["name"] + self.arguments(value["args"])
        raise NotImplementedError(f"a type of the kind {kind}")

    def generics(self, generics):
        """The parameters and the `where` clauses."""
        params = []
        for param in generics["params"]:
            (kind, value), = param["kind"].items()
            if kind == "lifetime":
                params.append(param["name"] + (": " + " + ".join(value["outlives"]) if value["outlives"] else ""))
            elif kind == "const":
                params.append(f"const {param['name']}: {self.type(value['type'])}")
            elif not value["is_synthetic"]:
                default = f" = {self.type(value['default'])}" if value["default"] else ""
                params.append(param["name"] + (": " + self.bounds(value["bounds"]) if value["bounds"] else "") + default)
        where = []
        for predicate in generics["where_predicates"]:
            (kind, value), = predicate.items()
            if kind == "bound_predicate":
                where.append(f"{self.for_all(value['generic_params'])}{self.type(value['type'])}: {self.bounds(value['bounds'])}")
            elif kind == "lifetime_predicate":
                where.append(f"{value['lifetime']}: {' + '.join(value['outlives'])}")
            else:
                raise NotImplementedError(f"a where clause of the kind {kind}")
        return (f"<{', '.join(params)}>" if params else ""), (f" where {', '.join(where)}" if where else "")

    def function(self, keyword, name, signature, header, generics):
        marks = "".join(f"{mark} " for mark in ("const", "async", "unsafe") if header[f"is_{mark}"])
        abi = header["abi"]
        marks += "" if abi == "Rust" else f"extern {json.dumps(abi)} "
        params, where = self.generics(generics) if generics else ("", "")
        inputs = []
        for given, of in signature["inputs"]:
            shown = self.type(of)
            inputs.append({"Self": "self", "&Self": "&self", "&mut Self": "&mut self"}.get(shown, f"self: {shown}") if given == "self" else shown)
        output = f" -> {self.type(signature['output'])}" if signature["output"] else ""
        return f"{marks}{keyword}{' ' if name else ''}{name}{params}({', '.join(inputs)}){output}{where}"


def exhaustive(attributes):
    return " non_exhaustive" if "non_exhaustive" in json.dumps(attributes) else ""


class Api:
    """The lines of a crate's list."""

    def __init__(self, data):
        self.index = data["index"]
        self.types = Types(data)
        self.lines = set()
        self.traits = {}
        self.seen = set()
        self.module("", self.item(data["root"])["inner"]["module"]["items"])

    def item(self, number):
        return self.index.get(str(number))

    def module(self, path, items):
        if path:
            self.lines.add(f"mod {path}")
        for number in items:
            self.add(path, number)

    def add(self, path, number, name=None):
        item = self.item(number)
        if item is None or (path, number, name) in self.seen:
            return
        self.seen.add((path, number, name))
        (kind, inner), = item["inner"].items()
        name = name or item["name"]
        place = f"{path}::{name}" if path else name
        if kind == "use":
            self.reexport(path, inner)
        elif kind == "module":
            self.module(place, inner["items"])
        elif kind == "function":
            self.lines.add(self.types.function("fn", place, inner["sig"], inner["header"], inner["generics"]))
        elif kind == "struct":
            self.struct(place, inner, item["attrs"])
        elif kind == "enum":
            self.enum(place, inner, item["attrs"])
        elif kind == "trait":
            self.trait(place, inner)
        elif kind == "constant":
            self.lines.add(f"const {place}: {self.types.type(inner['type'])}")
        elif kind == "static":
            self.lines.add(f"static {place}: {self.types.type(inner['type'])}")
        elif kind == "type_alias":
            params, where = self.types.generics(inner["generics"])
            self.lines.add(f"type {place}{params} = {self.types.type(inner['type'])}{where}")
        elif kind == "macro":
            self.lines.add(f"macro {place}!")
        else:
            raise NotImplementedError(f"{place}: an item of the kind {kind}")

    def reexport(self, path, inner):
        target = self.item(inner["id"]) if inner["id"] is not None else None
        if target is None:
            name = "*" if inner["is_glob"] else inner["name"]
            self.lines.add(f"use {path}::{name} = {inner['source']}" if path else f"use {name} = {inner['source']}")
        elif inner["is_glob"]:
            (kind, of), = target["inner"].items()
            for number in of["items"] if kind == "module" else of["variants"]:
                self.add(path, number)
        else:
            self.add(path, inner["id"], inner["name"])

    def struct(self, place, inner, attributes):
        params, where = self.types.generics(inner["generics"])
        self.lines.add(f"struct {place}{params}{where}{exhaustive(attributes)}{self.fields(place, inner['kind'])}")
        self.impls(place, inner["impls"])

    def fields(self, place, kind):
        """Adds the public fields of a struct or a variant. Returns those of a tuple, and whether some are private."""
        if kind in ("unit", "plain"):
            return ""
        (form, inner), = kind.items()
        if form == "tuple":
            fields = [self.item(number) if number is not None else None for number in inner]
            shown = [self.types.type(field["inner"]["struct_field"]) if field else "_" for field in fields]
            return "(" + ", ".join(shown) + ")"
        for number in inner["fields"]:
            field = self.item(number)
            self.lines.add(f"field {place}::{field['name']}: {self.types.type(field['inner']['struct_field'])}")
        return " { .. }" if inner["has_stripped_fields"] else " {}"

    def enum(self, place, inner, attributes):
        params, where = self.types.generics(inner["generics"])
        self.lines.add(f"enum {place}{params}{where}{exhaustive(attributes)}")
        for number in inner["variants"]:
            variant = self.item(number)
            of = variant["inner"]["variant"]
            self.lines.add(f"variant {place}::{variant['name']}{self.fields(place + '::' + variant['name'], of['kind'])}")
        self.impls(place, inner["impls"])

    def trait(self, place, inner):
        params, where = self.types.generics(inner["generics"])
        bounds = ": " + self.types.bounds(inner["bounds"]) if inner["bounds"] else ""
        self.lines.add(f"trait {place}{params}{bounds}{where}")
        self.members(place, inner["items"], True)

    def members(self, place, items, of_trait=False):
        for number in items:
            item = self.item(number)
            if item is None:
                continue
            (kind, inner), = item["inner"].items()
            name = f"{place}::{item['name']}"
            if kind == "function":
                given = " { .. }" if of_trait and inner["has_body"] else ""
                self.lines.add(self.types.function("fn", name, inner["sig"], inner["header"], inner["generics"]) + given)
            elif kind == "assoc_const":
                self.lines.add(f"const {name}: {self.types.type(inner['type'])}")
            elif kind == "assoc_type":
                bounds = ": " + self.types.bounds(inner["bounds"]) if inner["bounds"] else ""
                default = f" = {self.types.type(inner['type'])}" if inner["type"] else ""
                self.lines.add(f"type {name}{bounds}{default}")
            else:
                raise NotImplementedError(f"{name}: a member of the kind {kind}")

    def impls(self, place, impls):
        for number in impls:
            item = self.item(number)
            inner = item["inner"]["impl"]
            if inner["is_synthetic"] or inner["blanket_impl"]:
                continue
            if inner["trait"] is None:
                self.members(place, inner["items"])
                continue
            trait = self.types.path(inner["trait"])
            # What derive(PartialEq) adds for the compiler.
            if "StructuralPartialEq" in trait:
                continue
            params, where = self.types.generics(inner["generics"])
            of = inner["for"].get("resolved_path")
            if of and self.item(of["id"]) and place.rsplit("::", 1)[-1] != self.types.type(inner["for"]).split("<")[0]:
                # It is also among the implementations of that type.
                continue
            if params or where or place.rsplit("::", 1)[-1] != self.types.type(inner["for"]):
                of = self.types.type(inner["for"])
                owner, name = place.rpartition("::")[0], place.rpartition("::")[2]
                of = f"{owner}::{of}" if owner and of.startswith(name) else of
                self.lines.add(f"impl{params} {trait} for {of}{where}")
            else:
                self.traits.setdefault(place, set()).add(trait)


def place_of(line):
    """Where a line is in the list."""
    of_generics = line.startswith("impl<") or (line.startswith("impl ") and " for " in line)
    return of_generics, "" if of_generics else PATH.match(line)[1], not line.startswith(("struct", "enum", "trait", "mod")), line


def listed(name):
    header = f"# The public API of {name}. conformance/tests/packages/api.py compares it, and rewrites it with --bless.\n"
    api = Api(documented(name))
    api.lines.update(f"impl {place}: {', '.join(sorted(traits))}" for place, traits in api.traits.items())
    # By path, so that a type is followed by its members. What implements a trait with generics is at the end.
    return header + "\n".join(sorted(api.lines, key=place_of)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crates", nargs="*", metavar="CRATE")
    parser.add_argument("--bless", action="store_true", help="rewrite the lists")
    args = parser.parse_args()
    unknown = [name for name in args.crates if name not in CRATES]
    if unknown:
        parser.error(f"found no crate {unknown[0]}, expected some of {', '.join(CRATES)}")
    differ = []
    for name in args.crates or CRATES:
        place = ROOT / CRATES[name] / "api.txt"
        found = listed(name)
        before = place.read_text(encoding="utf-8") if place.exists() else ""
        count = len(found.splitlines()) - 1
        if found == before:
            print(f"{name}: {count} public items, as listed")
        elif args.bless:
            place.write_text(found, encoding="utf-8")
            print(f"{name}: {count} public items, written to {place.relative_to(ROOT)}")
        else:
            differ.append(name)
            shown = str(place.relative_to(ROOT))
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), found.splitlines(True), shown, "the public API", n=0))
    if differ:
        print(f"the public API of {', '.join(differ)} differs from its list; if that is intended, run\n    {sys.argv[0]} --bless")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
