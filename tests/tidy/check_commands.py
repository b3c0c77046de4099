#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""`./run test docs` executes every block of commands in README and docs, unless a comment in the line before it gives
the reason: <!-- not run: REASON -->. A block of commands is one in ``` without a language, or with sh, bash or console;
other text is ```text. <!-- run with NAME=PATH... --> copies files or folders of the tree into the working folder
first."""
import os
import re

import repo
import report

COMMANDS = ("", "sh", "bash", "console")
MARKER = re.compile(r"^<!-- (?P<kind>not run|run with)(?P<text>.*) -->$")
SAVED = re.compile(r"[Ss]ave it as `([\w.]+)`")


class Block:
    """One block in ```: `saved_as` is set for a program that the text requests to save, `reason` for commands that are not run."""

    def __init__(self, page, line, language):
        self.page, self.line, self.language = page, line, language
        self.lines, self.reason, self.files, self.saved_as = [], None, {}, None

    def is_commands(self):
        return self.language in COMMANDS


def is_page(path):
    return path in ("README.md", "CONTRIBUTING.md") or (
        path.startswith("docs/") and path.endswith(".md") and path.split("/")[1] not in ("design", "results"))


def blocks_of(root, page):
    """Returns the blocks of a page, and the errors in its markers, as (line, text)."""
    blocks, wrong, current, marker, saved_as = [], [], None, None, None
    for number, line in enumerate(repo.read(root, page).split("\n"), 1):
        fence = re.match(r"^\s*```(\S*)\s*$", line)
        if current is not None:
            if fence:
                blocks.append(current)
                current = None
            else:
                current.lines.append(line)
            continue
        if marker and not (fence and fence[1] in COMMANDS):
            wrong.append((number - 1, "a marker without a block of commands below it"))
            marker = None
        if fence:
            current = Block(page, number, fence[1])
            if marker:
                apply_marker(root, current, marker, wrong)
            elif not current.is_commands():
                current.saved_as, saved_as = saved_as, None
            marker = None
            continue
        marker = MARKER.match(line)
        if line.startswith("<!--") and not marker:
            wrong.append((number, "unknown marker; use <!-- not run: REASON --> or <!-- run with NAME=PATH -->"))
        named = SAVED.search(line)
        saved_as = named[1] if named else saved_as
    if current is not None:
        wrong.append((current.line, "the block does not end"))
    return blocks, wrong


def apply_marker(root, block, marker, wrong):
    text = marker["text"]
    if marker["kind"] == "not run":
        block.reason = text.removeprefix(":").strip()
        if not text.startswith(": ") or len(block.reason) < 8:
            wrong.append((block.line - 1, "a block that is not run requires a reason: <!-- not run: REASON -->"))
        return
    for pair in text.split():
        name, _, path = pair.partition("=")
        block.files[name] = path
        if not path or not os.path.exists(os.path.join(root, path)):
            wrong.append((block.line - 1, f"the marker contains {path or pair}, which does not exist in the tree"))


def find_violations(root):
    for page in filter(is_page, repo.own_files(root)):
        blocks, wrong = blocks_of(root, page)
        for line, text in wrong:
            yield f"{page}:{line}: {text}"
        for block in blocks:
            if block.is_commands() and block.reason is None and any(re.match(r"\s*(sudo|docker|podman|nvcc|srun|mpirun|kubectl) ", line)
                                                                     for line in block.lines):
                yield f"{page}:{block.line}: commands that a clean system lacks: split the block, or mark it <!-- not run: REASON -->"


if __name__ == "__main__":
    report.main(find_violations)
