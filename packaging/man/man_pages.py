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
    ("gdrkit", "gdrkit", ("gdrkit/gdrkit.h", "gdrkit/context.h", "gdrkit/buffer.h", "gdrkit/pin.h", "gdrkit/mapping.h", "gdrkit/copy.h",
                          "gdrkit/errors.h", "gdrkit/version.h"), "CPU access to NVIDIA GPU memory"),
    ("gdrkit_shmem", "gdrkit_shmem", ("gdrkit/shmem.h", "gdrkit/shmem_collectives.h"), "one-sided communication between NVIDIA GPUs"),
    ("gdrapi", "gdrapi", ("gdrapi.h",), "GDRCopy's API, implemented by gdrkit"),
)


def version_of(source):
    with open(os.path.join(source, "include", "gdrkit", "version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"(?m)^#define GDRKIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read()))


def write(out, section, name, text):
    folder = os.path.join(out, f"man{section}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.{section}"), "w", encoding="utf-8") as file:
        file.write(text)


def escaped(text):
    """Of text that roff shall print as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    return re.sub(r"^([.])", r"\\&\1", text, flags=re.M)


def paragraph_of(paragraph):
    """Roff of a paragraph of a comment: a parameter, a list, or prose, of which indented lines stay lines of their own."""
    if parameter := re.match(r"@param\[([a-z,]+)\] +(\w+) +(.*)", paragraph, re.S):
        direction, name, text = parameter.groups()
        return f".TP\n.BR {name} \" ({direction})\"\n" + escaped(re.sub(r"\n +", "\n", text))
    if re.match(r" *- ", paragraph):
        return ".IP \\(bu 2\n" + escaped(re.sub(r"\n +", "\n", paragraph.strip()[2:]))
    text = re.sub(r"^@(brief|file) ?", "", paragraph)
    is_tagged = text.startswith("@")
    text = re.sub(r"^@return ", "Returns ", re.sub(r"^@note ", "", text))
    return ".PP\n" + "\n".join(".br\n" + escaped(line.strip()) if line.startswith("  ") and not is_tagged else escaped(line.strip())
                              for line in text.split("\n"))


def prose_of(comment):
    """The text of a /* */ comment or a Doxygen block. Its blank lines, tags and list items begin paragraphs."""
    comment = re.sub(r"^/\*\*?|\*/$", "", comment.strip())
    lines = [re.sub(r"^ \*( |$)", "", line) for line in comment.strip("\n").split("\n")]
    text = "\n".join(line.rstrip() for line in lines if "SPDX-" not in line).strip()
    pieces = []
    for number, part in enumerate(re.split(r"@code\n(.*?)\n? *@endcode", text, flags=re.S)):
        if number % 2 == 1:
            pieces.append(".PP\n.in +2n\n.nf\n" + escaped(part) + "\n.fi\n.in")
            continue
        for paragraph in re.split(r"\n\s*\n|\n(?=@)|\n(?= *- )", part):
            if paragraph.strip() not in ("", "@file"):
                pieces.append(paragraph_of(paragraph.strip("\n")))
    return "\n".join(pieces)


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
    return re.findall(r"^(?:(?!typedef)[a-z][\w *]*?\b(?=gdr\w+\()|#define (?=gdr\w+ gdr))(\w+)", code, re.M)


def body_of(text):
    """Comments as prose, declarations as they stand."""
    output = []
    for piece in re.split(r"(^/\*.*?\*/\n)", without_macros(text), flags=re.S | re.M):
        if piece.startswith("/*"):
            prose = prose_of(piece)
            if prose:
                output.append(prose)
        elif piece.strip():
            piece = re.sub(r"/\*\*< (?:@brief )?", "/* ", piece)
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
