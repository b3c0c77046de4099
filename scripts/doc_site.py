#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Builds the documentation as one HTML site from the public headers and the Markdown pages, with doxygen (docs/Doxyfile).
usage: doc_site.py OUT     OUT: a directory; the site is OUT/html/index.html

doxygen 1.9.4 and newer versions resolve links between Markdown pages differently. So this script writes pages whose links are file names
of the site, and a menu that follows docs/README.md: each of its sections is a menu, and each link in a table of it an entry."""
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "tidy"))

# pylint: disable=wrong-import-position
import markdown  # noqa: E402
import repo  # noqa: E402

INDEX = "docs/README.md"
# Headers by library: the first pattern that matches a path decides.
LIBRARIES = (
    ("Drop-in library for GDRCopy", r"include/gdr(api|config)\.h"),
    ("shmem, CUDA", r"include/gdrkit/(.*/)?\w*shmem.*\.cuh|include/gdrkit/shmem/.*\.cuh"),
    ("shmem, C++", r"include/gdrkit/(.*/)?\w*shmem.*\.hpp|include/gdrkit/shmem/.*\.hpp"),
    ("shmem, C", r"include/gdrkit/(.*/)?\w*shmem.*\.h|include/gdrkit/shmem/.*\.h"),
    ("Copy library, C++", r"include/gdrkit/.*\.hpp"),
    ("Copy library, C", r"include/gdrkit/.*\.h"),
)
ORDER = ("Copy library, C", "Copy library, C++", "Drop-in library for GDRCopy", "shmem, C", "shmem, C++", "shmem, CUDA")
UMBRELLA = r"include/(gdrapi\.h|gdrkit/(gdrkit|shmem)\.(h|hpp)|gdrkit/shmem_device\.cuh)"
LANGUAGES = {"c": "{.c}", "cpp": "{.cpp}", "cuda": "{.cpp}", "python": "{.py}"}


def page_id(path):
    if path == "README.md":
        return "index"
    return "page_" + re.sub(r"[^a-z0-9]+", "_", path.lower().removesuffix(".md"))


def page_file(path):
    return page_id(path) + ".html"


def is_documented(path):
    return "@file" in repo.read(ROOT, path)


def header_file(path):
    """The name that doxygen gives to the page of a header."""
    return posixpath.basename(path).replace("_", "__").replace(".", "_8") + ".html"


def public_headers():
    return [path for path in repo.own_files(ROOT, "include") if repo.is_c_family(path) and "/detail/" not in path and "/compat/" not in path]


def headers_by_library():
    """Returns the documented headers of each library that has any."""
    found = {name: [] for name in ORDER}
    # The header that includes the others comes first.
    for path in sorted(filter(is_documented, public_headers()), key=lambda path: (not re.fullmatch(UMBRELLA, path), path)):
        for name, pattern in LIBRARIES:
            if re.fullmatch(pattern, path):
                found[name].append(path)
                break
    return {name: headers for name, headers in found.items() if headers}


def library_id(library):
    return "page_reference_" + re.sub("[^a-z]+", "_", library.lower())


class Site:
    """The pages of the site, and the other files that they link to."""

    def __init__(self, out):
        self.out = out
        self.pages = [path for path in repo.own_files(ROOT) if path.endswith(".md")]
        self.copied = set()

    def address_of(self, page, target):
        """Where a link of a page leads in the site; None if the site does not have it."""
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if os.path.isdir(os.path.join(ROOT, path)):
            path = posixpath.join(path, "README.md")
        if path in self.pages:
            return page_file(path) + (f"#{page_id(path)}_{anchor}" if anchor else "")
        if path in public_headers() and is_documented(path):
            return header_file(path)
        if os.path.isfile(os.path.join(ROOT, path)):
            self.copied.add(path)
            return f"files/{path}.txt" if not path.endswith((".html", ".txt")) else f"files/{path}"
        return None

    def rewritten(self, page):
        """The text of a page for doxygen."""
        out, text, seen, is_open = [], [], {}, False

        def end_text():
            if text:
                out.append(self.with_links(page, "\n".join(text)))
                text.clear()

        for kind, line in markdown.lines_of(repo.read(ROOT, page)):
            heading = markdown.HEADING.match(line) if kind == "text" else None
            if kind == "fence":
                end_text()
                is_open = not is_open
                indent, language = re.match(r"(\s*)`+(\S*)", line).groups()
                out.append(f"{indent}```{LANGUAGES.get(language, '{.unparsed}') if is_open else ''}")
            elif kind == "code":
                out.append(line)
            elif heading:
                end_text()
                out.append(self.heading(page, len(heading[1]), heading[2], seen))
            elif not line.startswith("<!--"):
                text.append(line)
        end_text()
        return "\n".join(out)

    def heading(self, page, level, title, seen):
        anchor = markdown.unique_anchor(title, seen)
        if level > 1:
            identifier = f"{page_id(page)}_{anchor}"
        else:
            identifier = "mainpage" if page == "README.md" else page_id(page)
        return f"{'#' * level} {self.plain(title)} {{#{identifier}}}"

    @staticmethod
    def plain(title):
        return markdown.LINK.sub(r"\1", title).replace("`", "")

    def with_links(self, page, text):
        def replace(match):
            address = self.address_of(page, match[2])
            return match[1] if address is None else f"[{match[1]}]({address})"

        # Text between backticks stays as it is. A bar in a cell is written as its entity, which every doxygen keeps in the cell.
        parts = re.split(r"(`[^`]*`)", text)
        joined = "".join(part.replace(r"\|", "&#124;") if not part.startswith("`") else
                         (f"<code>{html.escape(part[1:-1].replace(chr(92) + '|', '|')).replace('|', '&#124;')}</code>" if "|" in part else part)
                         for part in parts)
        return markdown.LINK.sub(replace, joined)

    def write(self, name, text):
        with open(os.path.join(self.out, "pages", name), "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def write_pages(self):
        os.makedirs(os.path.join(self.out, "pages"))
        for page in self.pages:
            self.write(page_id(page) + ".md", self.rewritten(page))
        lines = ["# Reference {#page_reference}", ""]
        for library, headers in headers_by_library().items():
            lines += [f"## {library} {{#{library_id(library)}}}", "", "| header | contents |", "| --- | --- |"]
            lines += [f"| [{header.removeprefix('include/')}]({header_file(header)}) | {brief_of(header)} |" for header in headers]
            lines.append("")
        self.write("page_reference.md", "\n".join(lines))

    def copy_files(self):
        for path in sorted(self.copied):
            target = os.path.join(self.out, "html", "files", path if path.endswith((".html", ".txt")) else path + ".txt")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), target)

    def menu(self):
        """The layout of the site: a menu for each section of docs/README.md."""
        tabs = []
        for title, entries in markdown.sections_with_links(repo.read(ROOT, INDEX)):
            items = []
            if title == "Reference":
                items += [tab("user", f"page_reference.html#{library_id(library)}", library) for library in headers_by_library()]
                if any("@defgroup" in repo.read(ROOT, path) for path in public_headers()):
                    kind = "topics" if version_of_doxygen() >= (1, 9, 8) else "modules"
                    items.append(f'<tab type="{kind}" visible="yes" title="By topic" intro=""/>')
                items.append('<tab type="classlist" visible="yes" title="Types" intro=""/>')
                items.append('<tab type="globals" visible="yes" title="All names in C" intro=""/>')
            for text, target in entries:
                address = self.address_of(INDEX, target)
                if address is not None and not target.startswith("../include"):
                    items.append(tab("user", address, self.plain(text)))
            if items:
                tabs.append(f'<tab type="usergroup" visible="yes" url="[none]" title="{html.escape(title)}">\n' + "\n".join(items) + "\n</tab>")
        return "<doxygenlayout version=\"1.0\">\n<navindex>\n<tab type=\"mainpage\" visible=\"no\" title=\"\"/>\n" + "\n".join(tabs) + "\n</navindex>\n</doxygenlayout>\n"


def tab(kind, url, title):
    return f'<tab type="{kind}" visible="yes" url="{html.escape(url)}" title="{html.escape(title)}"/>'


def brief_of(header):
    """What a header contains: the text of @brief after its @file, up to an empty line of the comment or its end."""
    text = repo.read(ROOT, header).partition("@file")[2].partition("@brief")[2]
    lines = []
    for line in text.split("\n"):
        words = re.sub(r"^\s*(?:///?|\*(?!/))", "", line).strip()
        if not words or words.startswith(("@", "#", "*/")):
            break
        lines.append(words.partition("*/")[0].strip())
        if "*/" in words:
            break
    return " ".join(lines)


def version_of_doxygen():
    text = subprocess.run(["doxygen", "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def settings(out, version):
    lines = [f"PROJECT_NUMBER = {version}", f"OUTPUT_DIRECTORY = {out}", f"LAYOUT_FILE = {out}/layout.xml", f"STRIP_FROM_PATH = {out}/pages include",
             f"STRIP_FROM_INC_PATH = {ROOT}/include",
             f"INPUT = {out}/pages " + " ".join(public_headers())]
    # Newer versions choose dark colours themselves; docs/site/site.css has those of this site for all versions.
    if version_of_doxygen() >= (1, 9, 5):
        lines.append("HTML_COLORSTYLE = LIGHT")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[1])
    if shutil.which("doxygen") is None:
        print("skipped: doxygen is missing (Debian: doxygen)")
        sys.exit(77)
    out = os.path.abspath(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    site = Site(out)
    site.write_pages()
    with open(os.path.join(out, "layout.xml"), "w", encoding="utf-8") as file:
        file.write(site.menu())
    version = subprocess.run(["bash", "-c", "source scripts/common.sh; project_version"], check=True, text=True, cwd=ROOT, stdout=subprocess.PIPE).stdout.strip()
    configuration = repo.read(ROOT, "docs/Doxyfile") + settings(out, version)
    run = subprocess.run(["doxygen", "-"], input=configuration, text=True, cwd=ROOT, stderr=subprocess.PIPE)
    site.copy_files()
    # Warnings about settings do not make doxygen fail.
    sys.stderr.write(run.stderr)
    sys.exit(1 if run.stderr or run.returncode != 0 else 0)


if __name__ == "__main__":
    main()
