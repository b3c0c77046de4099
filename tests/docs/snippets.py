# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The code blocks of README, docs and the public headers, as programs: what tests/docs/README.md describes."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tidy"))

# pylint: disable=wrong-import-position
import check_commands  # noqa: E402
import repo  # noqa: E402

PLACEHOLDER = re.compile(r"/\* SNIPPET \*/|// SNIPPET")
CODE = re.compile(r"@code(?:\{\.?(\w+)\})?[ \t]*\n(.*?)@endcode", re.S)
COMPILE_WITH = re.compile(r"<!-- compile with (\w+) -->\s*(?:\*\s*)?$")
OF_SUFFIX = {"h": "c", "hpp": "cpp", "cuh": "cuda", "c": "c", "cpp": "cpp", "cu": "cuda", "cuda": "cuda", "cuh": "cuda"}
AT_FILE_SCOPE = re.compile(r"^(?:#include|__global__|template|namespace|struct|class|(?:static |inline |constexpr )*[\w:<>*&]+ [\w:]+\([^;]*\)[^;\n]*\{)", re.M)


class Snippet:
    def __init__(self, place, language, text, wrapper=None):
        self.place, self.language, self.text, self.wrapper = place, language, text, wrapper

    def has_main(self):
        return check_commands.MAIN.search(self.text) is not None

    def program(self):
        """The text that is compiled. Its messages have the place of the block."""
        path, line = self.place.rsplit(":", 1)
        text = f'#line {int(line) + 1} "{path}"\n{self.text}'
        if self.wrapper is None:
            return text
        wrapper = repo.read(ROOT, os.path.relpath(check_commands.wrapper_of(ROOT, self.wrapper, self.language), ROOT))
        begin, end = PLACEHOLDER.split(wrapper)
        return begin + "\n" + text + end


def snippets_of_page(page):
    blocks, wrong = check_commands.blocks_of(ROOT, page)
    if wrong:
        raise AssertionError(f"{page}:{wrong[0][0]}: {wrong[0][1]}")
    for block in blocks:
        yield Snippet(f"{page}:{block.line}", block.language, block.text(), block.wrapper)


def snippets_of_header(path):
    """Blocks between @code and @endcode. A block without main() is part of a wrapper: that of a comment before it, else header_file for
    definitions and header_function for statements."""
    source = repo.read(ROOT, path)
    for match in CODE.finditer(source):
        language = OF_SUFFIX.get(match[1] or path.rsplit(".", 1)[1])
        if language is None:
            continue
        text = re.sub(r"^[ \t]*\*(?: |$)|^[ \t]*///?(?: |$)", "", match[2], flags=re.M).rstrip(" \t*/")
        text = text.replace("*\\/", "*/")
        snippet = Snippet(f"{path}:{repo.line_of(source, match.start())}", language, text)
        if not snippet.has_main():
            named = COMPILE_WITH.search(source[:match.start()].rstrip(" \t*/\n") + "\n")
            default = "header_file" if AT_FILE_SCOPE.search(text) else "header_function"
            snippet.wrapper = named[1] if named else default
        yield snippet


def all_snippets():
    for path in repo.own_files(ROOT):
        if check_commands.is_page(path):
            yield from snippets_of_page(path)
        elif path.startswith("include/") and repo.is_c_family(path):
            yield from snippets_of_header(path)
