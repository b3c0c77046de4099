#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Summarises the JUnit files that CTest wrote: skipped tests by reason, failed tests by name, and the counts."""
import re
import sys
import xml.etree.ElementTree as ElementTree


# Python's unittest exits with 0 even if it skipped tests. The reason follows the test's name or its docstring.
UNITTEST_SKIP = re.compile(r"^(?:.* \.\.\. )?skipped (['\"])(.*)\1$", re.MULTILINE)
UNITTEST_SKIPPED_ALL = re.compile(r"^Ran (\d+) tests? in .*\s+OK \(skipped=\1\)$", re.MULTILINE)


def reason_of_skip(output):
    """GoogleTest prints "file:line: Skipped" and then the reason; other tests print it in their first line."""
    lines = [line.strip() for line in (output or "").splitlines()]
    for number, line in enumerate(lines):
        if line.endswith(": Skipped"):
            return next((later for later in lines[number + 1:] if later), "no reason given")
    return next((line for line in lines if line), "no reason given")


def read_results(paths):
    passed, failed, skipped = 0, [], {}
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = case.get("name")
            mark = case.find("skipped")
            if case.get("status") == "run":
                output = case.findtext("system-out") or ""
                passed += 0 if UNITTEST_SKIPPED_ALL.search(output) else 1
                for found in UNITTEST_SKIP.finditer(output):
                    skipped.setdefault(found.group(2), []).append(name)
            elif case.get("status") == "disabled":
                skipped.setdefault("disabled in its source", []).append(name)
            # CTest also marks tests that it could not start as skipped; only the test's own message counts.
            elif mark is not None and mark.get("message", "").startswith("SKIP_"):
                skipped.setdefault(reason_of_skip(case.findtext("system-out")), []).append(name)
            else:
                failed.append(name)
    return passed, failed, skipped


def main(paths):
    if not paths:
        print("error: cannot summarise: no results given", file=sys.stderr)
        return 2
    passed, failed, skipped = read_results(paths)
    for reason, names in sorted(skipped.items()):
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"skipped: {names[0]}{others}: {reason}")
    for name in failed:
        print(f"failed: {name}")
    count_skipped = sum(len(names) for names in skipped.values())
    print(f"{passed} passed, {len(failed)} failed, {count_skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
