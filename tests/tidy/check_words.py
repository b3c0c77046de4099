#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""In documents and comments, the word "kernel" must be qualified: copy kernel, kernel module, GPU kernel."""
import re

import repo
import report

# A part of a name (copy_kernel, kernel/, kernels_x86_64, kernels(), kernel.hpp, GDRKIT_COPY_KERNEL) is not a bare word.
WORD = re.compile(r"(?<![\w/.-])kernels?(?!\w|\(|/\w|/`|\.\w|-\w|::)", re.IGNORECASE)
QUALIFIED_BEFORE = re.compile(r"(?:\bcopy|\bGPU|\bLinux|\buser-space|\bnamespace)\s+$", re.IGNORECASE)
QUALIFIED_AFTER = re.compile(r"\s+(?:modules?|drivers?)\b", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
QUOTED_WORD = re.compile(r'"[^"\s]*"')
LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
# Prefixes of comment lines: a phrase may continue on the next line after one.
LEADER = re.compile(r"^[ \t]*(?://[/!]?<?|/?\*+|#+|>)", re.MULTILINE)


def prose_of(path, source):
    """Returns the text that people read, with everything else blanked; offsets stay. None for files without prose."""
    if path.endswith(".md"):
        text = source
        for pattern in (FENCE, INLINE_CODE):
            text = pattern.sub(lambda match: repo.blank(match.group(0)).replace(" ", "x", 1), text)
        text = LINK_TARGET.sub(lambda match: repo.blank(match.group(0)), text)
        return LEADER.sub(lambda match: repo.blank(match.group(0)), text)
    if repo.is_c_family(path):
        return LEADER.sub(lambda match: repo.blank(match.group(0)), repo.comments_only(source))
    if path.endswith((".py", ".sh", ".cmake")) or path.endswith("CMakeLists.txt"):
        comments = re.sub(r"^(?![ \t]*#).*$", lambda match: repo.blank(match.group(0)), source, flags=re.MULTILINE)
        return LEADER.sub(lambda match: repo.blank(match.group(0)), comments)
    return None


def bare_words(prose):
    prose = QUOTED_WORD.sub(lambda match: repo.blank(match.group(0)), prose)
    for match in WORD.finditer(prose):
        before = INLINE_CODE.sub("x", prose[max(0, match.start() - 200):match.start()])
        if QUALIFIED_BEFORE.search(before) or QUALIFIED_AFTER.match(prose, match.end()):
            continue
        yield match.start()


def find_violations(root):
    for path in repo.own_files(root):
        # The checks contain the word in their patterns.
        if path.startswith("tests/tidy/"):
            continue
        source = repo.read(root, path)
        prose = prose_of(path, source)
        for offset in bare_words(prose) if prose is not None else ():
            number = repo.line_of(source, offset)
            yield f"{path}:{number}: the word 'kernel' needs a qualifier (copy kernel, kernel module, GPU kernel): {source.splitlines()[number - 1].strip()[:90]}"


if __name__ == "__main__":
    report.main(find_violations)
