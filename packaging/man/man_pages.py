#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Makes the pages of the manual: man1 from what the programs print for --help, by help2man; man3 from the doxygen blocks of the public
C headers, one page for each API and a link to it for each function. doxygen can write man3, too, but then every build of a package would
need it, and its pages have neither the synopsis nor the declarations in the order of the header.
usage: man_pages.py SOURCE OUT [--programs DIRECTORY]     SOURCE: the top of the tree; DIRECTORY: where gdrkit is; without it man3 only"""
import os
import re
import shutil
import subprocess
import sys

# Page, library, headers of the page, summary.
APIS = (
    ("gdrkit", "gdrkit", ("gdrkit/gdrkit.h", "gdrkit/context.h", "gdrkit/buffer.h", "gdrkit/pin.h", "gdrkit/mapping.h", "gdrkit/copy.h",
                          "gdrkit/errors.h", "gdrkit/version.h"), "CPU access to NVIDIA GPU memory"),
    ("gdrkit_shmem", "gdrkit_shmem",
     tuple(f"gdrkit/shmem{part}.h" for part in ("", "_types", "_job", "_pe", "_memory", "_transfer", "_atomic", "_wait", "_stream", "_kernel",
                                                "_team", "_collectives", "_reduction")),
     "one-sided communication between NVIDIA GPUs"),
    ("gdrapi", "gdrapi", ("gdrapi.h",), "GDRCopy's API, implemented by gdrkit"),
)


def version_of(source):
    with open(os.path.join(source, "include", "gdrkit", "version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"(?m)^#define GDRKIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read()))


def write(out, section, name, text):
    directory = os.path.join(out, f"man{section}")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{name}.{section}"), "w", encoding="utf-8") as file:
        file.write(text)


def escaped(text):
    """Escapes the text for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    return re.sub(r"^([.])", r"\\&\1", text, flags=re.M)


