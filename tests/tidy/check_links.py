#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Every relative link of a Markdown file leads to a file of the tree, and its anchor to a heading there. Indexes name every page of
their directory: docs/README.md the pages of docs and of the top directory, the README of docs/guide and docs/design their pages, and that of
docs/results its directories and pages."""
import os
import posixpath
import re

import markdown
import repo
import report


def link_violations(root, path, anchors):
    for number, target in markdown.links_of(repo.read(root, path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        if not os.path.exists(os.path.join(root, file)):
            yield f"{path}:{number}: the link to {target} has no file"
        elif anchor and file.endswith(".md"):
            if file not in anchors:
                anchors[file] = markdown.anchors_of(repo.read(root, file))
            if anchor not in anchors[file]:
                yield f"{path}:{number}: the link to {target} has no heading"


def pages_linked(root, index):
    """The pages that an index links to."""
    directory = posixpath.dirname(index)
    return {posixpath.normpath(posixpath.join(directory, target.partition("#")[0])) for _, target in markdown.links_of(repo.read(root, index))}


def index_violations(root, pages):
    if "docs/README.md" not in pages:
        return
    found = pages_linked(root, "docs/README.md")
    indexes = {page for page in pages if re.fullmatch(r"docs/\w+/README\.md", page)}
    for page in pages:
        if "/" in page and not page.startswith("docs/") or page in ("docs/README.md", "README.md"):
            continue
        directory_index = posixpath.dirname(page) + "/README.md"
        index = directory_index if directory_index in indexes and page != directory_index else "docs/README.md"
        if page not in (found if index == "docs/README.md" else pages_linked(root, index)):
            yield f"{index}: does not link to {page}"
    if "docs/results/README.md" in pages:
        text = repo.read(root, "docs/results/README.md")
        for name in sorted({path.split("/")[2] for path in repo.own_files(root, "docs/results") if path.count("/") > 2}):
            if f"`{name}`" not in text:
                yield f"docs/results/README.md: does not name the directory {name}"


def find_violations(root):
    pages = [path for path in repo.own_files(root) if path.endswith(".md")]
    anchors = {}
    for page in pages:
        yield from link_violations(root, page, anchors)
    yield from index_violations(root, pages)


if __name__ == "__main__":
    report.main(find_violations)
