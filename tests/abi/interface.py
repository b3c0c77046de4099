#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""What binaries carry in them of each shared library: exported functions with version and types, layouts of structs, values of enums and
macros. Read from the built library and from the debug information of its public headers, so with a compiler and binutils only.

usage: interface.py LIBRARY-FOLDER     adds what is new to the records in tests/abi/recorded; refuses removals and changes"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "recorded")
INCLUDE = os.path.join(HERE, "..", "..", "include")


def headers(pattern):
    return tuple(sorted(os.path.relpath(path, INCLUDE) for path in glob.glob(os.path.join(INCLUDE, pattern))))


Library = collections.namedtuple("Library", "file headers prefix")
LIBRARIES = (Library("libgdrapi.so", ("gdrapi.h",), "gdr"), Library("libgdrkit.so", ("gdrkit/gdrkit.h",), "gdrkit"),
             Library("libgdrkit_shmem.so", headers("gdrkit/shmem*.h"), "gdrkit_shmem"))
# Its clients were built for GDRCopy's library, so its functions are GDRCopy's for ever.
CLOSED = "libgdrapi.so.2"


def output_of(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def exported_functions(path):
    """{name: version}; the version is "" where the library has none. POWER's symbols have a second entry, in brackets."""
    functions = {}
    for line in output_of("readelf", "--dyn-syms", "-W", path).splitlines():
        found = re.search(r"\bFUNC +(?:GLOBAL|WEAK) +DEFAULT +(?:\[.*\] +)?\d+ (\w+)(?:@@?(\w+))?", line)
        if found:
            functions[found.group(1)] = found.group(2) or ""
    return functions


def soname_of(path):
    return re.search(r"\(SONAME\).*\[(.*)\]", output_of("readelf", "-d", "-W", path)).group(1)


def macros_of(compiler, include, headers):
    """Macros without parameters that stand for a value or a name, and that these headers define themselves."""
    source = "".join(f"#include <{header}>\n" for header in headers)
    macros, file = {}, ""
    for line in output_of(*compiler, "-std=c11", "-E", "-dD", "-I", include, "-x", "c", "-", input=source).splitlines():
        if marker := re.match(r'# \d+ "(.*)"', line):
            file = os.path.relpath(marker.group(1), include)
        elif (macro := re.match(r"#define (\w+)(?: (.*))?$", line)) and file in headers and re.search(r"\w", macro.group(2) or ""):
            macros[macro.group(1)] = macro.group(2)
    return macros


class Debug:
    """The debug information of one object file, as a tree."""

    def __init__(self, path):
        self.entries, stack = {}, []
        for line in output_of("readelf", "--debug-dump=info", path, stderr=subprocess.DEVNULL).splitlines():
            if start := re.match(r" <(\w+)><(\w+)>: .*\(DW_TAG_(\w+)\)", line):
                depth, entry = int(start.group(1), 16), {"tag": start.group(3), "children": []}
                self.entries[int(start.group(2), 16)] = entry
                del stack[depth:]
                if stack:
                    stack[-1]["children"].append(entry)
                stack.append(entry)
            elif (value := re.match(r" +<\w+> +DW_AT_(\w+) *: (?:\([^)]*\): )?(.*)", line)) and stack:
                stack[-1][value.group(1)] = value.group(2).strip()
        for entry in self.entries.values():  # struct { ... } name_t;
            if entry["tag"] == "typedef" and (of := self.type_of(entry)) and "name" not in of and "children" in of:
                of.setdefault("typedef", entry["name"])

    def type_of(self, entry):
        return self.entries[int(entry["type"].strip("<>"), 16)] if "type" in entry else None

    @staticmethod
    def name_of(entry):
        return entry.get("name") or entry.get("typedef", "")

    def text(self, entry):
        """The type as the calling convention sees it: typedefs resolved, integers by sign and size."""
        if entry is None:
            return "void"
        tag, of = entry["tag"], self.type_of(entry)
        if tag in ("typedef", "volatile_type", "restrict_type"):
            return self.text(of)
        if tag == "const_type":
            return "const " + self.text(of)
        if tag == "pointer_type":
            return self.text(of).replace(" (", " (*)(", 1) if of and of["tag"] == "subroutine_type" else self.text(of) + "*"
        if tag == "subroutine_type":
            parameters = [self.text(self.type_of(child)) for child in entry["children"] if child["tag"] == "formal_parameter"]
            parameters += ["..."] * any(child["tag"] == "unspecified_parameters" for child in entry["children"])
            return f"{self.text(of)} ({', '.join(parameters)})"
        if tag == "array_type":
            return self.text(of) + "".join(f"[{int(child.get('upper_bound', '-1').split()[0], 0) + 1}]" for child in entry["children"])
        if tag == "base_type":
            kind = {"2": "bool", "4": "f", "5": "i", "6": "i", "7": "u", "8": "u"}[entry["encoding"].split()[0]]
            return entry["name"] if entry["name"] in ("char", "_Bool") else f"{kind}{int(entry['byte_size'], 0) * 8}"
        return f"{tag.split('_')[0].replace('enumeration', 'enum').replace('structure', 'struct')} {self.name_of(entry)}"


def member_facts(debug, owner, entry):
    for member in entry["children"]:
        if member["tag"] != "member":
            continue
        at = member.get("data_member_location", "0").split()[0]
        bits = f", {member['bit_size']} bits from bit {member.get('data_bit_offset', '0')}" if "bit_size" in member else ""
        place = f"at {at} " if not bits else ""
        yield f"member {owner}.{member.get('name', '')}", place + debug.text(debug.type_of(member)) + bits


def type_facts(debug, prefix):
    for entry in debug.entries.values():
        name = debug.name_of(entry)
        if entry["tag"] == "enumeration_type":
            values = {child["name"]: str(int(child["const_value"], 0)) for child in entry["children"] if child["tag"] == "enumerator"}
            if (name or next(iter(values), "")).lower().startswith(prefix):
                yield from ((f"value {value}", number) for value, number in values.items())
                if name:
                    yield f"enum {name}", f"{entry['byte_size']} bytes"
        elif entry["tag"] in ("structure_type", "union_type") and "byte_size" in entry and name.startswith(prefix):
            yield f"{entry['tag'].split('_')[0].replace('structure', 'struct')} {name}", f"{entry['byte_size']} bytes"
            yield from member_facts(debug, name, entry)
        elif entry["tag"] == "variable" and entry.get("name", "").startswith("abi_"):
            yield "type " + entry["name"][4:], debug.text(debug.type_of(debug.type_of(entry)))


def read_interface(path, library, include=INCLUDE, compiler=("cc",)):
    """(soname, {fact: value})."""
    include = os.path.abspath(include)
    # Functions of a private version are for gdrkit's own headers and may change.
    functions = {name: version for name, version in exported_functions(path).items() if not version.endswith("_PRIVATE")}
    macros = macros_of(compiler, include, library.headers)
    source = "".join(f"#include <{header}>\n" for header in library.headers)
    # A variable of the function's type: the compiler describes no functions that a file does not call.
    source += "".join(f"__typeof__({name})* abi_{name};\n" for name in functions if name not in macros)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "interface.o")
        subprocess.run([*compiler, "-std=gnu11", "-gdwarf-5", "-fno-eliminate-unused-debug-types", "-I", include, "-x", "c", "-c", "-",
                        "-o", made], check=True, input=source, text=True)
        debug = Debug(made)
        found = {fact: value for fact, value in type_facts(debug, library.prefix) if not fact.split()[1].startswith("gdrkit_shmem")
                 or library.prefix == "gdrkit_shmem"}
    facts = {fact: value for fact, value in found.items() if not fact.startswith("type ")}
    for name, version in functions.items():
        kind = found.get("type " + name, "of old binaries only: the header has a macro of this name")
        facts["function " + name] = f"{kind}{' @' + version if version else ''}"
    facts.update({"macro " + name: tokens for name, tokens in macros.items()})
    return soname_of(path), facts


