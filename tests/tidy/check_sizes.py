#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Files have at most 600 lines (tests 800) and functions at most 70, so that each has one subject and fits a screen."""
import re

import repo
import report

FILE_LIMIT, TEST_FILE_LIMIT, FUNCTION_LIMIT = 600, 800, 70
TYPE_HEAD = re.compile(r"\b(class|struct|union|enum)\b[^()]*$")
SCOPE_HEAD = re.compile(r'\bnamespace\b|\bextern\s+""?\s*$|\bextern\s+"[^"]*"\s*$')
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)


def one_branch_only(code):
    """Blanks directives and all but the first branch of each conditional, so that braces balance."""
    lines, depth_of_skip, depth = code.split("\n"), None, 0
    for number, line in enumerate(lines):
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b", line)
        if directive:
            word = directive.group(1)
            if word in ("if", "ifdef", "ifndef"):
                depth += 1
            elif word == "endif":
                if depth_of_skip == depth:
                    depth_of_skip = None
                depth -= 1
            elif depth_of_skip is None:
                depth_of_skip = depth
            lines[number] = ""
        elif depth_of_skip is not None:
            lines[number] = ""
    return PREPROCESSOR.sub(lambda match: repo.blank(match.group(0)), "\n".join(lines))


ACCESS = re.compile(r"(?:\s*(?:public|private|protected)\s*:(?!:))*")
# Matches "Type::Type(int x) : first_(x), second_" before the brace that initialises second_.
CONSTRUCTOR_MEMBER = re.compile(r"\)[^;]*[^:]:(?!:)[^;]*[\w>]$")


def kind_of(head):
    """Returns the kind of the brace after this text: "scope" (may contain functions), "function", "value" (an
    initialiser in the middle of a declaration) or "other"."""
    head = head.strip()
    if head.count("(") > head.count(")") or CONSTRUCTOR_MEMBER.search(head):
        return "value"
    if SCOPE_HEAD.search(head) or TYPE_HEAD.search(re.sub(r"\b(alignas|decltype|__attribute__)\s*\([^()]*\)|\[\[.*?\]\]", "", head)):
        return "scope"
    # An initialiser: "=" outside parentheses that is not part of an operator's name.
    outside = re.sub(r"\boperator\s*[^\s\w(]+", "operator", head)
    while re.search(r"\([^()]*\)", outside):
        outside = re.sub(r"\([^()]*\)", " ", outside)
    if re.search(r"(?<![=!<>])=(?!=)", outside):
        return "other"
    return "function" if "(" in head else "other"


def functions(source):
    """Returns (first line, last line, head) of every function body at namespace or class scope."""
    code = one_branch_only(repo.code_only(source))
    stack, head_start = [], 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match.group(0) == "{":
            head_start += len(ACCESS.match(code[head_start:at]).group(0))
            head = code[head_start:at]
            is_inside = any(kind != "scope" for kind, _, _ in stack)
            start = head_start + len(head) - len(head.lstrip())
            stack.append(("other" if is_inside else kind_of(head), start, " ".join(head.split())))
        elif match.group(0) == "}":
            if not stack:
                raise ValueError(f"line {repo.line_of(code, at)}: unmatched closing brace")
            kind, start, head = stack.pop()
            if kind == "function":
                yield repo.line_of(code, start), repo.line_of(code, at), head
            elif kind == "value":
                head_start = start  # the declaration continues
                continue
        head_start = at + 1
    if stack:
        raise ValueError(f"line {repo.line_of(code, stack[-1][1])}: unclosed brace")


def find_violations(root):
    for path in repo.own_files(root):
        if not path.endswith(repo.C_SUFFIXES + repo.SCRIPT_SUFFIXES):
            continue
        source = repo.read(root, path)
        limit = TEST_FILE_LIMIT if path.startswith("tests/") else FILE_LIMIT
        length = source.count("\n")
        if length > limit:
            yield f"{path}: {length} lines; the limit is {limit}"
        if not repo.is_c_family(path) or path.endswith(".def"):
            continue
        try:
            for first, last, head in functions(source):
                if last - first + 1 > FUNCTION_LIMIT:
                    yield f"{path}:{first}: {last - first + 1} lines in one function; the limit is {FUNCTION_LIMIT}: {head[:80]}"
        except ValueError as error:
            yield f"{path}: {error}"


if __name__ == "__main__":
    report.main(find_violations)
