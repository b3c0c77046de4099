#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every product has a README for newcomers, READMEs below it are short, and the targets of links inside the documents
exist."""
import os
import posixpath
import re

import repo
import report

LIMIT = 40
FRONT_PAGE_LIMIT = 150
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def products(root):
    """Returns the top folders that contain sources."""
    tops = {path.split("/")[0] for path in repo.own_files(root) if "/" in path and path.endswith(repo.C_SUFFIXES + (".py",))}
    return sorted(tops - {"include", "docs", "scripts"})


def product_violations(root):
    for product in products(root):
        if not repo.exists(root, f"{product}/README.md"):
            yield f"{product}: README.md is missing"
        for path in repo.own_files(root, product):
            if path.endswith("/README.md") and repo.read(root, path).count("\n") > LIMIT:
                yield f"{path}: longer than {LIMIT} lines"


def link_violations(root, path):
    for number, line in enumerate(repo.read(root, path).split("\n"), 1):
        for target in LINK.findall(line):
            target = target.partition("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(root, posixpath.dirname(path), target)):
                yield f"{path}:{number}: the target of the link {target} does not exist"


def find_violations(root):
    yield from product_violations(root)
    if repo.exists(root, "README.md") and repo.read(root, "README.md").count("\n") > FRONT_PAGE_LIMIT:
        yield f"README.md: longer than {FRONT_PAGE_LIMIT} lines"
    for path in repo.own_files(root):
        if path.endswith(".md"):
            yield from link_violations(root, path)


if __name__ == "__main__":
    report.main(find_violations)
