# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""What the checks and the site need to know of Markdown: code blocks, links, headings and their anchors, as GitHub makes them."""
import re

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.*?) *#* *$")


def lines_of(text):
    """Pairs of kind and line: "fence" for the first and last line of a code block, "code" for those between, "text" for all others."""
    fence = None
    for line in text.split("\n"):
        match = re.match(r"^\s*(`{3,})", line)
        if match and fence is None:
            fence = match[1]
            yield "fence", line
        elif match and len(match[1]) >= len(fence) and line.strip() == match[1]:
            fence = None
            yield "fence", line
        else:
            yield ("code" if fence is not None else "text"), line


def anchor_of(title):
    title = LINK.sub(r"\1", title).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def unique_anchor(title, seen):
    """The anchor of a heading; `seen` counts the headings with the same title before it."""
    anchor = anchor_of(title)
    count = seen.get(anchor, 0)
    seen[anchor] = count + 1
    return anchor if count == 0 else f"{anchor}-{count}"


def anchors_of(text):
    seen, found = {}, set()
    for kind, line in lines_of(text):
        heading = HEADING.match(line) if kind == "text" else None
        if heading:
            found.add(unique_anchor(heading[2], seen))
    return found


def links_of(text):
    """Line number and target of every link outside of code. The text of a link may go over several lines."""
    prose = "\n".join(line if kind == "text" else "" for kind, line in lines_of(text))
    prose = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), prose)
    for match in LINK.finditer(prose):
        yield prose.count("\n", 0, match.start()) + 1, match[2]


def sections_with_links(text):
    """For each section of the second level: its title, and the first link of each line with one, as (text, target)."""
    title, entries = None, []
    for kind, line in lines_of(text):
        heading = HEADING.match(line) if kind == "text" else None
        if heading and len(heading[1]) == 2:
            if title is not None:
                yield title, entries
            title, entries = heading[2], []
        elif kind == "text" and title is not None:
            match = LINK.search(line)
            if match:
                entries.append((match[1], match[2]))
    if title is not None:
        yield title, entries
