#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Converts the console log of a virtual machine to a JUnit file; prints failures and measurements.

usage: console_to_junit.py <console log> <name of the machine> <JUnit file>
Exit status 1: a test failed, no test ran, Linux logged a warning, or the machine ended before its tests did."""
import re
import sys
import xml.etree.ElementTree as ElementTree

VERDICT = re.compile(r"^(ok|FAIL|skip) ([\w.]+) (\d+) ms(?:: (.*))?$")
NOTE = re.compile(r"^note ([\w.]+): (.*)$")
# Tests check their own log. These are messages between tests, and those that end the machine.
WARNING = re.compile(r"\b(?:WARNING: CPU|BUG:|Oops|kernel BUG|general protection fault|Kernel panic|refcount_t:|"
                     r"blocked for more than|Bad page|UBSAN:|KASAN:|fake_p2p: LEAK)")
TAIL = 15


class Console:
    def __init__(self, text):
        self.cases, self.notes, self.warnings = [], [], []
        self.has_ended, self.machine, self.flavour = False, "", "none"
        self.lines = [line.rstrip("\r") for line in text.split("\n")]
        for line in self.lines:
            self.take(line)

    def take(self, line):
        verdict, note = VERDICT.match(line), NOTE.match(line)
        if verdict:
            word, name, duration, text = verdict.groups()
            self.cases.append((word, f"{self.flavour}.{name}", int(duration) / 1000, text or ""))
        elif note:
            self.notes.append(f"{self.flavour}.{note.group(1)}: {note.group(2)}")
        elif line.startswith("flavour "):
            self.flavour = line.split()[1]
        elif line.startswith("machine ends"):
            self.has_ended = True
        elif WARNING.search(line):
            self.warnings.append(line)

    def judge_machine(self):
        """Failures that belong to no test, as (name, message)."""
        if not self.has_ended:
            last = next((name for _, name, _, _ in reversed(self.cases)), "none")
            yield "machine", f"the machine ended before its tests did; the last completed test was {last}"
        if not any(word in ("ok", "FAIL") for word, _, _, _ in self.cases):
            yield "selection", "no test ran: does GDRKIT_KERNEL_TESTS match any group.test?"
        # A warning during a test already fails that test.
        if self.warnings and not any(word == "FAIL" for word, _, _, _ in self.cases):
            yield "log", f"Linux logged: {self.warnings[0]}"


def write_junit(path, cases):
    suite = ElementTree.Element("testsuite", name="kernel", tests=str(len(cases)))
    for word, name, seconds, text in cases:
        status = {"ok": "run", "FAIL": "fail", "skip": "notrun"}[word]
        case = ElementTree.SubElement(suite, "testcase", name=name, classname=name, time=str(seconds), status=status)
        if word == "FAIL":
            ElementTree.SubElement(case, "failure", message=text)
        elif word == "skip":
            ElementTree.SubElement(case, "skipped", message="SKIP_IN_MACHINE")
            ElementTree.SubElement(case, "system-out").text = text
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main(log, machine, junit):
    with open(log, encoding="utf-8", errors="replace") as file:
        console = Console(file.read())
    failures = list(console.judge_machine())
    cases = console.cases + [("FAIL", name, 0, text) for name, text in failures]
    cases = [(word, f"kernel.{machine}.{name}", seconds, text) for word, name, seconds, text in cases]
    write_junit(junit, cases)
    for note in console.notes:
        print(f"note: {note}")
    failed = [(name, text) for word, name, _, text in cases if word == "FAIL"]
    for name, text in failed:
        print(f"FAIL {name}: {text}")
    if failures:
        print(f"the last lines of {log}:")
        print("\n".join("  " + line for line in console.lines[-TAIL:]))
    passed = sum(word == "ok" for word, _, _, _ in cases)
    skipped = sum(word == "skip" for word, _, _, _ in cases)
    print(f"{machine}: {passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
