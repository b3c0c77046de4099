#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Renders pages of results in a real browser: at the sizes of a desktop, a phone and a sheet of paper, light and dark."""
import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

import documents
from pages import ReportTest
from program import IS_FULL

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("GDRKIT_BROWSER") or next((name for name in NAMES if shutil.which(name)), None)
SKIPPED = 77
ALL_WIDTHS = {"desktop": 1280, "phone": 390, "small phone": 320, "paper": 690}
# Pages that fit the narrowest and the widest window have so far fitted all sizes between them.
WIDTHS = ALL_WIDTHS if IS_FULL else {name: ALL_WIDTHS[name] for name in ("desktop", "small phone", "paper")}
SCHEMES = {"dark": "0", "light": "1"}
# A frame around the page, which allows no scripts: measures it from outside and writes the result into itself.
MEASURE = """
const found = {};
function overlap(a, b) {
  return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
         Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
}
function measure(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  const result = {scroll: root.scrollWidth, client: root.clientWidth, height: root.scrollHeight, outside: [],
                  overlapping: [], broken: [], charts: 0, texts: 0, wide: [],
                  background: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
                  ink: frame.contentWindow.getComputedStyle(page.body).color};
  for (const drawing of page.querySelectorAll("svg.chart")) {
    const box = drawing.getBoundingClientRect();
    if (box.width === 0) continue;
    result.charts++;
    const texts = [...drawing.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    result.texts += texts.length;
    texts.forEach(([text, at], index) => {
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        result.outside.push(text);
      for (const [other, there] of texts.slice(index + 1)) if (overlap(at, there)) result.overlapping.push([text, other]);
    });
    for (const shape of drawing.querySelectorAll("path")) {
      const at = shape.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        result.outside.push(shape.getAttribute("class"));
    }
  }
  // The last two words of a figure: "±0.7 %", "2 MiB".
  for (const element of page.querySelectorAll(".tiles span")) {
    const text = element.firstChild, words = /[0-9]\\s\\S+/g;
    for (let found = text && words.exec(text.data); found; found = words.exec(text.data)) {
      const range = page.createRange();
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
      if (range.getClientRects().length > 1) result.broken.push(found[0]);
    }
  }
  for (const element of page.querySelectorAll("body *")) {
    const at = element.getBoundingClientRect();
    if (at.width > 0 && at.right > root.clientWidth + 1 && !element.closest(".scroll") && !element.closest("svg"))
      result.wide.push(element.tagName + "." + element.className);
  }
  return result;
}
window.addEventListener("load", () => {
  for (const frame of document.querySelectorAll("iframe")) found[frame.title] = measure(frame);
  document.getElementById("found").textContent = JSON.stringify(found);
});
"""


def harness(pages, widths):
    """All pages at all widths in one document: a browser takes longer to start than to render them."""
    frames = []
    for title, page in pages.items():
        for name, width in widths.items():
            # Paper has no viewport of its own here: its rules apply to all media in this copy.
            shown = page.replace("@media print{", "@media all{") if name == "paper" else page
            shown = shown.replace("<details>", "<details open=\"open\">")
            frames.append(f'<iframe title="{title}/{name}" width="{width}" height="900" srcdoc="{html.escape(shown)}"></iframe>')
    return ("<!DOCTYPE html><html><head><meta charset='utf-8'></head><body><pre id='found'></pre>" + "".join(frames) +
            f"<script>{MEASURE}</script></body></html>")


def pixels(path):
    """Width, height and the number of different rows and colours of a PNG with 8 bits a channel."""
    data = pathlib.Path(path).read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    channels = {2: 3, 6: 4}[kind]
    if depth != 8:
        raise ValueError("an unexpected depth")
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(packed), width * channels
    # Filtered rows of a blank page are all alike; of text and lines they are not.
    rows = {raw[y * (stride + 1):(y + 1) * (stride + 1)] for y in range(height)}
    return width, height, len(rows)


