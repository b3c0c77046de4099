# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Lists the tree's own files, and separates code from comments and literals in C++ source."""
import os
import re

SKIPPED_DIRECTORIES = {"third_party", "dist", "__pycache__", "node_modules"}
C_SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".def", ".cu", ".cuh")
SCRIPT_SUFFIXES = (".py", ".sh", ".cmake")


def is_own_directory(name):
    return name not in SKIPPED_DIRECTORIES and not name.startswith("build") and (not name.startswith(".") or name == ".ci")


def own_files(root, *tops):
    """Returns the paths relative to root, sorted, of all files under the given directories (default: the whole tree)."""
    found = []
    for top in tops or ("",):
        for directory, directories, names in os.walk(os.path.join(root, top)):
            directories[:] = sorted(name for name in directories if is_own_directory(name))
            found += [os.path.relpath(os.path.join(directory, name), root) for name in names]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def exists(root, path):
    return not path.startswith("..") and os.path.isfile(os.path.join(root, path))


def is_c_family(path):
    return path.endswith(C_SUFFIXES)


TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      |(?P<string>"(?:\\.|[^"\\\n])*")
      |(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(source):
    """Returns the source with comments and the contents of literals blanked; line numbers and columns stay."""

    def replace(match):
        text = match.group(0)
        if match.group("comment") or match.group("raw"):
            return blank(text)
        return text[0] + blank(text[1:-1]) + text[-1]

    return TOKEN.sub(replace, source)


def comments_blanked(source):
    """Returns the source with comments blanked and literals kept."""
    return TOKEN.sub(lambda match: blank(match.group(0)) if match.group("comment") else match.group(0), source)


def kept(pattern, source, group=0):
    """Returns the source with everything blanked that is not in this group of a match; line numbers and columns stay."""
    pieces, end = [], 0
    for match in pattern.finditer(source):
        if match[group] is not None:
            pieces += [blank(source[end:match.start(group)]), match[group]]
            end = match.end(group)
    return "".join(pieces) + blank(source[end:])


def comments_only(source):
    """Returns the source with everything but the comments blanked; line numbers and columns stay."""
    return kept(TOKEN, source, "comment")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
