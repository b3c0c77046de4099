#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Recorded JSON in docs/results and tests/measure must be valid and without indentation: with it, one benchmark run has 36,000 lines."""
import json

import repo
import report


def find_violations(root):
    for path in repo.own_files(root, "docs/results", "tests/measure"):
        if not path.endswith(".json"):
            continue
        text = repo.read(root, path)
        try:
            json.loads(text)
        except ValueError as error:
            yield f"{path}: invalid JSON: {error}"
        for number, line in enumerate(text.split("\n"), 1):
            if line[:1] in (" ", "\t"):
                yield f"{path}:{number}: is indented; run scripts/minify_json.py {path}"
                break


if __name__ == "__main__":
    report.main(find_violations)
