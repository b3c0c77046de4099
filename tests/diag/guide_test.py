#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The checks, subcommands, options and pages that docs/guide, docs/tools.md and the README name exist; so do the checks that code names."""
import pathlib
import re
import unittest

from program import Test, run

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted(TOP.glob("docs/guide/*.md")), TOP / "README.md", TOP / "docs/tools.md", TOP / "docs/troubleshooting.md"]
# Code that selects checks by their IDs.
CODE = [file for pattern in ("diag/doctor/*.cpp", "diag/doctor/verdict/*.cpp", "diag/env/rules_*.cpp", "transfer/report/*.cpp")
        for file in sorted(TOP.glob(pattern))]


def known_checks():
    return [line.split()[0] for line in run("gdrkit", "doctor", "list").lines]


def recorded_sysctls():
    """vm.nr_hugepages and the like: sysctl names of the files below /proc/sys that a recording has."""
    found = re.findall(r"(?m)^content +/proc/sys/(\w+)/(\S+)$", run("gdrkit", "snapshot", "--list").out)
    return {f"{directory}.{name}" for directory, names in found for name in names.strip("{}").split(",")}


class GuideNames(Test):
    def test_every_documented_check_exists(self):
        known, sysctls = known_checks(), recorded_sysctls()
        self.assertIn("vm.nr_hugepages", sysctls)
        groups = {check.split(".")[0] for check in known}
        named = set()
        for page in PAGES:
            for word in re.findall(r"`([a-z0-9]+\.[a-z0-9_]*\*?)`", page.read_text(encoding="utf-8")):
                if word.split(".")[0] not in groups or word in sysctls:
                    continue
                found = [check for check in known if re.fullmatch(word.replace(".", r"\.").replace("*", ".*"), check)]
                self.assertNotEqual(found, [], f"{page.name} names {word}, which is neither a check nor a recorded sysctl")
                named.update(found if "*" not in word else [])
        self.assertGreater(len(named), 60)

    def test_every_check_that_code_names_exists(self):
        known = set(known_checks())
        for file in CODE:
            named = set(re.findall(r'"([a-z]\w*\.\w+)"', file.read_text(encoding="utf-8")))
            self.assertEqual(named - known, set(), file.relative_to(TOP))
        self.assertLessEqual({"causes.cpp", "result_json.cpp", "difference_json.cpp"}, {file.name for file in CODE})

    def test_every_documented_command_has_its_options(self):
        shown = 0
        for page in PAGES:
            for line in re.findall(r"gdrkit ((?:doctor|topo|env|bind|snapshot)\b[^`\n#|;>]*)", page.read_text(encoding="utf-8")):
                words = line.split(" -- ")[0].split()
                help_text = run("gdrkit", words[0], "--help").out
                for option in [word.split("=")[0] for word in words[1:] if word.startswith("--")]:
                    self.assertIn(option, help_text, f"{page.name}: gdrkit {line}")
                    shown += 1
        self.assertGreater(shown, 8)

    def test_every_link_has_a_target(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")


if __name__ == "__main__":
    unittest.main()
