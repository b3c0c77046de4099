#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Counts which functions of NVSHMEM's headers include/gdrkit/compat declares, by family.

usage: nvshmem_names.py [--missing] NVCC GDRKIT_INCLUDE NVSHMEM_INCLUDE
Prints a Markdown table. A function counts once for the CPU and once for GPU kernels; it is present if its name and the
types of its parameters agree. Exits with 1 if a function is missing that NOT_COVERED does not list, and with 77 if nvcc
or NVSHMEM's headers are missing.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# The functions that docs/shmem-from-nvshmem.md lists as not covered.
NOT_COVERED = ((r"_qp_", "queue pairs"),)
FAMILIES = (
    ("tile functions", r"^tile_"),
    ("put with signal", r"put.*_signal"),
    ("signals", r"signal"),
    ("atomics", r"_atomic_"),
    ("waits and tests", r"_(wait_until|test)(_|$)"),
    ("reductions", r"_reduce(scatter)?(_|$)"),
    ("broadcast, fcollect, alltoall, alltoalls", r"_?(broadcast|fcollect|alltoalls?)(mem)?(_|$)"),
    ("strided puts and gets", r"_i(put|get)"),
    ("puts and gets", r"(_|^)(put|get)(mem|\d+)?(_nbi)?(_(on_stream|warp|block|warpgroup))?$|_[pg](_on_stream)?$"),
    ("barriers and ordering", r"barrier|sync|fence|quiet|flush"),
    ("teams", r"team"),
    ("memory and registration", r"malloc|calloc|align|realloc|free|_ptr$|buffer"),
    ("setup, modules and the rest", r""),
)
SCOPES = (("on streams", r"_on_stream$"), ("warp, block", r"_(warp|block|warpgroup)$"))
# Different spellings of one type on x86-64 and AArch64 Linux.
SPELLINGS = (
    (r"\b(gdrkit_shmem_team_t|nvshmemx?_team_t)\b", "int"), (r"\buint64_t\b|\bsize_t\b", "unsigned long"),
    (r"\b(int64_t|ptrdiff_t)\b", "long"), (r"\buint32_t\b|\bunsigned int\b|\bunsigned\b(?! (char|short|long))", "uint"),
    (r"\bint32_t\b", "int"), (r"\buint16_t\b", "unsigned short"), (r"\bint16_t\b", "short"),
    (r"\buint8_t\b", "unsigned char"), (r"\bint8_t\b", "signed char"), (r"\b(nv_)?half\b|\b__half\b", "half"),
    (r"\b(__)?nv_bfloat16\b", "bfloat16"), (r"\bstruct CUmod_st ?\*", "CUmodule "), (r"\bstruct CUlib_st ?\*", "CUlibrary "),
)