class Browser(ReportTest):
    def chromium(self, *arguments):
        ended = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--enable-logging=stderr",
             f"--user-data-dir={self.file('profile')}", *arguments],
            capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": self.directory})
        self.assertEqual(ended.returncode, 0, ended.stderr[-800:])
        self.assertEqual(re.findall(r"CONSOLE.*", ended.stderr), [], "the console is not silent")
        return ended.stdout

    def html_of(self, *made):
        """The page's text, which page.html also has."""
        text, _ = self.page_of(*made)
        self.write("page.html", text)
        return text

    def measured(self, pages, scheme, widths=None):
        widths = widths or WIDTHS
        target = self.write("harness.html", harness(pages, widths))
        dumped = self.chromium(f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--window-size=1600,1000",
                               "--dump-dom", target.as_uri())
        found = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.DOTALL)
        self.assertTrue(found and found.group(1), "the pages were not measured")
        results = json.loads(html.unescape(found.group(1)))
        self.assertEqual(len(results), len(pages) * len(widths))
        return results

    def assert_laid_out(self, title, result, scheme):
        name = title.split("/")[1]
        with self.subTest(title, scheme=scheme):
            self.assertLessEqual(result["scroll"], result["client"], "the page is wider than its window")
            self.assertEqual(result["client"], WIDTHS[name])
            self.assertEqual(result["wide"][:5], [])
            self.assertEqual(result["outside"][:5], [], "outside of its drawing")
            self.assertEqual(result["overlapping"][:5], [], "one text over another")
            is_dark = scheme == "dark" and name != "paper"
            self.assertEqual(result["background"], "rgb(15, 20, 25)" if is_dark else "rgb(255, 255, 255)")
            self.assertTrue(name != "paper" or result["ink"] == "rgb(0, 0, 0)")

    def test_pages_fit_every_size_in_both_schemes(self):
        bench = self.html_of(documents.bench())
        small = self.html_of(documents.bandwidth(2))
        # Tests the test: a page that is too wide, text outside and overlapping texts are found.
        wrong = small.replace("</main>", "<div style='width:3000px'>wide</div><svg class='chart' viewBox='0 0 100 100'>"
                              "<text x='10' y='50'>one</text><text x='12' y='50'>two</text><text x='500' y='50'>out</text>"
                              "</svg></main>")
        pages = {"light": {"bench": bench, "wrong": wrong, "strange": self.html_of(documents.strange(), documents.bandwidth(8))},
                 "dark": {"bench": bench, "comparison": self.html_of(documents.bench(), documents.bench(4, slower=1.25))}}
        for scheme in SCHEMES:
            for title, result in self.measured(pages[scheme], scheme).items():
                if title.startswith("wrong/"):
                    self.assertGreater(result["scroll"], result["client"])
                    self.assertIn("out", result["outside"])
                    self.assertEqual(result["overlapping"], [["one", "two"]])
                    continue
                self.assert_laid_out(title, result, scheme)
                if title.startswith("bench/"):
                    self.assertGreaterEqual(result["charts"], 8, title)
                    self.assertGreater(result["texts"], 60, title)

    def test_quick_run_has_a_short_page(self):
        pages = {f"{cpus} CPUs": self.html_of(documents.quick(cpus=cpus)) for cpus in (2, 16)}
        shown = {title: page.replace("<details>", "<details data-closed=\"\">") for title, page in pages.items()}
        results = self.measured(shown, "light", {"desktop": 1280, "phone": 400})
        for title in pages:
            self.assertLessEqual(results[title + "/desktop"]["height"], 6000, title)
            self.assertLessEqual(results[title + "/phone"]["height"], 13000, title)
            self.assertGreater(results[title + "/desktop"]["charts"], 7)
            self.assertEqual(results[title + "/desktop"]["broken"], [], "a number and its unit on two lines")
            self.assertEqual(results[title + "/phone"]["broken"], [], "a number and its unit on two lines")

    def test_screenshots_show_something(self):
        self.html_of(documents.bench())
        for scheme, number in SCHEMES.items() if IS_FULL else [("dark", SCHEMES["dark"])]:
            for width, height in ((1200, 1600), (500, 900)) if IS_FULL else ((1200, 1600),):
                shot = os.path.join(os.environ.get("GDRKIT_SCREENSHOTS") or self.directory,
                                    f"report_{scheme}_{width}.png")
                self.chromium(f"--blink-settings=preferredColorScheme={number}", f"--window-size={width},{height}",
                              f"--screenshot={shot}", self.file("page.html").as_uri())
                found_width, found_height, rows = pixels(shot)
                self.assertEqual((found_width, found_height), (width, height))
                self.assertGreater(rows, height / 5, "the picture is nearly blank")

    def test_page_prints_on_several_sheets(self):
        self.html_of(documents.bench())
        self.chromium("--no-pdf-header-footer", f"--print-to-pdf={self.file('page.pdf')}", self.file("page.html").as_uri())
        printed = self.file("page.pdf").read_bytes()
        self.assertTrue(printed.startswith(b"%PDF"))
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", printed)), 4)


def browser_problem():
    """Why there is no browser to try, or None."""
    if not CHROMIUM:
        return "no Chromium here: pages are not looked at in a browser"
    ended = subprocess.run([CHROMIUM, "--version"], capture_output=True, text=True, timeout=60, check=False)
    return None if ended.returncode == 0 else f"{CHROMIUM} does not start"


if __name__ == "__main__":
    problem = browser_problem()
    if problem:
        print(problem)
        sys.exit(1 if "browser" in os.environ.get("GDRKIT_REQUIRE", "").split(",") else SKIPPED)
    unittest.main()
