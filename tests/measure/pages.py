#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Writes pages of results to a separate directory, and checks their common properties."""
import json
import re
import xml.etree.ElementTree as ElementTree

from program import Test, run

# Attributes that make a browser fetch something, or run it.
LOADING = {"src", "srcset", "action", "data", "poster", "background", "xlink:href", "style"}


class ReportTest(Test):
    def write(self, name, content):
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        self.file(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.file(name)

    pages = {}

    def page_of(self, *made, options=()):
        """The page's text and its tree, which the caller must not change: all tests share the page of the same documents."""
        key = json.dumps((made, options))
        if key not in self.pages:
            self.pages[key] = self.new_page_of(*made, options=options)
        return self.pages[key]

    def new_page_of(self, *made, options=()):
        """For any documents, the page is well-formed and loads nothing."""
        paths = [self.write(f"input{number}.json", one) for number, one in enumerate(made)]
        ended = run("gdrkit", "report", *paths, *options)
        self.assertEqual(ended.code, 0, ended.err[-500:])
        tree = ElementTree.fromstring(ended.out)
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        self.assertEqual(len(ids), len(set(ids)), "an id is used twice")
        for element in tree.iter():
            self.assertNotIn(element.tag, ("script", "link", "img", "iframe", "object", "embed", "image", "use", "form"))
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on") or name in LOADING, (element.tag, name))
                if name == "href":
                    self.assertIn(value[1:], ids, "a link leads nowhere")
                    self.assertEqual(value[0], "#")
                if name == "aria-labelledby":
                    self.assertLessEqual(set(value.split()), set(ids))
        self.assertIsNone(re.search(r"url\(|@import|https?:|//[a-z]", ended.out.split("</style>")[0]))
        return ended.out, tree

    def texts(self, tree):
        return " ".join(" ".join(tree.itertext()).split())

    def headings(self, tree):
        return [element.text for element in tree.iter() if element.tag in ("h2", "h3", "h4", "h5")]
