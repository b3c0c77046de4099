#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Makes the pages of the manual: man1 from what the programs print for --help, by help2man; man3 from the public C headers, one
page for each API and a link to it for each function.
usage: man_pages.py SOURCE OUT [--programs FOLDER]     SOURCE: the top of the tree; FOLDER: where gdrkit is; without it man3 only"""
import os
import re
import shutil
import subprocess
import sys

# Page, library, headers of the page, summary.
APIS = (
    ("gdrkit", "gdrkit", ("gdrkit/gdrkit.h",), "CPU access to NVIDIA GPU memory"),
    ("gdrkit_shmem", "gdrkit_shmem",
     tuple(f"gdrkit/shmem{part}.h" for part in ("", "_types", "_job", "_memory", "_transfer", "_atomic", "_wait", "_stream", "_kernel", "_team",
                                                "_collectives")),
     "one-sided communication between NVIDIA GPUs"),
    ("gdrapi", "gdrapi", ("gdrapi.h",), "GDRCopy's API, implemented by gdrkit"),
)


def version_of(source):
    with open(os.path.join(source, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(gdrkit VERSION ([0-9.]+)", file.read(), re.M).group(1)


def write(out, section, name, text):
    folder = os.path.join(out, f"man{section}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.{section}"), "w", encoding="utf-8") as file:
        file.write(text)


def escaped(text):
    """Of text that roff shall print as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    return re.sub(r"^([.])", r"\\&\1", text, flags=re.M)


def doxygen_prose(lines):
    """Roff of the lines of a Doxygen block."""
    output, is_code = [], False
    for line in lines:
        tag, _, rest = line.strip().partition(" ")
        if tag.startswith("@code") or tag == "@endcode":
            is_code = tag != "@endcode"
            output.append(".PP\n.in +2n\n.nf" if is_code else ".fi\n.in\n.PP")
        elif is_code:
            output.append(escaped(line))
        elif tag in ("@defgroup", "@section"):
            output.append(".SS " + escaped(rest.partition(" ")[2]))
        elif tag.startswith("@param"):
            name, _, text = rest.partition(" ")
            output.append(f".TP\n.I {escaped(name)}\n{escaped(text)}")
        elif tag in ("@return", "@note"):
            output.append(f".TP\n.B {'Returns' if tag == '@return' else 'Note'}\n{escaped(rest)}")
        elif tag == "-":
            output.append(".br\n" + escaped(line.strip()))
        elif tag == "@brief":
            output.append(".PP\n" + escaped(rest))
        elif line == "":
            output.append(".PP")
        elif tag not in ("@file", "@ingroup", "@{", "@}", "@cond", "@endcond"):
            output.append(escaped(line.strip()))
    return re.sub(r"(\.PP\n)+(?=\.(PP|TP|SS))|(\n?\.PP)+$", "", re.sub(r"@ref (\w+)", r"\1", "\n".join(output)))


def prose_of(comment):
    """The text of a /* */ comment, one paragraph for each of its blank lines; indented lines stay lines of their own."""
    lines = [re.sub(r"^ \*( |$)", "", line) for line in comment.strip()[2:-2].strip().split("\n")]
    lines = [line for line in lines if not line.startswith("SPDX-")]
    if comment.startswith("/**"):
        return doxygen_prose(lines[1:] if lines[0] == "*" else [re.sub(r"^\*+ ?", "", lines[0]), *lines[1:]])
    text = "\n".join(lines).strip()
    pieces = []
    for paragraph in re.split(r"\n\s*\n", text):
        rendered = "\n".join(".br\n" + escaped(line.strip()) if line.startswith("  ") else escaped(line)
                             for line in paragraph.split("\n"))
        pieces.append(rendered)
    return "\n.PP\n".join(pieces)


