#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Includes must follow cmake/layers.txt, and ARCHITECTURE.md must contain the same list. A file includes a header of
every namespace that it uses. Each directory has its own namespace. Backends are independent of each other. Copy kernels
include almost nothing. Files of a product have unique names. Includes of a kernel module have no cycle."""
import posixpath
import re

import repo
import report

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
KERNEL_SYSTEM_HEADERS = {"immintrin.h", "emmintrin.h", "smmintrin.h", "arm_neon.h", "arm_acle.h", "cstddef", "cstdint"}
# Namespaces of layers, and their directories.
NAMESPACES = {name: f"lib/{name}" for name in ("base", "driver", "cpu", "copy", "backend", "engine", "core", "capi")}
NAMESPACES |= {"platform": "platform", "measure": "measure", "topology": "diag/topology"}
ROW = re.compile(r"^\| `([\w/]+)` \| ((?:`[\w/]+` ?)+|nothing) \| [^|]+ \|$", re.MULTILINE)
NAMESPACE = re.compile(r"(?<![\w:.>])(?:gdrkit::)?(?:shmem_impl::)?([a-z]\w*)::(?=\w)")
# Products whose private namespaces are checked: a file of <product>/<directory> opens only <this>::<directory> and namespaces in it.
PRIVATE = {"lib": "gdrkit", "shmem": "gdrkit::shmem_impl"} | {
    product: f"gdrkit::{product}" for product in ("platform", "cli", "measure", "diag", "transfer")}
# In these products, code that several directories use may also be in the product's namespace.
SHARING = {"platform", "cli", "measure", "diag"}
# Products in which a file name must be unique.
DISTINCT_NAMES = {"lib", "platform", "cli", "measure", "diag", "transfer"}
# The directory that includes the interface of a kernel module, and its header.
GDRDRV_INTERFACE = ("lib/backend/gdrdrv", "kernel/include/gdrdrv_abi.h")
OPENED = re.compile(r"\bnamespace (gdrkit(?:::\w+)*) \{(?!\n(?:(?:class|struct) \w+;\n)+\})")  # except forward declarations
USING = re.compile(r"\busing namespace ")
OPENS_ANOTHER = {
    # A macro that declares the functions of all subcommands, so that cli need not include the directories that define them.
    ("cli/subcommand.cpp", "gdrkit::space"),
}


def read_layers(root):
    layers = {}
    for line in repo.read(root, "cmake/layers.txt").splitlines():
        if line and not line.startswith("#"):
            name, _, allowed = line.partition(":")
            layers[name.strip()] = set(allowed.split())
    return layers


def layer_of(path, layers):
    """Returns the longest listed directory that contains the file; None for files outside all of them (tests may include anything)."""
    directory = posixpath.dirname(path)
    while directory and directory not in layers:
        directory = posixpath.dirname(directory)
    return directory or None


def allows(layers, own, other):
    """Returns whether a file of layer `own` may use layer `other`: its own, or one inside a directory in its line."""
    return own == other or any(other == name or other.startswith(name + "/") for name in layers[own])


def target_of(root, path, included):
    """Returns the repository's file that an include refers to, relative to root; None for other headers."""
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
        first = posixpath.splitext(included)[0].split("/")[0]
        if quoted and any(first in name.split("/")[:2] for name in layers):
            return f'"{included}" does not exist'
        return None
    own, other = layer_of(path, layers), layer_of(target, layers)
    if is_copy_kernel(path) and other != "lib/copy":
        return f"a copy kernel may not include {target}"
    if backend_of(path) and backend_of(target) and backend_of(path) != backend_of(target):
        return f"backend '{backend_of(path)}' may not include backend '{backend_of(target)}' ({target})"
    if target.startswith("tests/"):
        return f"only tests include tests ({target})"
    if target.startswith("kernel/") and (posixpath.dirname(path), target) != GDRDRV_INTERFACE:
        return f"a product may not include a kernel module's header ({target})"
    if other is not None and not allows(layers, own, other):
        return f"layer '{own}' may not include '{other}' ({target})"
    return None


def included_files(root, path, source):
    for match in INCLUDE.finditer(source):
        target = target_of(root, path, match.group(1) or match.group(2))
        if target:
            yield target


def reached(root, path, layers, seen):
    """Returns the layers whose headers the file includes, directly or through headers of its own layer."""
    found, own = set(), layer_of(path, layers)
    seen.add(path)
    for target in included_files(root, path, repo.comments_blanked(repo.read(root, path))):
        layer = layer_of(target, layers)
        found.add(layer)
        if layer == own and target not in seen:
            found |= reached(root, target, layers, seen)
    return found


