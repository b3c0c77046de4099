#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every product has a README that a newcomer reads first, and READMEs below it stay short."""
import repo
import report

LIMIT = 40
FRONT_PAGE_LIMIT = 150


def products(root):
    """Returns the top directories that contain sources."""
    tops = {path.split("/")[0] for path in repo.own_files(root) if "/" in path and path.endswith(repo.C_SUFFIXES + (".py",))}
    return sorted(tops - {"include", "docs", "scripts"})


def product_violations(root):
    for product in products(root):
        if not repo.exists(root, f"{product}/README.md"):
            yield f"{product}: README.md is missing"
        for path in repo.own_files(root, product):
            if path.endswith("/README.md") and repo.read(root, path).count("\n") > LIMIT:
                yield f"{path}: longer than {LIMIT} lines"


def find_violations(root):
    yield from product_violations(root)
    if repo.exists(root, "README.md") and repo.read(root, "README.md").count("\n") > FRONT_PAGE_LIMIT:
        yield f"README.md: longer than {FRONT_PAGE_LIMIT} lines"


if __name__ == "__main__":
    report.main(find_violations)