def may_grow(fact, facts):
    """A struct whose first member tells the library its size, as the caller knew it."""
    return fact.startswith("struct ") and facts.get(f"member {fact[7:]}.struct_size", "").startswith("at 0 ")


def compare(soname, old, new):
    """(what breaks binaries, what is new), each a list of lines."""
    broken, added = [], []
    for fact, value in sorted(old.items()):
        if fact not in new:
            broken.append(f"{soname}: {fact} is gone; it was: {value}")
        elif new[fact] != value:
            is_growth = may_grow(fact, old) and int(new[fact].split()[0]) > int(value.split()[0])
            (added if is_growth else broken).append(f"{soname}: {fact} was: {value}; is: {new[fact]}")
    for fact in sorted(new.keys() - old.keys()):
        line = f"{soname}: {fact} is new: {new[fact]}"
        is_closed = soname == CLOSED and old and fact.startswith("function ")
        (broken if is_closed else added).append(line)
    return broken, added


def record_path(soname):
    return os.path.join(RECORDED, soname + ".txt")


def read_record(soname):
    """{} for a library that was never recorded."""
    if not os.path.exists(record_path(soname)):
        return {}
    with open(record_path(soname), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#"))


def write_record(soname, facts):
    with open(record_path(soname), "w", encoding="utf-8") as file:
        file.write(f"# What binaries carry in them of {soname}; written by tests/abi/interface.py\n")
        file.writelines(f"{fact}: {value}\n" for fact, value in sorted(facts.items()))


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    status = 0
    for library in LIBRARIES:
        soname, facts = read_interface(os.path.join(arguments[0], library.file), library)
        broken, added = compare(soname, read_record(soname), facts)
        if broken:
            status = 1
            print(*broken, sep="\n")
            print(f"error: {soname} is not recorded: programs that use it would break. Undo this, or give the library a new soname",
                  file=sys.stderr)
            continue
        write_record(soname, facts)
        print(f"{soname}: {len(facts)} facts, {len(added)} of them new or changed")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
