#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Disassembles the library's objects. A copy kernel contains no fence and no call. The copier and the drop-in's copies
contain the fences that their contracts list, and the copier calls only memcpy. On x86-64 also: only copy kernels use wide
registers, so that the rest runs on any CPU. load_piece(), which is inlined into the copies, may load and store one."""
import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass


@dataclass
class Architecture:
    fence: str  # pattern of a fence
    call: str
    jump: str  # pattern of a jump or call
    to_device: list  # the copier's fences
    load_more: list
    drop_in: dict  # the fences of the drop-in's functions
    seen: dict  # {copy kernel: a pattern that it must contain}, to detect a check that finds nothing
    wide: str = None


# lib/cpu/ordering.hpp explains each fence. A copy to or from a mapping that is not write-combining ends in its own
# fence.
ARCHITECTURES = {
    "x86_64": Architecture(
        fence=r"(sfence|mfence|lfence)\b", call=r"call", jump=r"(call|jmp)\b", to_device=["sfence"], load_more=["mfence"],
        drop_in={"gdr_copy_to_mapping": [], "gdr_copy_from_mapping": ["mfence", "sfence"]},
        seen={"avx512": r"%zmm\d"}, wide=r"^(?!vmovdq[au](64)? (\(%r\w+\),)?%[yz]mm0(,\(%r\w+\))?$).*(%[yz]mm\d|%k[0-7]\b)"),
    "aarch64": Architecture(
        fence=r"(dmb|dsb|isb|sb)\b", call=r"blr?\b", jump=r"blr?\b|b\b", to_device=["dmb oshst", "dsb oshst"],
        load_more=["dmb osh", "dmb oshld"],
        drop_in={"gdr_copy_to_mapping": [], "gdr_copy_from_mapping": ["dmb osh", "dmb oshld"]},
        seen={"neon": r"stp q\d+, q\d+, \[x\d+\]"}),
    "ppc64le": Architecture(
        fence=r"(sync|hwsync|lwsync|eieio|isync)\b", call=r"bc?t?rl|bl\b", jump=r"bc?t?rl|bl?\b",
        to_device=["hwsync", "lwsync"], load_more=["hwsync", "lwsync"],
        drop_in={"gdr_copy_to_mapping": [], "gdr_copy_from_mapping": ["hwsync"]},
        seen={"vsx": r"stxv(d2x)?\b"}),
}


def copy_kernel_names(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^GDRKIT_COPY_KERNEL\((\w+),", file.read(), re.MULTILINE)


def disassemble(objdump, files):
    """Returns {object: {function: [(instruction, relocation target or None)]}}."""
    text = subprocess.run([objdump, "-drC", "--no-show-raw-insn", *files], check=True, capture_output=True, text=True).stdout
    objects, functions, code = {}, None, None
    for row in text.splitlines():
        if match := re.match(r"(\S+):\s+file format", row):
            functions = objects.setdefault(os.path.basename(match.group(1)), {})
        elif match := re.match(r"[0-9a-f]{8,} <(.*)>:$", row):
            code = functions.setdefault(match.group(1), [])
        elif match := re.match(r"\s+[0-9a-f]+:\t?\s*R_[A-Z0-9]+_\w+\s+(.*)$", row):
            if code:
                code[-1] = (code[-1][0], match.group(1))
        elif match := re.match(r"\s+[0-9a-f]+:\t(\S.*)$", row):
            code.append((re.sub(r"\s+", " ", re.sub(r"\s*(//|#).*", "", match.group(1))).strip(), None))
    return objects


def instructions(functions):
    return [(name, *entry) for name, code in functions.items() for entry in code]


def violations(architecture, objects, names):
    copy_kernels = {f"{name}.cpp.o" for name in names}
    for missing in sorted((copy_kernels | {"copier.cpp.o"}) - objects.keys()):
        yield f"{missing} is not in the archive"
    for name, functions in objects.items():
        reported = set()
        for function, instruction, _ in instructions(functions):
            if function in reported:
                continue
            if name in copy_kernels and re.match(f"{architecture.fence}|{architecture.call}", instruction):
                yield f"{name}: {function}: {instruction} not allowed in a copy kernel"
                reported.add(function)
            if name not in copy_kernels and architecture.wide and re.search(architecture.wide, instruction):
                yield f"{name}: {function}: {instruction} uses a register that not every x86-64 CPU has"
                reported.add(function)
    yield from copier_violations(architecture, objects.get("copier.cpp.o", {}))


def copier_violations(architecture, functions):
    for method in ("to_device", "load_more"):
        expected = getattr(architecture, method)
        found = {instruction for function, instruction, _ in instructions(functions)
                 if f"Copier::{method}" in function and re.match(architecture.fence, instruction)}
        if sorted(found) != expected:
            yield f"copier.cpp.o: {method} contains the fences {sorted(found)}, expected {expected}"
    for function, instruction, target in instructions(functions):
        if not re.match(architecture.jump, instruction) or target is None:
            continue
        if not re.match(r"memcpy\b|__stack_chk_fail\b|\.text|gdrkit::copy::\(anonymous namespace\)", target):
            yield f"copier.cpp.o: {function}: calls {target}"


def drop_in_violations(architecture, functions):
    """The fences of loads come with the lookup of the mapping, so they are in the exported function itself."""
    for function, expected in architecture.drop_in.items():
        found = {instruction for instruction, _ in functions.get(function, []) if re.match(architecture.fence, instruction)}
        if function not in functions or sorted(found) != expected:
            yield f"libgdrapi: {function} contains the fences {sorted(found)}, expected {expected}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objdump", required=True)
    parser.add_argument("--architecture", required=True, choices=ARCHITECTURES)
    parser.add_argument("--list", required=True)
    parser.add_argument("--drop-in", help="libgdrapi")
    parser.add_argument("objects", nargs="+", help="objects or archives")
    arguments = parser.parse_args()
    architecture = ARCHITECTURES[arguments.architecture]
    names = copy_kernel_names(arguments.list)
    objects = disassemble(arguments.objdump, arguments.objects)
    found = list(violations(architecture, objects, names))
    if arguments.drop_in:
        for functions in disassemble(arguments.objdump, [arguments.drop_in]).values():
            found += drop_in_violations(architecture, functions)
    for name, pattern in architecture.seen.items():
        if not any(re.search(pattern, instruction) for _, instruction, _ in instructions(objects.get(f"{name}.cpp.o", {}))):
            found.append(f"{name}.cpp.o: {pattern} not found")
    print("\n".join(found) if found else f"{len(objects)} objects, {len(names)} copy kernels: no violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
