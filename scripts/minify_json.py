#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Rewrites recorded JSON in place without indentation: one line for each member of the document and for each element of its
arrays. Changes only white space between tokens, so that every number keeps its digits.

usage: scripts/minify_json.py FILE..."""
import json
import re
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def minify(text):
    json.loads(text)  # raises if the text is invalid
    pieces, open_brackets = [], []
    for token in TOKEN.findall(text):
        # Lines are broken inside the document and inside its arrays.
        is_broken = len(open_brackets) == 1 or open_brackets == ["{", "["]
        if token in "]}" and open_brackets:
            pieces.append("\n" if is_broken else "")
            open_brackets.pop()
            pieces.append(token)
        elif token in "{[":
            pieces.append(token)
            open_brackets.append(token)
            pieces.append("\n" if len(open_brackets) == 1 or open_brackets == ["{", "["] else "")
        else:
            pieces.append(token + "\n" if token == "," and is_broken else token)
    return "".join(pieces) + "\n"


def main(paths):
    if not paths:
        print(__doc__.rsplit("\n", 1)[-1], file=sys.stderr)
        return 2
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        smaller = minify(text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(smaller)
        print(f"{path}: {text.count(chr(10))} lines, {len(text)} bytes -> {smaller.count(chr(10))} lines, {len(smaller)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
