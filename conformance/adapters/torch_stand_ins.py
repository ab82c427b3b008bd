"""Lets PyTorch's package for CUDA run on a machine without CUDA's libraries, which are several gigabytes.

    python torch_stand_ins.py      in the environment in which PyTorch was installed with `--no-deps`

PyTorch's libraries are linked with those of CUDA, and do not load without them, although nothing of them is called on the CPU.
This program reads which libraries are missing and which functions are wanted of them, with their versions, and compiles a
library of the same name for each, beside PyTorch's own, whose functions say that there is no device. It needs a C compiler.
"""
import collections
import ctypes
import importlib.util
import itertools
import pathlib
import struct
import subprocess
import tempfile

from elftools.elf.elffile import ELFFile

# Each function of a stand-in says that there is no device. PyTorch's own initialisation registers code with those whose names begin
# with two underscores, which does nothing.
NO_DEVICE = 100
# What ELF calls a symbol that is a variable, and one that other files see.
OBJECT, GLOBAL = 1, 1
SOURCE = """
#define STAND_IN(name) long name(void) { return %d; }
#define REGISTRATION(name) long name(void) { return 0; }
#define OBJECT(name) char name[4096];
""" % NO_DEVICE


class Wanted:
    """What PyTorch's libraries take from others: the names of these, their functions and objects by version, and the functions
    without a version."""

    def __init__(self, directory):
        self.libraries, self.defined, self.plain = [], set(), set()
        self.versioned = collections.defaultdict(lambda: collections.defaultdict(dict))
        for path in sorted(directory.glob("*.so*")):
            with open(path, "rb") as file:
                self.read(ELFFile(file))

    def read(self, elf):
        dynamic = elf.get_section_by_name(".dynamic")
        self.libraries += [tag.needed for tag in dynamic.iter_tags("DT_NEEDED") if tag.needed not in self.libraries]
        versions, needed = {}, elf.get_section_by_name(".gnu.version_r")
        for library, names in needed.iter_versions() if needed else []:
            versions.update({name.entry.vna_other: (library.name, name.name) for name in names})
        for symbol, is_defined, kind, is_global, number in symbols(elf):
            if is_defined:
                self.defined.add(symbol)
            elif number in versions:
                library, version = versions[number]
                self.versioned[library][version][symbol] = kind == OBJECT
            elif symbol and is_global:
                self.plain.add(symbol)


def symbols(elf):
    """The name of each symbol, whether it is defined here, its kind, whether it is global, and the number of its version. All are unpacked
    at once, because there are hundreds of thousands."""
    section, numbers = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
    names = elf.get_section(section["sh_link"]).data()
    versions = struct.iter_unpack("<H", numbers.data()) if numbers else itertools.repeat((0,))
    for (start, info, _, place, _, _), (number,) in zip(struct.iter_unpack("<IBBHQQ", section.data()), versions):
        yield names[start:names.index(0, start)].decode(), place != 0, info & 15, info >> 4 == GLOBAL, number


def loads(library):
    try:
        return ctypes.CDLL(library)
    except OSError:
        return None


def compile_library(target, versions):
    """A library of this name. `versions` has the names of each version, and which of them are objects; the version "" is none."""
    with tempfile.TemporaryDirectory() as scratch:
        source, linker_map = pathlib.Path(scratch) / "stand_in.c", pathlib.Path(scratch) / "versions.map"
        symbols = sorted(symbol for names in versions.values() for symbol in names.items())
        source.write_text(SOURCE + "".join(f"{macro(name, is_object)}({name})\n" for name, is_object in symbols))
        named = {version: names for version, names in versions.items() if version}
        linker_map.write_text("".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in named.items()))
        command = ["cc", "-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,-soname,{target.name}", str(source), "-o", str(target)]
        subprocess.run(command + ([f"-Wl,--version-script,{linker_map}"] if named else []), check=True)


def macro(name, is_object):
    return "OBJECT" if is_object else "REGISTRATION" if name.startswith("__") else "STAND_IN"


def main():
    directory = pathlib.Path(importlib.util.find_spec("torch").origin).parent / "lib"
    wanted = Wanted(directory)
    outside = [library for library in wanted.libraries if not (directory / library).exists()]
    found = {library: loads(library) for library in outside}
    missing = [library for library in outside if found[library] is None]
    if not missing:
        print("found every library that PyTorch needs")
        return
    present = [library for library in [ctypes.CDLL(None), *found.values()] if library is not None]
    plain = [name for name in wanted.plain - wanted.defined if not any(hasattr(library, name) for library in present)]
    for library in missing:
        versions = {name: dict(symbols) for name, symbols in wanted.versioned[library].items()}
        # A name without a version does not say of which library it is, so each that has only such names has all of them.
        compile_library(directory / library, versions or {"": dict.fromkeys(plain, False)})
    count = len(plain) + sum(len(names) for library in missing for names in wanted.versioned[library].values())
    print(f"stand-ins for {len(missing)} libraries, with {count} names: {' '.join(missing)}")


if __name__ == "__main__":
    main()
