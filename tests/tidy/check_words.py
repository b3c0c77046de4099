#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Text for people uses the field's words: "kernel" with its kind (copy kernel, kernel module, GPU kernel), nothing from
words.py, and in documents at most 35 words a sentence. Checks documents, comments, string literals and identifiers."""
import re

import repo
import report
import words

# A part of a name (copy_kernel, kernel/, kernels_x86_64, kernels(), kernel.hpp, GDRKIT_COPY_KERNEL) is not a bare word.
WORD = re.compile(r"(?<![\w/.-])kernels?(?!\w|\(|/\w|/`|\.\w|-\w|::)", re.IGNORECASE)
QUALIFIED_BEFORE = re.compile(r"(?:\bcopy|\bGPU|\bLinux|\buser-space|\bnamespace)\s+$", re.IGNORECASE)
QUALIFIED_AFTER = re.compile(r"\s+(?:modules?|drivers?)\b", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
QUOTED_WORD = re.compile(r'"[^"\s]*"')
LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
# Prefixes of comment lines: a phrase may continue on the next line after one.
LEADER = re.compile(r"^[ \t]*(?://[/!]?<?|/?\*+|#+|>)", re.MULTILINE)


def blanked(match):
    return repo.blank(match.group(0))


def prose_of(path, source):
    """Returns the text that people read, with everything else blanked; offsets stay. None for files without prose."""
    if path.endswith(".md"):
        text = source
        for pattern in (FENCE, INLINE_CODE):
            text = pattern.sub(lambda match: repo.blank(match.group(0)).replace(" ", "x", 1), text)
        text = LINK_TARGET.sub(blanked, text)
        return LEADER.sub(blanked, text)
    if repo.is_c_family(path):
        return LEADER.sub(blanked, repo.comments_only(source))
    if path.endswith((".py", ".sh", ".cmake")) or path.endswith("CMakeLists.txt"):
        comments = re.sub(r"^(?![ \t]*#).*$", blanked, source, flags=re.MULTILINE)
        return LEADER.sub(blanked, comments)
    return None


def bare_words(prose):
    prose = QUOTED_WORD.sub(blanked, prose)
    for match in WORD.finditer(prose):
        before = INLINE_CODE.sub("x", prose[max(0, match.start() - 200):match.start()])
        if QUALIFIED_BEFORE.search(before) or QUALIFIED_AFTER.match(prose, match.end()):
            continue
        yield match.start()


SCRIPT_TEXT = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*')
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
LONGEST_SENTENCE = 35
# A sentence ends at these, a list item or table cell as well.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|\n[ \t]*\n|\n[ \t]*(?:[-*]|\d+\.) |\||\n[ \t]*<!--|-->")


def text_of(path, source):
    """Documents, comments and string literals, with everything else blanked."""
    if path.endswith(".md"):
        return prose_of(path, source)
    if repo.is_c_family(path):
        return INLINE_CODE.sub(blanked, repo.kept(repo.TOKEN, INCLUDE.sub(blanked, source)))
    if path.endswith((".py", ".sh")) or source.startswith("#!"):
        return INLINE_CODE.sub(blanked, repo.kept(SCRIPT_TEXT, source))
    return prose_of(path, source) or ""


def code_of(path, source):
    """C, C++ or Python code, with comments, literals and file names blanked."""
    return repo.code_only(INCLUDE.sub(blanked, source)) if repo.is_c_family(path) else SCRIPT_TEXT.sub(blanked, source)


def long_sentences(prose):
    start = 0
    for end in [*SENTENCE_END.finditer(prose), None]:
        sentence = prose[start:end.start() if end else len(prose)]
        if len(re.findall(r"[\w`]\S*", sentence)) > LONGEST_SENTENCE:
            yield start + len(sentence) - len(sentence.lstrip()), len(re.findall(r"[\w`]\S*", sentence))
        start = end.end() if end else 0


def find_names(root):
    for path in repo.own_files(root):
        if not repo.is_c_family(path) and not path.endswith(".py"):
            continue
        for _, name, instead in words.find_in_names(path):
            yield f"{path}: the file name has '{name}' (write: {instead})"
        code = code_of(path, repo.read(root, path))
        for offset, name, instead in words.find_in_names(code):
            yield f"{path}:{repo.line_of(code, offset)}: identifier '{name}' (write: {instead})"


def find_violations(root):
    yield from find_names(root)
    for path in repo.own_files(root):
        # Checks contain the words; results and recordings are recorded output.
        if path.startswith(("tests/tidy/", "tests/cli/usage_test.py", "tests/fakes/recording/transcript_system.cpp", "docs/results/2")):
            continue
        source = repo.read(root, path)
        lines = source.splitlines()

        def at(offset, text, path=path, source=source, lines=lines):
            number = repo.line_of(source, offset)
            return f"{path}:{number}: {text}: {lines[number - 1].strip()[:90]}"

        prose = prose_of(path, source)
        for offset in bare_words(prose) if prose is not None else ():
            yield at(offset, "which kernel? (copy kernel, kernel module, GPU kernel)")
        for offset, word, instead in words.find(text_of(path, source)):
            yield at(offset, f"'{word}' (write: {instead})")
        for offset, count in long_sentences(prose) if path.endswith(".md") else ():
            yield at(offset, f"a sentence of {count} words, more than {LONGEST_SENTENCE}")


if __name__ == "__main__":
    report.main(find_violations)