def without_macros(text):
    """The body of a header without preprocessor lines, but for constants and other names of functions. What macros with
    arguments define, comments describe."""
    text = re.sub(r"^#(?!define (?!GDRKIT_SHMEM_IS_INT)\w+ [^\\\n]+\n)(?:.*\\\n)*.*\n", "", text, flags=re.M)
    text = re.sub(r"/\* clang-format o\w+ \*/\n", "", text)
    text = re.sub(r"\bGDRKIT_SHMEM_IS_INT ", "", text)
    text = re.sub(r"^(GDRKIT_SHMEM_FOR_EACH\w*\(\w+\)|extern \"C\" \{|\})\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text)


def declared_functions(text):
    """Names of functions that a header declares, in its order."""
    code = re.sub(r"/\*.*?\*/", "", without_macros(text), flags=re.S)
    # TYPENAME: a family of functions that a macro defines.
    names = re.findall(r"^(?:(?!typedef)[a-z][\w *]*?\b(?=gdr\w+\()|#define (?=gdr\w+ gdr))(\w+)", code, re.M)
    return [name for name in names if "TYPENAME" not in name]


def body_of(text):
    """Comments as prose, declarations as they stand."""
    output = []
    for piece in re.split(r"(^/\*.*?\*/\n)", without_macros(text), flags=re.S | re.M):
        if piece.startswith("/*"):
            prose = prose_of(piece)
            if prose:
                output.append(".PP\n" + prose)
        elif piece.strip():
            output.append(".PP\n.in +2n\n.nf\n" + escaped(piece.strip("\n")) + "\n.fi\n.in")
    return "\n".join(output)


def make_api_pages(source, out):
    version = version_of(source)
    for page, library, headers, summary in APIS:
        functions, bodies = [], []
        for header in headers:
            with open(os.path.join(source, "include", header), encoding="utf-8") as file:
                text = file.read()
            functions += [name for name in declared_functions(text) if name not in functions]
            bodies.append(body_of(text))
        includes = "\n.br\n".join(f".B #include <{header}>" for header in headers[:1])
        names = ", ".join([page] + functions)
        write(out, 3, page, f'.TH {page} 3 "" "gdrkit {version}" "gdrkit"\n.SH NAME\n{escaped(names)} \\- {summary}\n'
              f".SH SYNOPSIS\n.nf\n{includes}\n.PP\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs {library})\n.fi\n"
              ".SH DESCRIPTION\n" + "\n".join(bodies) +
              "\n.SH SEE ALSO\n" + ", ".join(f".BR {other[0]} (3)" for other in APIS if other[0] != page).replace(", ", ",\n") +
              ",\n.BR gdrkit (1)\n")
        for name in functions:
            write(out, 3, name, f".so man3/{page}.3\n")


def listed(source, name, pattern):
    with open(os.path.join(source, "cli", name), encoding="utf-8") as file:
        return re.findall(pattern, file.read(), re.M)


def help2man(version, programs, command, name, summary):
    # Found by PATH: some programs print the path that they were called by.
    page = subprocess.run(["help2man", "--no-info", "--section=1", "--source=gdrkit " + version, "--version-string=" + version,
                           "--help-option=-h", "--name=" + summary, command], check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "PATH": programs + ":" + os.environ["PATH"]}).stdout
    # The title is made of the program's file name; a subcommand's page has two words.
    page, count = re.subn(r'^\.TH ("[^"]*"|\S+)', f".TH {name.upper()}", page, count=1, flags=re.M)
    if count != 1:
        raise SystemExit(f"error: help2man wrote no title for '{command}'")
    return re.sub(r"^(\.SH NAME\n).*? \\- ", lambda match: match.group(1) + escaped(name) + " \\- ", page, count=1, flags=re.M | re.S)


def make_command_pages(source, out, programs):
    version = version_of(source)
    subcommands = listed(source, "subcommands.def", r'^GDRKIT_SUBCOMMAND\((\w+), [\w:]+, "((?:[^"\\]|\\.)*)", (true|false)\)$')
    pages = {"gdrkit": ("gdrkit", "CPU access to NVIDIA GPU memory: tools")}
    for name, summary, has_gdrcopy_name in subcommands:
        summary = summary.replace('\\"', '"')
        pages["gdrkit-" + name] = ("gdrkit " + name, summary)
        if has_gdrcopy_name == "true":
            pages["gdrcopy_" + name] = ("gdrcopy_" + name, f"GDRCopy's {name}: {summary}")
    for name, (command, summary) in pages.items():
        write(out, 1, name, help2man(version, programs, command, name, summary))
    for name, subcommand in listed(source, "other_names.def", r"^GDRKIT_OTHER_NAME\((\w+), (\w+)\)$"):
        write(out, 1, name, f".so man1/gdrkit-{subcommand}.1\n")


def main(arguments):
    if len(arguments) not in (2, 4) or (len(arguments) == 4 and arguments[2] != "--programs"):
        sys.exit(__doc__.rsplit("\n", 1)[1])
    source, out = arguments[:2]
    shutil.rmtree(out, ignore_errors=True)
    make_api_pages(source, out)
    if len(arguments) == 4:
        make_command_pages(source, out, os.path.abspath(arguments[3]))


if __name__ == "__main__":
    main(sys.argv[1:])
