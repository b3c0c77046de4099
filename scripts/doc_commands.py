#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Writes one bash script for each page of README and docs that has commands, and `pages`, which lists them. README
comes first, since the others use what it installs. The commands are those of the page, unchanged, in its order and in
one shell (tests/tidy/check_commands.py describes the markers).
usage: doc_commands.py DIRECTORY [PAGE...]"""
import os
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "tidy"))

# pylint: disable=wrong-import-position
import check_commands  # noqa: E402
import repo  # noqa: E402

START = """set -e
cd ~/gdrkit
trap 'echo "FAIL $at: exit code $?"' ERR
"""


def script_of(page):
    """Returns the script and the number of its blocks."""
    blocks, wrong = check_commands.blocks_of(ROOT, page)
    if wrong:
        sys.exit(f"error: cannot read {page}:{wrong[0][0]}: {wrong[0][1]}")
    parts, count = [START], 0
    for block in blocks:
        text = "\n".join(block.lines)
        if block.saved_as:
            parts.append(f"cat >{shlex.quote(block.saved_as)} <<'END_OF_THE_PROGRAM'\n{text}\nEND_OF_THE_PROGRAM\n")
        if not block.is_commands() or block.reason is not None:
            continue
        count += 1
        parts += [f"cp -r ~/gdrkit/{shlex.quote(path)} {shlex.quote(name)}\n" for name, path in block.files.items()]
        parts.append(f"at={shlex.quote(f'{page}:{block.line}')}\necho \"== $at\"\n{text}\n")
    return "".join(parts), count


def main():
    directory, pages = sys.argv[1], sys.argv[2:]
    os.makedirs(directory, exist_ok=True)
    pages = pages or sorted(filter(check_commands.is_page, repo.own_files(ROOT)), key=lambda page: (page != "README.md", page))
    with open(os.path.join(directory, "pages"), "w", encoding="utf-8") as listing:
        for page in pages:
            text, count = script_of(page)
            if count == 0:
                continue
            name = page.replace("/", "_") + ".sh"
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
            listing.write(f"{name} {page} {count}\n")


if __name__ == "__main__":
    main()
