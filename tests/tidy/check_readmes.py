#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every folder of sources says in a README of at most 40 lines what it is for (tests/unit, whose folders mirror lib/, once
for all); links inside the documents lead somewhere."""
import os
import posixpath
import re

import repo
import report

FOLDERS = ("lib", "tools", "bench", "tests", "examples")
SOURCES = repo.C_SUFFIXES + repo.SCRIPT_SUFFIXES + ("CMakeLists.txt",)
LIMIT = 40
FRONT_PAGE_LIMIT = 200
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def folder_violations(root, files):
    folders = {posixpath.dirname(path) for path in files if path.endswith(SOURCES)}
    for folder in sorted({re.sub(r"^(tests/unit)/.*", r"\1", folder) for folder in folders}):
        if not repo.exists(root, f"{folder}/README.md"):
            yield f"{folder}: has no README.md"
        elif repo.read(root, f"{folder}/README.md").count("\n") > LIMIT:
            yield f"{folder}/README.md: more than {LIMIT} lines"


def link_violations(root, path):
    for number, line in enumerate(repo.read(root, path).split("\n"), 1):
        for target in LINK.findall(line):
            target = target.partition("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(root, posixpath.dirname(path), target)):
                yield f"{path}:{number}: the link to {target} leads nowhere"


def find_violations(root):
    yield from folder_violations(root, repo.own_files(root, *FOLDERS))
    if repo.exists(root, "README.md") and repo.read(root, "README.md").count("\n") > FRONT_PAGE_LIMIT:
        yield f"README.md: more than {FRONT_PAGE_LIMIT} lines"
    for path in repo.own_files(root):
        if path.endswith(".md"):
            yield from link_violations(root, path)


if __name__ == "__main__":
    report.main(find_violations)