def preprocess(nvcc, includes):
    """The text of nvshmem.h and nvshmemx.h as the compiler of GPU code reads it."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "all.cu")
        source.write_text("#include <nvshmem.h>\n#include <nvshmemx.h>\n")
        command = [nvcc, "-std=c++17", "-arch=compute_90", "-code=compute_90", "-E", "-Xcompiler", "-P",
                   *(f"-I{path}" for path in includes), str(source)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def parameter_type(parameter):
    """The type of a parameter without its name and the const of its value."""
    text = " ".join(re.sub(r"([*&])", r" \1 ", parameter.split("=")[0]).split())
    for pattern, spelling in SPELLINGS:
        text = re.sub(pattern, spelling, text)
    words = text.split()
    kinds = [word for word in words if word not in ("const", "*", "&", "unsigned", "signed", "struct", "enum")]
    if len(kinds) > 1 or (kinds and "unsigned" in words and kinds[-1] not in ("char", "short", "long")):
        if words[-1] not in ("*", "&", "char", "short", "int", "long"):
            words.pop()
    if "*" not in words:
        words = [word for word in words if word != "const"]
    if "*" in words and "const" in words:
        words.remove("const")
        words.insert(0, "const")
    return " ".join(words)


def functions_of(text):
    """{(name, side): set of parameter types}; side is "CPU" or "GPU"."""
    found = collections.defaultdict(set)
    for match in re.finditer(r"\b(nvshmemx?_\w+|tile_\w+)\s*\(([^()]*)\)\s*[;{]", text):
        begin = max(text.rfind(mark, 0, match.start()) for mark in ";{}")
        before = text[begin + 1:match.start()]
        attributes = set(re.findall(r"__attribute__\(\((\w+)\)\)", before))
        plain = re.sub(r"__attribute__\s*\(\(.*?\)\)|\bstatic\b|\binline\b|extern \"C\"|template\s*<.*?>", " ", before)
        if re.search(r"[=(),.!?+/]|\breturn\b|#", plain) or not plain.strip():
            continue
        arguments = [part for part in match.group(2).split(",") if part.strip() not in ("", "void")]
        signature = tuple(parameter_type(part) for part in arguments)
        sides = {"GPU"} if "device" in attributes else {"CPU"}
        # Some declarations mark functions of groups of threads, or on streams, for both sides.
        name = match.group(1)
        if re.search(SCOPES[0][1], name):
            sides = {"CPU"}
        elif re.search(SCOPES[1][1], name):
            sides = {"GPU"}
        elif "host" in attributes:
            sides.add("CPU")
        for side in sides:
            found[name, side].add(signature)
    return found


def accepts(ours, expected):
    """Whether a function with parameters `ours` takes arguments of the types `expected`."""
    return len(ours) == len(expected) and all(have in (one, f"const {one}") for have, one in zip(ours, expected))


def family_of(name, side):
    """(row, column) of the table."""
    row = next(title for title, pattern in FAMILIES if re.search(pattern, name))
    for title, pattern in SCOPES:
        if re.search(pattern, name):
            return row, title
    return row, "CPU" if side == "CPU" else "GPU thread"


def main():
    """Prints the table and the functions that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="print every missing function")
    parser.add_argument("nvcc")
    parser.add_argument("gdrkit")
    parser.add_argument("nvshmem")
    arguments = parser.parse_args()
    if not os.access(arguments.nvcc, os.X_OK) or not pathlib.Path(arguments.nvshmem, "nvshmem.h").exists():
        print("skipped: needs nvcc and a directory with NVSHMEM's headers (NVSHMEM_INCLUDE)")
        return 77
    theirs = functions_of(preprocess(arguments.nvcc, [arguments.nvshmem]))
    ours = functions_of(preprocess(arguments.nvcc, [arguments.gdrkit, f"{arguments.gdrkit}/gdrkit/compat"]))
    counts = collections.defaultdict(lambda: [0, 0])
    unexpected = []
    for (name, side), signatures in sorted(theirs.items()):
        is_covered = any(accepts(have, expected) for have in ours.get((name, side), ()) for expected in signatures)
        reason = next((why for pattern, why in NOT_COVERED if re.search(pattern, name)), None)
        key = (f"not covered: {reason}", family_of(name, side)[1]) if reason else family_of(name, side)
        counts[key][0] += is_covered
        counts[key][1] += 1
        if not is_covered and not reason:
            unexpected.append((name, side, signatures, ours.get((name, side))))
    columns = ["CPU", "on streams", "GPU thread", "warp, block"]
    rows = [title for title, _ in FAMILIES] + sorted({row for row, _ in counts if row.startswith("not covered")})
    print("| family | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for row in rows:
        cells = [counts.get((row, column)) for column in columns]
        if any(cells):
            print(f"| {row} | " + " | ".join(f"{cell[0]} / {cell[1]}" if cell else "" for cell in cells) + " |")
    totals = [sum(cell[i] for (row, _), cell in counts.items() if not row.startswith("not covered")) for i in (0, 1)]
    print(f"\npresent: {totals[0]} of {totals[1]}")
    for name, side, expected, have in unexpected if arguments.missing else unexpected[:20]:
        print(f"missing for the {side}: {name}{sorted(expected)}" + (f", declared as {sorted(have)}" if have else ""))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
