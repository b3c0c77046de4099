# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Words and constructions that this tree does not use in text for people and in names, and what to write in their place."""
import re

# (pattern, what to write). Programs do not speak, hear or wish; sentences have a subject, a verb and an object.
BANNED = (
    (r"told|tells?|telling", "report, print, distinguish"),
    (r"answer(?:s|ed|ing)?", "return, reply, result"),
    (r"sa(?:y|ys|id|ying)", "report, print, specify, state"),
    (r"ask(?:s|ed|ing)?", "request, query, require"),
    (r"want(?:s|ed|ing)?", "need, require, expect"),
    (r"knows|knew|knowing", "has, supports, recognizes"),
    (r"hears?|heard", "receive"),
    (r"promis(?:e|es|ed)", "guarantee"),
    (r"meets?|met", "find, reach, connect, satisfy"),
    (r"wish(?:es|ed)?", "request"),
    (r"beside", "next to, compare with, in addition to"),
    (r"whoever|whatever|whomever", "the process that, any"),
    (r"goes by|go by|comes behind|come behind", "is selected by, follows"),
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"at hand", "available"),
    (r"folders?", "directory"),
    (r"by itself", "automatically, alone"),
    (r"stands? in|stood in", "emulate, replace"),
    (r"looks? for|looked for|looking for|looks at", "search, read, check"),
    (r"for ever", "forever, without a limit"),
    (r"in silence", "ignores errors"),
    (r"behind the (?:caller|user)'s back", "asynchronously"),
    (r"the own", "the caller's, this PE's, its own"),
    (r"(?<!there )(?:is|are|was|were) no(?! (?:longer|more|larger|smaller|older|newer|later|earlier|slower|faster|less|better|worse)\b)",
     "is not a, is invalid, is missing, is out of range"),
)
PATTERN = re.compile(r"(?<![\w/.'-])(?:" + "|".join(f"(?P<w{number}>{word})" for number, (word, _) in enumerate(BANNED))
                     + r")(?![\w/=-]|\(|::|\.\w)", re.IGNORECASE)


# People may say, ask and want.
PERSON = re.compile(r"\b(?:you|we|users|people|readers|others|authors)(?: (?:may|can|will|would|might))?\s+$", re.IGNORECASE)
HUMAN = frozenset("say said ask asked want wanted tell told answer look meet".split())


def find(text):
    """Yields (offset, word, what to write in its place)."""
    for match in PATTERN.finditer(text):
        if match.group(0).lower() in HUMAN and PERSON.search(text, max(0, match.start() - 40), match.start()):
            continue
        yield match.start(), match.group(0), BANNED[int(match.lastgroup[1:])][1]


# The same for the parts of identifiers, which underscores and capitals separate.
NAME_PARTS = {part: instead for parts, instead in (
    ("told tell tells", "report, has, is_reported"),
    ("ask asks asked", "query, request, is_requested"),
    ("answer answers", "reply, response, result"),
    ("meet meets met meeting", "connect, exchange, synchronize, satisfy"),
    ("wish wishes want wants wanted", "request, requested, required, expected"),
    ("hear hears heard", "receive, received"),
    ("promise promises promised", "guarantee, guaranteed"),
    ("mend", "fix"),
    ("beside", "next_to, outside, with"),
    ("says said", "contains, reports, reported"),
    ("folder folders", "directory"),
    ("look looks looked", "find, read, check, sample"),
    ("stranger strangers", "unknown_peer"),
    ("belief beliefs believes", "detection"),
    ("greet greeting", "hello, handshake"),
) for part in parts.split()}
# NVSHMEM's names.
FOREIGN_NAMES = frozenset(("nvshmemx_ask_smem", "ask_smem"))
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*")
NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def find_in_names(code):
    """Yields (offset, identifier, what to write in its place), once for each identifier."""
    seen = set(FOREIGN_NAMES)
    for match in IDENTIFIER.finditer(code):
        name = match.group(0)
        for part in NAME_PART.findall(name) if name not in seen else ():
            if part.lower() in NAME_PARTS:
                yield match.start(), name, NAME_PARTS[part.lower()]
        seen.add(name)
