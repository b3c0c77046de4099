#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""House rules that a pattern can check: no unresolved merge, licence headers, no CPU set of fixed size. The library
reads the environment in one place only, prints nothing, never throws and never ends its process. Headers for GPU kernels
use only what NVRTC accepts."""
import re

import repo
import report

SPDX_SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".py", ".sh", ".cmake")
SPDX_LINES = ("SPDX-FileCopyrightText: The gdrkit authors", "SPDX-License-Identifier: MIT")
# (violation, pattern, paths that are exempt)
BANNED_IN_LIBRARY = (
    ("reads or changes the environment", r"\b(?:secure_getenv|getenv|setenv|putenv|unsetenv|environ)\b(?!\s*=)",
     re.compile(r"lib/base/settings\.[ch]pp$")),
    ("prints or does file input and output with stdio",
     r"\b(?:v?f?printf|v?dprintf|f?puts|putchar|f?putc|fwrite|fread|fopen|fdopen|fgets|fflush|perror|std(?:out|err|in))\b(?!\s*,)",
     re.compile(r"lib/capi/[\w/]*log[\w/]*\.[ch]pp$")),
    ("uses iostreams", r"#\s*include\s*<(?:iostream|ostream|istream|fstream|sstream|iomanip|syncstream)>", None),
    ("ends the process", r"(?<![\w.>:])(?:std::)?(?:abort|_?_?exit|_Exit|quick_exit|terminate|assert)\s*\(", None),
    ("throws", r"\bthrow\b", None),
)


MERGE_LEFTOVER = re.compile(r"(?m)^(?:<{7}|\|{7}|>{7}) ")  # not a line of =, which also underlines headings


# cpu_set_t supports only 1024 CPUs.
FIXED_CPU_SET = re.compile(r"\bcpu_set_t\b")
CPU_SET_HEADER = "lib/base/cpu_set.hpp"


# NVRTC, for which include/gdrkit/detail/nvrtc has the standard headers, is missing on most machines that run the tests.
BANNED_IN_NVRTC = (
    ("NVRTC rejects a lambda with a parameter of type auto", re.compile(r"\[[^\]\n]*\]\s*\([^)]*\bauto\b")),
    ("include/gdrkit/detail/nvrtc does not have this name", re.compile(
        r"\bstd::(?!(?:size_t|u?int(?:8|16|32|64|ptr)_t|conditional_t|is_same_v|is_floating_point_v|is_integral_v)\b|uint##)\w+")),
)


def has_spdx_header(source):
    first = "\n".join(source.split("\n")[:4])
    return all(line in first for line in SPDX_LINES)


def library_violations(path, source):
    code = repo.code_only(source)
    for what, pattern, allowed in BANNED_IN_LIBRARY:
        if allowed and allowed.search(path):
            continue
        for match in re.finditer(pattern, code):
            yield f"{path}:{repo.line_of(code, match.start())}: the library {what}: {match.group(0).strip()}"


def find_violations(root):
    for path in repo.own_files(root):
        if leftover := MERGE_LEFTOVER.search(repo.read(root, path)):
            line = repo.line_of(repo.read(root, path), leftover.start())
            yield f"{path}:{line}: unresolved merge conflict"
        is_script = path in ("run", ".ci/run") or path.endswith(SPDX_SUFFIXES)
        if not is_script:
            continue
        source = repo.read(root, path)
        if source.strip() and not has_spdx_header(source):
            yield f"{path}: the two SPDX lines at the top are missing"
        if repo.is_c_family(path) and path != CPU_SET_HEADER and (fixed := FIXED_CPU_SET.search(repo.code_only(source))):
            yield f"{path}:{repo.line_of(source, fixed.start())}: cpu_set_t supports only 1024 CPUs: use CpuSet of {CPU_SET_HEADER}"
        if re.match(r"include/gdrkit/(?!compat/).*\.cuh$", path):  # compat requires nvcc
            code = repo.code_only(source)
            for what, pattern in BANNED_IN_NVRTC:
                for match in pattern.finditer(code):
                    yield f"{path}:{repo.line_of(code, match.start())}: {what}: {match.group(0)}"
        if path.startswith("lib/") and repo.is_c_family(path):
            yield from library_violations(path, source)


if __name__ == "__main__":
    report.main(find_violations)