def namespace_violations(root, path, source, layers):
    """A file that uses a name of another layer must include it from its own layer, not through a third one."""
    own, named = layer_of(path, layers), {}
    code = repo.code_only(source)
    for match in NAMESPACE.finditer(code):
        named.setdefault(match.group(1), match.start())
    using = reached(root, path, layers, set())
    for namespace, offset in named.items():
        # In shmem, the namespace is a directory, and headers of a directory include those of lower directories.
        directory = None if f"{path.split('/')[0]}/{namespace}" in layers and path.startswith("shmem/") else NAMESPACES.get(namespace)
        directories = {name for name in layers if directory and name.startswith(directory)}
        if own not in directories and directories and not directories & using:
            yield f"{path}:{repo.line_of(source, offset)}: names {namespace}:: without including a header of it"


def directory_violations(path, source):
    """Finds files that open a namespace of another directory, and headers with a using namespace."""
    product, *directories = path.split("/")[:-1]
    if product not in PRIVATE or not directories and product not in SHARING:
        return
    code = repo.code_only(source)
    own = "::".join([PRIVATE[product], *directories[:1]])
    right = {own, PRIVATE[product]} if product in SHARING else {own}
    for match in OPENED.finditer(code):
        opened = match.group(1)
        is_inside = directories and opened.startswith(own + "::")
        if opened not in right and not is_inside and (path, opened) not in OPENS_ANOTHER:
            yield f"{path}:{repo.line_of(source, match.start())}: opens namespace {opened}; its directory's is {own}"
    if path.endswith((".hpp", ".h", ".cuh")):
        for match in USING.finditer(code):
            yield f"{path}:{repo.line_of(source, match.start())}: a header may not have a using namespace"


def picture_violations(root, layers):
    """The table of ARCHITECTURE.md must have the same directories, each with the same allowed includes."""
    if not repo.exists(root, "ARCHITECTURE.md"):
        return
    text = repo.read(root, "ARCHITECTURE.md")
    _, _, section = text.partition("\n## Layers\n")
    drawn = {name: set(re.findall(r"[\w/]+", may)) - {"nothing"} for name, may in ROW.findall(section.partition("\n## ")[0])}
    for name in layers.keys() - drawn.keys():
        yield f"ARCHITECTURE.md: the table of layers lacks {name}"
    for name in drawn.keys() - layers.keys():
        yield f"ARCHITECTURE.md: the table of layers contains {name}, which cmake/layers.txt lacks"
    for name in drawn.keys() & layers.keys():
        if drawn[name] != layers[name]:
            yield f"ARCHITECTURE.md: {name} must list {' '.join(sorted(layers[name])) or 'nothing'}, as cmake/layers.txt does"


def name_violations(root):
    """Finds files of a product with equal names."""
    seen = {}
    for path in repo.own_files(root):
        product = path.split("/")[0]
        if product in DISTINCT_NAMES and repo.is_c_family(path):
            first = seen.setdefault((product, posixpath.basename(path)), path)
            if first != path:
                yield f"{path}: {first} has the same name"


def circle_violations(root):
    """Finds pairs x.c and x.h of a kernel module that include themselves through the includes of others."""
    users = {}
    for path in repo.own_files(root):
        if path.startswith("kernel/") and path.endswith((".c", ".h")):
            directory, noun = posixpath.dirname(path), posixpath.splitext(path)[0]
            for match in INCLUDE.finditer(repo.comments_blanked(repo.read(root, path))):
                target = posixpath.join(directory, match.group(1) or "")
                if match.group(1) and repo.exists(root, target):
                    users.setdefault(noun, set()).add(posixpath.splitext(target)[0])
    for noun in sorted(users):
        below, todo = set(), users[noun] - {noun}
        while todo:
            other = todo.pop()
            below.add(other)
            todo |= users.get(other, set()) - below
        if noun in below:
            yield f"{noun}: its includes form a cycle"


def find_violations(root):
    layers = read_layers(root)
    yield from picture_violations(root, layers)
    yield from name_violations(root)
    yield from circle_violations(root)
    for path in repo.own_files(root):
        # Tests may include anything; the kernel modules and packaging/glibc are separate C code.
        if not repo.is_c_family(path) or path.split("/")[0] in ("tests", "kernel", "docs", "packaging"):
            continue
        if layer_of(path, layers) is None:
            yield f"{path}: cmake/layers.txt has no line for this directory"
            continue
        source = repo.read(root, path)
        without_comments = repo.comments_blanked(source)
        for match in INCLUDE.finditer(without_comments):
            text = complaint(root, path, match.group(1), match.group(2), layers)
            if text:
                yield f"{path}:{repo.line_of(source, match.start())}: {text}"
        if not path.endswith(".def"):
            yield from namespace_violations(root, path, source, layers)
            yield from directory_violations(path, source)


if __name__ == "__main__":
    report.main(find_violations)
