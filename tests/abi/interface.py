#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Compares the binary interface of each shared library with its record in tests/abi/recorded, by libabigail's abidiff.

abidiff reads types from debug information, which a library that is built for use does not have. It gets a stub instead: the symbols and
versions that the built library exports, as functions with the types that the public headers declare, and the headers' enums and integer
macros, compiled with debug information.

usage: interface.py LIBRARY-DIRECTORY     records what is new; rejects removals and changes"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "recorded")
INCLUDE = os.path.abspath(os.path.join(HERE, "..", "..", "include"))


def headers(pattern):
    return tuple(sorted(os.path.relpath(path, INCLUDE) for path in glob.glob(os.path.join(INCLUDE, pattern))))


COPY_HEADERS = tuple(f"gdrkit/{noun}.h" for noun in ("gdrkit", "buffer", "context", "copy", "errors", "mapping", "pin"))
Library = collections.namedtuple("Library", "file headers")
LIBRARIES = (Library("libgdrapi.so", ("gdrapi.h",)), Library("libgdrkit.so", COPY_HEADERS),
             Library("libgdrkit_shmem.so", headers("gdrkit/shmem*.h")))
# Its clients were built for GDRCopy's library, so it never gets another function.
CLOSED = "libgdrapi.so.2"
# Exported for programs built before API 2.4: in the header the name is a macro.
OF_OLD_BINARIES = {"gdr_get_info"}
# The end of the versions of symbols that only gdrkit's own programs use: they may change in any release.
PRIVATE = "_PRIVATE"


class InterfaceError(Exception):
    pass


