#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Disassembles the library's archive: wide registers only in copy kernels, so that the rest runs on any x86-64; no fence
and no call in a copy kernel; in the copier and in the drop-in's copies the fences that their contracts name, and in the copier
no call but memcpy."""
import argparse
import re
import subprocess
import sys

WIDE = re.compile(r"%[yz]mm\d|%k[0-7]\b")
FENCE = re.compile(r"^(sfence|mfence|lfence)\b")


def copy_kernel_names(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^GDRKIT_COPY_KERNEL\((\w+),", file.read(), re.MULTILINE)


def disassemble(objdump, archive):
    """{object: {function: [(instruction, relocation target or None)]}}"""
    text = subprocess.run([objdump, "-drC", "--no-show-raw-insn", archive], check=True, capture_output=True, text=True).stdout
    objects, functions, code = {}, None, None
    for row in text.splitlines():
        if match := re.match(r"(\S+):\s+file format", row):
            functions = objects.setdefault(match.group(1), {})
        elif match := re.match(r"[0-9a-f]{8,} <(.*)>:$", row):
            code = functions.setdefault(match.group(1), [])
        elif match := re.match(r"\s+[0-9a-f]+:\t?\s*R_X86_64_\w+\s+(.*)$", row):
            if code:
                code[-1] = (code[-1][0], match.group(1))
        elif match := re.match(r"\s+[0-9a-f]+:\t(\S.*)$", row):
            code.append((match.group(1).strip(), None))
    return objects


def instructions(functions):
    return [(name, *entry) for name, code in functions.items() for entry in code]


def violations(objects, names):
    copy_kernels = {f"{name}.cpp.o" for name in names}
    for missing in sorted((copy_kernels | {"copier.cpp.o"}) - objects.keys()):
        yield f"{missing} is not in the archive"
    for name, functions in objects.items():
        reported = set()
        for function, instruction, _ in instructions(functions):
            if function in reported:
                continue
            if name in copy_kernels and (FENCE.match(instruction) or instruction.startswith("call")):
                yield f"{name}: {function}: {instruction} in a copy kernel"
                reported.add(function)
            if name not in copy_kernels and WIDE.search(instruction):
                yield f"{name}: {function}: {instruction} uses a register that not every x86-64 CPU has"
                reported.add(function)
    yield from copier_violations(objects.get("copier.cpp.o", {}))


def copier_violations(functions):
    for method, wanted in (("to_device", ["sfence"]), ("load_more", ["mfence"])):
        found = {instruction for function, instruction, _ in instructions(functions)
                 if f"Copier::{method}" in function and FENCE.match(instruction)}
        if sorted(found) != wanted:
            yield f"copier.cpp.o: {method} has the fences {sorted(found)}, not {wanted}"
    for function, instruction, target in instructions(functions):
        if not re.match(r"(call|jmp)\b", instruction) or target is None:
            continue
        if not re.match(r"memcpy\b|__stack_chk_fail\b|\.text|gdrkit::copy::\(anonymous namespace\)", target):
            yield f"copier.cpp.o: {function}: calls {target}"


def drop_in_violations(functions):
    """The fences of loads are made where the mapping is looked up, so they stand in the exported function itself."""
    for function, wanted in (("gdr_copy_to_mapping", []), ("gdr_copy_from_mapping", ["lfence", "mfence"])):
        found = {instruction for instruction, _ in functions.get(function, []) if FENCE.match(instruction)}
        if function not in functions or sorted(found) != wanted:
            yield f"libgdrapi: {function} has the fences {sorted(found)}, not {wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objdump", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("archive")
    parser.add_argument("drop_in", help="libgdrapi")
    arguments = parser.parse_args()
    names = copy_kernel_names(arguments.list)
    objects = disassemble(arguments.objdump, arguments.archive)
    found = list(violations(objects, names))
    for functions in disassemble(arguments.objdump, arguments.drop_in).values():
        found += drop_in_violations(functions)
    # The check is blind if it sees no wide register where one must be.
    if not any(WIDE.search(instruction) for _, instruction, _ in instructions(objects.get("avx512.cpp.o", {}))):
        found.append("avx512.cpp.o: no wide register was seen")
    print("\n".join(found) if found else f"{len(objects)} objects, {len(names)} copy kernels: nothing to complain of")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
