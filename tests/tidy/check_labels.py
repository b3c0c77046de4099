#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The lists of tests, tests/README.md and the filters of CMakePresets.json must contain the same CTest labels.
Otherwise a filter could silently select nothing. Tests with the label gpu also hold
the lock gpu."""
import json
import re

import repo
import report

SET = re.compile(r"\bLABELS\s+((?:[a-z]+\s*)+?)(?=[A-Z)$]|#|\Z)")
NAMED_IN_ROW = re.compile(r"`([a-z]+)`")


def labels_set(root):
    """Returns label -> the first file that sets it."""
    found = {}
    for path in repo.own_files(root):
        if not path.endswith((".cmake", "CMakeLists.txt")):
            continue
        code = re.sub(r"#[^\n]*", "", repo.read(root, path))
        for match in SET.finditer(code):
            for label in match.group(1).split():
                found.setdefault(label, path)
    return found


def labels_explained(root):
    """Returns the words of the second column of the table in tests/README.md."""
    rows = [line.split("|") for line in repo.read(root, "tests/README.md").splitlines() if line.startswith("|")]
    return {label for row in rows if len(row) > 3 for label in NAMED_IN_ROW.findall(row[2])}


def labels_selected(root):
    """Returns (preset, label) of every alternative of every filter."""
    for preset in json.loads(repo.read(root, "CMakePresets.json")).get("testPresets", []):
        for choice in preset.get("filter", {}).values():
            for label in choice.get("label", "").replace("^", "").replace("$", "").split("|"):
                if label:
                    yield preset["name"], label


def gpu_tests_without_lock(root):
    for path in repo.own_files(root):
        if path.endswith("CMakeLists.txt"):
            for call in re.findall(r"set_tests_properties\(([^)]*)\)", repo.read(root, path)):
                if re.search(r"LABELS\s+gpu\b", call) and "RESOURCE_LOCK gpu" not in call:
                    yield path


def find_violations(root):
    used, explained = labels_set(root), labels_explained(root)
    for label in sorted(set(used) - explained):
        yield f"{used[label]}: the label '{label}' is not in the table of tests/README.md"
    for label in sorted(explained - set(used)):
        yield f"tests/README.md: no test has the label '{label}'"
    for preset, label in labels_selected(root):
        if label not in used:
            yield f"CMakePresets.json: the test preset '{preset}' selects the label '{label}', but no test has it"
    for path in gpu_tests_without_lock(root):
        yield f"{path}: a test with the label gpu lacks RESOURCE_LOCK gpu"


if __name__ == "__main__":
    report.main(find_violations)