def output_of(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def exported_functions(path):
    """{name: version}; the version is "" where the library has none. POWER's symbols have a second entry, in brackets."""
    functions = {}
    for line in output_of("readelf", "--dyn-syms", "-W", path).splitlines():
        found = re.search(r"\bFUNC +(?:GLOBAL|WEAK) +DEFAULT +(?:\[.*\] +)?\d+ (\w+)(?:@@?(\w+))?", line)
        if found and not (found.group(2) or "").endswith(PRIVATE):
            functions[found.group(1)] = found.group(2) or ""
    return functions


def soname_of(path):
    return re.search(r"\(SONAME\).*\[(.*)\]", output_of("readelf", "-d", "-W", path)).group(1)


def preprocessed(compiler, include, headers, *options, extra=""):
    source = "".join(f"#include <{header}>\n" for header in headers) + extra
    return output_of(*compiler, "-std=gnu2x", "-E", *options, "-I", include, "-x", "c", "-", input=source)


def integer_macros(compiler, include, headers):
    """Names of macros that these headers define as integers."""
    names, file = [], ""
    for line in preprocessed(compiler, include, headers, "-dD").splitlines():
        if marker := re.match(r'# \d+ "(.*)"', line):
            file = os.path.relpath(marker.group(1), include)
        elif (macro := re.match(r"#define (\w+) .*\w", line)) and file in headers:
            names.append(macro.group(1))
    expanded = preprocessed(compiler, include, headers, "-P", extra="\n".join(f"@{name[0]} {name[1:]}= {name}" for name in names))
    values = re.findall(r"(?m)^ *@ *(\w) (\w*) *= ([\s0-9xXa-fA-FuUlL()<>|&~+*-]+)$", expanded)
    return [first + rest for first, rest, value in values if re.search(r"\d", value)]


def stub_source(compiler, include, library, functions):
    text = preprocessed(compiler, include, library.headers, "-P")
    source = "".join(f"#include <{header}>\n" for header in library.headers)
    for name in sorted(functions):
        declared = re.search(rf"(?:^|[;}}])\s*((?:extern )?[A-Za-z_][\w\s*]*?\b{name}\s*\([^;{{]*\))\s*;", text)
        if not declared and name not in OF_OLD_BINARIES:
            raise InterfaceError(f"{library.file} exports {name}, which no header declares")
        source += f"#undef {name}\n{declared.group(1) if declared else f'void {name}(void)'} {{ __builtin_trap(); }}\n"
    # Not reached by functions, whose structs hold their values as int32_t.
    for name in sorted(set(re.findall(r"\benum (\w+) \{", text))):
        source += f"enum {name} enum_{name};\n"
    macros = integer_macros(compiler, include, library.headers)
    if macros:
        source += "enum macros { " + ", ".join(f"macro_{name} = ({name})" for name in sorted(macros)) + " } enum_macros;\n"
    return source


def make_stub(path, library, directory, include=INCLUDE, compiler=("cc",)):
    """Builds the stub of a library in this directory and returns its path."""
    functions, soname = exported_functions(path), soname_of(path)
    versions = collections.defaultdict(list)
    for name, version in functions.items():
        versions[version].append(name)
    script = ""
    for number, version in enumerate(sorted(versions)):
        names = versions[version] + ["enum_*"] * (number == 0)
        script += f"{version} {{ global: {' '.join(name + ';' for name in sorted(names))} {'local: *;' if number == 0 else ''} }};\n"
    with open(os.path.join(directory, "stub.map"), "w", encoding="utf-8") as file:
        file.write(script)
    stub = os.path.join(directory, soname)
    subprocess.run([*compiler, "-std=gnu2x", "-g", "-w", "-shared", "-fPIC", "-nostdlib", "-I", include, "-x", "c", "-", "-o", stub,
                    f"-Wl,-soname,{soname}", f"-Wl,--version-script={os.path.join(directory, 'stub.map')}"],
                   check=True, input=stub_source(compiler, include, library, functions), text=True)
    return stub


def compare(old, new, *options):
    """abidiff's report; "" if the interfaces are the same. `old` and `new`: stubs or records."""
    ended = subprocess.run(["abidiff", "--no-default-suppression", "--no-architecture", "--no-show-locs", *options, old, new],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode & 3:
        raise InterfaceError(ended.stdout)
    return ended.stdout.strip() if ended.returncode else ""


# The lines of a report on structs that start with their own size and grow at their end. abidiff's own rule for this
# (has_data_member_inserted_at) also hides members that change, in version 2.2.
GROWTH = re.compile(r"|".join((
    r"Functions changes summary: 0 Removed, .*", r"Variables changes summary: 0 Removed, 0 Changed, 0 Added.*", r"\d+ functions? with .*:", "",
    r" +\[C\] '.*' has some (indirect )?sub-type changes:", r" +(parameter \d+ of type '.*'|return type) has sub-type changes:",
    r" +in pointed to type '(const )?struct (?P<grown>\w+)':", r" +in (unqualified )?underlying type 'struct (?P<under>\w+)':", r" +type size changed from .*",
    r" +\d+ data member insertions?:", r" +'.*', at offset \d+ \(in bits\)", r" +\d+ impacted .*", r" +'?function .*", r" +.* was already reported.*")))


def may_grow():
    """Structs whose first member is their size, as the program's header had it."""
    text = ""
    for header in {header for library in LIBRARIES for header in library.headers}:
        with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
            text += re.sub(r"(?s)/\*.*?\*/", "", file.read())
    return set(re.findall(r"struct (\w+) \{\s*uint32_t struct_size;", text))


def is_growth(report):
    lines = [GROWTH.fullmatch(line) for line in report.splitlines()]
    grown = {name for line in lines if line for name in (line["grown"], line["under"]) if name}
    return all(lines) and grown <= may_grow()


def breaks(soname, old, new):
    """The part of the report that breaks programs: all but new functions and growing structs."""
    if soname == CLOSED:
        return compare(old, new)
    report = compare(old, new, "--no-added-syms")
    return "" if is_growth(report) else report


def record_path(soname):
    return os.path.join(RECORDED, soname + ".abi")


def write_record(stub, path):
    subprocess.run(["abidw", "--no-architecture", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                    "--type-id-style", "hash", "--out-file", path, stub], check=True)


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.split("\n\n")[2], file=sys.stderr)
        return 2
    status = 0
    for library in LIBRARIES:
        with tempfile.TemporaryDirectory() as directory:
            stub = make_stub(os.path.join(arguments[0], library.file), library, directory)
            soname = os.path.basename(stub)
            record = record_path(soname)
            report = breaks(soname, record, stub) if os.path.exists(record) else ""
            if report:
                status = 1
                print(f"{report}\nerror: {soname} is not recorded, because programs that use it would break; undo the change, or follow docs/abi.md",
                      file=sys.stderr)
                continue
            write_record(stub, record)
            print(f"{soname}: recorded {len(exported_functions(stub))} functions")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