def without_commands(text):
    """A line or paragraph without doxygen's commands for words: @p name, @c name, @ref name, and without the HTML comments of snippets."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return re.sub(r"@(?:p|c|ref|a|e|b) +(?=\S)", "", text)


def as_paragraph(text, keeps_lines=True):
    """Indented lines stay lines of their own, unless they continue the text of a command."""
    lines = without_commands(text).strip("\n").split("\n")
    return "\n".join(".br\n" + escaped(line.strip()) if keeps_lines and line.startswith("  ") else escaped(line.strip()) for line in lines)


# How each of doxygen's commands begins in roff; the text behind the command follows.
SECTIONS = (
    (r"@param(?:\[(?P<direction>[\w, ]+)\])?\s+(?P<name>[\w, .]+?)\s+(?=\S)", lambda match: f".TP\n.I {escaped(match['name'])}\n"),
    (r"@retval\s+(?P<value>\S+)\s*", lambda match: f".TP\n.B {escaped(match['value'])}\n"),
    (r"@returns?\s+", lambda match: ".PP\nReturns:\n.br\n"),
    (r"@(?P<kind>note|warning|see|sa|pre|post|par)\b\s*", lambda match: ".PP\n" + {"see": "See ", "sa": "See "}.get(match["kind"], "")),
    (r"@(?:(?:defgroup|section|subsection)\s+\w+|name)\s+", lambda match: ".SS "),
    (r"@brief\s+", lambda match: ".PP\n"),
    (r"- ", lambda match: ".IP \\(bu 2\n"),
)


def rendered(text):
    """A doxygen block, or a plain comment, in roff."""
    text = re.sub(r"^@(?:(?:file|ingroup|addtogroup|cond|endcond)\b.*|\{|\})\n?", "", text, flags=re.M)
    text = re.sub(r"@[{}]", "", text)
    output = []
    for code, piece in enumerate(re.split(r"@code(?:\{[^}]*\})?[ \t]*\n(.*?)@endcode", text, flags=re.S)):
        if code % 2 == 1:
            output.append(".PP\n.in +2n\n.nf\n" + escaped(piece.strip("\n")) + "\n.fi\n.in")
            continue
        # A command begins a paragraph.
        for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:@(?:param|retval|returns?|note|warning|see|sa|pre|post|par|name|defgroup|section|subsection|brief)\b|- ))", piece):
            stripped = paragraph.lstrip()
            for pattern, begin in SECTIONS:
                match = re.match(pattern, stripped)
                if match:
                    output.append(begin(match) + as_paragraph(stripped[match.end():], keeps_lines=False))
                    break
            else:
                if paragraph.strip():
                    output.append(".PP\n" + as_paragraph(paragraph))
    return "\n".join(output).removeprefix(".PP\n")


def prose_of(comment):
    """The text of a /* */ comment in roff, one paragraph for each of its blank lines."""
    lines = [re.sub(r"^\s*\*( |$)", "", line) for line in re.sub(r"^/\*\*?<?", "", comment.strip())[:-2].rstrip().split("\n")]
    lines[0] = lines[0].lstrip()
    return rendered("\n".join(line for line in lines if not line.startswith("SPDX-")).strip())


def with_included(source, headers, found=None):
    """These headers and the public ones that they include, each once; a header comes before those that it includes."""
    found = [] if found is None else found
    for header in headers:
        if header in found or not os.path.isfile(os.path.join(source, "include", header)):
            continue
        found.append(header)
        with open(os.path.join(source, "include", header), encoding="utf-8") as file:
            included = re.findall(r'^#include ["<](gdrkit/\w+\.h|\w+\.h)[">]', file.read(), re.M)
        with_included(source, [path if "/" in path else os.path.join(os.path.dirname(header), path) for path in included], found)
    return found


def without_macros(text):
    """Returns the body of a header without preprocessor lines, except constants and function aliases. Comments describe
    the functions that macros with arguments declare."""
    text = re.sub(r"^#(?!define (?!GDRKIT_SHMEM_IS_INT)\w+ [^\\\n]+\n)(?:.*\\\n)*.*\n", "", text, flags=re.M)
    text = re.sub(r"/\* clang-format o\w+ \*/\n", "", text)
    text = re.sub(r"\bGDRKIT_SHMEM_IS_INT ", "", text)
    text = re.sub(r"^(GDRKIT_SHMEM_FOR_EACH\w*\(\w+\)|extern \"C\" \{|\})\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text)


def declared_functions(text):
    """Returns the names of the functions that a header declares, in its order."""
    code = re.sub(r"/\*.*?\*/", "", without_macros(text), flags=re.S)
    # TYPENAME: a family of functions that a macro defines.
    names = re.findall(r"^(?:(?!typedef)[a-z][\w *]*?\b(?=gdr\w+\()|#define (?=gdr\w+ gdr))(\w+)", code, re.M)
    return [name for name in names if "TYPENAME" not in name]


def body_of(text):
    """Renders comments as prose and declarations unchanged."""
    output = []
    for piece in re.split(r"(^/\*.*?\*/\n)", without_macros(text), flags=re.S | re.M):
        if piece.startswith("/*"):
            prose = prose_of(piece)
            if prose:
                output.append(prose)
        elif piece.strip():
            piece = without_commands(re.sub(r"/\*\*< *(?:@brief +)?", "/* ", piece.strip("\n")))
            output.append(".PP\n.in +2n\n.nf\n" + escaped(piece) + "\n.fi\n.in")
    return "\n".join(output)


def make_api_pages(source, out):
    version = version_of(source)
    for page, library, headers, summary in APIS:
        functions, bodies = [], []
        for header in with_included(source, headers):
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
    # Found by PATH: some programs print the path that they were called with.
    page = subprocess.run(["help2man", "--no-info", "--section=1", "--source=gdrkit " + version, "--version-string=" + version,
                           "--help-option=-h", "--name=" + summary, command], check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "PATH": programs + ":" + os.environ["PATH"]}).stdout
    # help2man derives the title from the file name; a subcommand's page has two words.
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
