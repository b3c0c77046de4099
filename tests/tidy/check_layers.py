#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Includes go down cmake/layers.txt only, backends know nothing of one another, and copy kernels include next to nothing."""
import posixpath
import re

import repo
import report

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
KERNEL_SYSTEM_HEADERS = {"immintrin.h", "emmintrin.h", "smmintrin.h", "arm_neon.h", "arm_acle.h", "cstddef", "cstdint"}
OUTSIDE_SRC = ("include", "tools", "bench", "examples")


def read_layers(root):
    layers = {}
    for line in repo.read(root, "cmake/layers.txt").splitlines():
        if line and not line.startswith("#"):
            name, _, allowed = line.partition(":")
            layers[name.strip()] = set(allowed.split())
    return layers


def layer_of(path):
    """The layer a file belongs to, None for files that belong to none (the tests may include anything)."""
    parts = path.split("/")
    if parts[0] == "lib" and len(parts) > 2:
        return parts[1]
    if parts[0] == "include":
        return "public"
    return parts[0] if parts[0] in OUTSIDE_SRC else None


def target_of(root, path, included):
    """The repository's file that an include names, relative to root; None for headers that are not ours."""
    for start in (posixpath.dirname(path), "lib", "include", ""):
        candidate = posixpath.normpath(posixpath.join(start, included))
        if repo.exists(root, candidate):
            return candidate
    return None


def backend_of(path):
    parts = path.split("/")
    return parts[2] if parts[:2] == ["lib", "backend"] and len(parts) > 3 else None


def is_copy_kernel(path):
    return path.startswith("lib/copy/kernels/") and repo.is_c_family(path)


def complaint(root, path, quoted, angled, layers):
    included = quoted or angled
    target = target_of(root, path, included)
    if target is None:
        if is_copy_kernel(path) and included not in KERNEL_SYSTEM_HEADERS:
            return f"a copy kernel may not include <{included}>"
        if quoted and posixpath.splitext(included)[0].split("/")[0] in layers:
            return f'"{included}" does not exist'
        return None
    own, other = layer_of(path), layer_of(target)
    if is_copy_kernel(path) and other != "copy":
        return f"a copy kernel may not include {target}"
    if backend_of(path) and backend_of(target) and backend_of(path) != backend_of(target):
        return f"backend '{backend_of(path)}' may not include backend '{backend_of(target)}' ({target})"
    if target.startswith("tests/"):
        return f"only tests include tests ({target})"
    if own not in layers:
        return f"folder '{own}' is not in cmake/layers.txt"
    if other is not None and other != own and other not in layers[own]:
        return f"layer '{own}' may not include '{other}' ({target})"
    return None


def find_violations(root):
    layers = read_layers(root)
    for path in repo.own_files(root, "lib", *OUTSIDE_SRC):
        if not repo.is_c_family(path) or layer_of(path) is None:
            continue
        source = repo.read(root, path)
        without_comments = repo.comments_blanked(source)
        for match in INCLUDE.finditer(without_comments):
            text = complaint(root, path, match.group(1), match.group(2), layers)
            if text:
                yield f"{path}:{repo.line_of(source, match.start())}: {text}"


if __name__ == "__main__":
    report.main(find_violations)
