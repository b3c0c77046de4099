#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every code block of README and docs has a language, and a test for it. Markers stand in the line before a block:
- commands (sh, bash, console) are run by `./run test docs`, unless <!-- not run: REASON --> gives the reason. <!-- run with NAME=PATH... -->
  copies files or directories of the tree into the working directory first;
- c, cpp, cuda and python are compiled, and run where they can be, by tests/docs. A block of C, C++ or CUDA without main() is a fragment:
  <!-- compile with NAME --> names the program in tests/docs/wrappers that contains it;
- commands that name a subcommand of gdrkit, a command of ./run or a script of the tree name one that exists, also those that are not run;
- cmake, yaml, json and dockerfile are parsed by tests/docs; text, ini and html are not checked."""
import os
import re

import repo
import report

COMMANDS = ("sh", "bash", "console")
COMPILED = ("c", "cpp", "cuda")
LANGUAGES = COMMANDS + COMPILED + ("python", "cmake", "yaml", "json", "dockerfile", "text", "ini", "html")
WRAPPERS = "tests/docs/wrappers"
MARKER = re.compile(r"^<!-- (?P<kind>not run|run with|compile with)(?P<text>.*) -->$")
SAVED = re.compile(r"[Ss]ave it as `([\w.]+)`")
MAIN = re.compile(r"\bmain\s*\(")


class Block:
    """One block in ```: `saved_as` is set for a program that the text says to save, `reason` for commands that are not run, `wrapper`
    for a fragment."""

    def __init__(self, page, line, language):
        self.page, self.line, self.language = page, line, language
        self.lines, self.reason, self.files, self.saved_as, self.wrapper = [], None, {}, None, None

    def is_commands(self):
        return self.language in COMMANDS

    def text(self):
        return "\n".join(self.lines) + "\n"

    def is_fragment(self):
        return self.language in COMPILED and not MAIN.search(self.text())


def is_page(path):
    return "/" not in path and path.endswith(".md") or (
        path.startswith("docs/") and path.endswith(".md") and not path.startswith("docs/results/"))


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
        if marker and not (fence and fence[1] in (COMPILED if marker["kind"] == "compile with" else COMMANDS)):
            kind = "a marker of a fragment without a block of C, C++ or CUDA" if marker["kind"] == "compile with" else \
                "a marker of commands without a block of commands"
            wrong.append((number - 1, f"{kind} below it"))
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
            wrong.append((number, "an unknown marker: <!-- not run: REASON -->, <!-- run with NAME=PATH --> or <!-- compile with NAME -->"))
        named = SAVED.search(line)
        saved_as = named[1] if named else saved_as
    if current is not None:
        wrong.append((current.line, "the block does not end"))
    return blocks, wrong


def wrapper_of(root, name, language):
    """The path of a wrapper; it exists or not."""
    return os.path.join(root, WRAPPERS, f"{name}.{'cu' if language == 'cuda' else language}")


def apply_marker(root, block, marker, wrong):
    text = marker["text"]
    if marker["kind"] == "compile with":
        block.wrapper = text.strip()
        if not os.path.isfile(wrapper_of(root, block.wrapper, block.language)):
            wrong.append((block.line - 1, f"{WRAPPERS} has no {block.wrapper} for {block.language}"))
        return
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


def names_of(root, path, pattern):
    return set(re.findall(pattern, repo.read(root, path), re.M)) if repo.exists(root, path) else None


def missing_commands(root, block):
    """What the commands of a block name and the tree does not have, as far as the tree has the lists."""
    text = re.sub(r"(^|\s)#.*$", "", block.text(), flags=re.M)
    subcommands = names_of(root, "cli/subcommands.def", r"^GDRKIT_SUBCOMMAND\((\w+),")
    if subcommands is not None:
        for name in re.findall(r"(?<!--target )(?<![\w/.-])gdrkit ([a-z]\w*)", text):
            if name not in subcommands | {"completion"}:
                yield f"gdrkit {name}"
    commands = names_of(root, "run", r"^  ([a-z]+)\) ")
    if commands is not None:
        for name in re.findall(r"\./run ([a-z]+)", text):
            if name not in commands:
                yield f"./run {name}"
    for script in re.findall(r"(?:^|[\s|;&])((?:scripts|kernel|packaging|tests)/[\w./-]+\.(?:sh|py))", text, re.M):
        if not repo.exists(root, script):
            yield script


def find_violations(root):
    for page in filter(is_page, repo.own_files(root)):
        blocks, wrong = blocks_of(root, page)
        for line, text in wrong:
            yield f"{page}:{line}: {text}"
        for block in blocks:
            if block.language not in LANGUAGES:
                yield f"{page}:{block.line}: a block without a known language: one of {', '.join(LANGUAGES)}"
            if block.is_commands():
                for name in missing_commands(root, block):
                    yield f"{page}:{block.line}: the tree has no {name}"
            if block.is_fragment() and block.wrapper is None:
                yield f"{page}:{block.line}: a fragment of {block.language} needs <!-- compile with NAME --> (tests/docs/README.md)"
            if block.is_commands() and block.reason is None and any(re.match(r"\s*(sudo|docker|podman|nvcc|srun|mpirun|kubectl) ", line)
                                                                     for line in block.lines):
                yield f"{page}:{block.line}: commands that a clean system lacks: split the block, or mark it <!-- not run: REASON -->"


if __name__ == "__main__":
    report.main(find_violations)
