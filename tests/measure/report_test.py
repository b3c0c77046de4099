#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Writes pages of results and checks their contents: against a stored page, as XML, and with hostile input."""
import json
import os
import pathlib
import pty
import re
import unittest

import documents
from pages import ReportTest
from program import BIN, IS_FULL, run, run_without_space

TOP = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = TOP / "tests/measure/golden/report.html"
STYLE_SHEET = TOP / "measure/report/html/style_sheet.cpp"


def small_document():
    """A bench and a matrix in one, small enough for a readable stored page."""
    made = documents.bench(seed=7)
    kept = []
    for series in made["series"]:
        if series["id"].endswith(("to_device/mapping", "to_device/memcpy_pinned", "s/pin", "open", "to_device", "gpu/to_device/mapping")):
            series["points"] = series["points"][::9]
            kept.append(series)
    made["series"] = kept + documents.bandwidth(gpus=2)["series"][:1]
    return made


class Report(ReportTest):
    def test_page_matches_the_stored_page(self):
        page, _ = self.page_of(small_document(), options=("--title", "A kept page"))
        style = re.search(r'(?s)R"\((.*)\)"', STYLE_SHEET.read_text(encoding="utf-8"))[1]
        self.assertEqual(page.count(style), 1)
        page = page.replace(style, "")  # the source has it
        if os.environ.get("GDRKIT_UPDATE_GOLDEN") == "1":
            GOLDEN.write_text(page, encoding="utf-8")
        kept = GOLDEN.read_text(encoding="utf-8")
        for number, (line, old) in enumerate(zip(page.split("\n"), kept.split("\n")), 1):
            if line != old:
                at = next((i for i, (a, b) in enumerate(zip(line, old)) if a != b), min(len(line), len(old)))
                self.fail(f"line {number} differs from golden/report.html at column {at}: '{line[at:at + 60]}' was "
                          f"'{old[at:at + 60]}'; if that is meant: GDRKIT_UPDATE_GOLDEN=1")
        self.assertEqual(len(page), len(kept))

    def test_bench_page_has_every_section(self):
        _, tree = self.page_of(documents.bench())
        headings = self.headings(tree)
        for expected in ("Key figures", "Latency against size", "Bandwidth against size",
                       "Percentiles of single operations", "Crossover sizes of the methods",
                       "Cost of pinning and mapping", "Threads", "With a busy GPU or a busy bus",
                       "Machine, clock and settings", "Notes"):
            self.assertIn(expected, headings)
        self.assertEqual(headings.index("Copy to the device"), 3)

    def test_shows_busy_and_idle_results_together(self):
        _, tree = self.page_of(documents.bench())
        figure = next(element for element in tree.iter("figure") if element.find("h4") is not None and
                      element.find("h4").text == "Copy to the device, GPU busy")
        self.assertEqual([item.text for item in figure.find("ul").iter("span")],
                         ["through the mapping, next to a busy gpu", "raw loop, next to a busy gpu", "through the mapping"])
        rows = list(figure.find("details").iter("tr"))
        self.assertEqual(len(rows), 1 + 11, "the contrast stands only where the busy ones do")
        self.assertTrue(all(len(row) == 4 and all(cell.text for cell in row) for row in rows))

    def section(self, tree, heading):
        return next(element for element in tree.iter("section") if element.find("h3").text == heading)

    def test_values_independent_of_the_size_become_a_sentence(self):
        _, tree = self.page_of(documents.quick())
        self.assertRegex(self.texts(self.section(tree, "Cost of pinning and mapping")),
                         r"For comparison, mmap \+ munmap of 64 KiB, the operating system's own: 7\.\d+ µs( to 7\.\d+ µs)?\.")
        self.assertNotIn("More measurements", self.headings(tree))
        self.assertFalse([item.text for item in tree.iter("span") if item.text and "mmap" in item.text], "a legend names it")

    def test_percentiles_are_one_collapsible_row_per_series(self):
        section = self.section(self.page_of(documents.quick())[1], "Percentiles of single operations")
        self.assertEqual(list(section.iter("svg")), [])
        shown = section.find("div").findall("div")
        self.assertEqual([cell.text for cell in shown[0].find("table/thead/tr")],
                         [None, "size", "operations", "minimum", "p50", "p99", "p99.9", "maximum"])
        rows = [[cell.text for cell in row] for row in shown[0].findall("table/tbody/tr")]
        self.assertEqual([row[:3] for row in rows][:2], [["through the mapping", "1 B", "2000"], ["raw loop", "1 B", "2000"]])
        folded = {fold.find("summary").text: len(list(fold.find("div").iter("tr"))) for fold in section.iter("details")}
        self.assertEqual(folded["Copy to the device: 54 rows as a table"], 1 + 54)
        self.assertEqual(folded["Copy to the device, GPU busy: 12 rows as a table"], 1 + 12)

    def test_captions_omit_the_legend_and_ticks_are_plain(self):
        _, tree = self.page_of(documents.quick(cpus=16))
        self.assertEqual([caption.text for caption in tree.iter("figcaption")], [])
        ticks = [text.text for chart in tree.iter("svg") for text in chart.iter("text")]
        self.assertFalse([tick for tick in ticks if re.search("[0-9]e[+-]", tick)])
        of_threads = [text.text for chart in self.section(tree, "Threads").iter("svg") for text in chart.iter("text")]
        at_x = [tick for tick in of_threads if re.fullmatch("[0-9.]+", tick)]
        self.assertTrue(at_x and all(re.fullmatch("[0-9]+", tick) for tick in at_x), at_x)

    def tiles(self, tree):
        """Label, value and note of each key figure."""
        found = [[element.text.replace("\u00a0", " ") for element in tree.iter() if element.get("class") == part]
                 for part in ("label", "value", "note")]
        return list(zip(*found))

    def test_key_figures_show_latency_and_peak_per_direction(self):
        made = documents.bench()
        for series in made["series"]:  # steady, and smallest at a size that is not shown
            for point in series["points"]:
                point["rounds"] = []
                if series["id"] == "copies/to_device/mapping":
                    point["value"] = {2: 3.34, 8: 139, 65536: 2700}.get(point["x"], 150 + point["x"] / 20)
                if series["id"] == "copies/from_device/memcpy_async_pinned":
                    point["value"] = 7000 + point["x"] / 53
                if series["id"] == "copies/from_device/memcpy_pinned":
                    point["value"] = 7300 + point["x"] / 54
        tiles = self.tiles(self.page_of(made)[1])
        self.assertEqual([label for label, _, _ in tiles], [
            "Latency to the device, 8 B", "Latency of the driver's copy to the device, 8 B",
            "Peak bandwidth to the device", "Peak bandwidth of the driver's copy to the device",
            "Latency from the device, 8 B", "Latency of the driver's copy from the device, 8 B",
            "Peak bandwidth from the device", "Peak bandwidth of the driver's copy from the device"])
        self.assertEqual(tiles[0][1:], ("139 ns", "through the mapping"))
        self.assertEqual(tiles[2][1:], ("24.3 GB/s", "through the mapping at 64 KiB"))
        self.assertEqual(tiles[5][1:], ("7.00 µs", "cudaMemcpyAsync, pinned"))
        self.assertEqual(tiles[7][1:], ("53.9 GB/s", "cudaMemcpy, pinned at 256 MiB"))

    def test_key_figures_support_other_sizes_and_documents(self):
        made = documents.bench()
        made["series"] = [series for series in made["series"] if series["id"] == "copies/from_device/mapping"]
        made["series"][0]["points"] = made["series"][0]["points"][6:9]
        self.assertEqual([label for label, _, _ in self.tiles(self.page_of(made)[1])],
                         ["Latency from the device, 64 B", "Peak bandwidth from the device"])
        made = documents.bench()
        made["series"] = [series for series in made["series"] if series["group"] == "costs"]
        (label, _, note), = self.tiles(self.page_of(made)[1])
        self.assertEqual((label, note.split(",")[0]), ("pin", "at size 64 KiB"))
        made = documents.bandwidth(2)
        self.assertEqual(len(self.tiles(self.page_of(made)[1])), 2)

    def test_crossovers_match_the_model(self):
        # 138 + x / 24.5 = 3800 + x / 54: at 161 KiB, thus between 128 and 256 KiB.
        _, tree = self.page_of(documents.bench())
        section = self.section(tree, "Crossover sizes of the methods")
        self.assertEqual([element.text for element in section.iter("h4")],
                         ["Copy to the device", "Copy from the device"])
        text = self.texts(section.find(".//ul"))
        found = re.search(r"through the mapping is faster than cudaMemcpy, pinned up to about ([0-9.]+) KiB "
                          r"\(between 128 KiB and 256 KiB\); beyond, cudaMemcpy, pinned is faster", text)
        self.assertIsNotNone(found)
        self.assertAlmostEqual(float(found.group(1)), 161, delta=8)
        self.assertRegex(text, r"Between through the mapping and raw loop the noise hides any difference|"
                               r"at the others the noise hides any difference")

    def matrix(self, tree):
        """Returns the first figure and its table."""
        figure = next(tree.iter("figure"))
        return figure, next(table for table in figure.iter("table") if table.get("class") == "matrix")

    def test_matrix_has_x_across_and_y_down(self):
        made = documents.bandwidth(gpus=3)
        made["series"][0]["points"] = [documents.point(x, [100.0 * x + y], y) for x in range(3) for y in range(2)]
        _, tree = self.page_of(made)
        figure, table = self.matrix(tree)
        self.assertEqual(figure.find("h4").text, made["series"][0]["id"])
        self.assertIn("size 512 MiB", figure.find("figcaption").text)
        self.assertEqual([[cell.text for cell in row] for row in table.iter("tr")],
                         [["row \\ column", "0", "1", "2"], ["0", "0", "100", "200"], ["1", "1.00", "101", "201"]])
        shades = [cell.get("class") for cell in table.iter("td")]
        self.assertEqual((shades[0], shades[-1]), ("s0", "s8"))

    def test_x_named_row_runs_down(self):
        made = documents.bandwidth(gpus=2)
        made["series"] = made["series"][:1]
        made["series"][0].update(x_name="row", y_name="column", title="CPU(row) -> GPU(column)",
                                 conditions={"buffer_bytes": "1048576", "size_bytes": "many"},
                                 points=[documents.point(x, [100.0 * x + y], y) for x in range(1) for y in range(3)])
        _, tree = self.page_of(made)
        figure, table = self.matrix(tree)
        self.assertEqual([[cell.text for cell in row] for row in table.iter("tr")],
                         [["row \\ column", "0", "1", "2"], ["0", "0", "1.00", "2.00"]])
        self.assertEqual(figure.find("h4").text, made["series"][0]["id"] + ": CPU(row) -> GPU(column)")
        self.assertIn("buffer 1 MiB, size many", figure.find("figcaption").text)

    def test_shows_every_series_including_unknown_kinds(self):
        made = documents.strange()
        _, tree = self.page_of(made)
        text = self.texts(tree)
        for series in made["series"]:
            title = series["title"].replace("\u202e", "\ufffd")
            self.assertIn(" ".join(title.split()), text, series["id"])
        self.assertIn("nothing at all: no points", text)
        self.assertIn("same title (same/1)", text)
        self.assertIn("4 points at or below zero", text)

    def test_escapes_text_of_a_document(self):
        page, tree = self.page_of(documents.strange(), options=("--title", "</title><script>alert(1)</script>"))
        for word in ("<script", "<img", "\u202e"):
            self.assertFalse(word in page, word)
        self.assertIn('"><img src=x onerror=alert(1)> & Söhne', self.texts(tree))
        self.assertEqual(tree.find("head/title").text, "</title><script>alert(1)</script>")

    def test_warnings_come_first(self):
        _, tree = self.page_of(documents.strange())
        warnings = [element.text for element in tree.iter("p") if element.get("class") == "warning"]
        self.assertEqual(len(warnings), 4)
        self.assertIn("emulated device", warnings[0])
        self.assertIn("numactl", warnings[3])

    def test_thins_ten_thousand_points_in_the_picture_only(self):
        page, _ = self.page_of(documents.strange())
        self.assertTrue(">10000 B</th>" in page and ">9999 B</th>" in page)
        self.assertLess(max(len(path) for path in re.findall(r' d="([^"]*)"', page)), 20000)

    def test_one_document_links_to_sections_and_several_to_chapters(self):
        _, tree = self.page_of(documents.bandwidth(2))
        self.assertEqual([link.text for link in tree.iter("a")], self.headings(tree)[1:2] + ["Matrices"] +
                         ["Machine, clock and settings", "Notes"])

    def test_several_documents_become_chapters(self):
        _, tree = self.page_of(documents.bench(), documents.bandwidth(2), documents.strange())
        chapters = [element.find("h2").text for element in tree.iter("article")]
        self.assertEqual(chapters[:2], ["A: bench on NVIDIA H200", "B: bandwidth on NVIDIA H200"])
        self.assertEqual(len(chapters), 3)

    def test_supports_documents_without_series_or_machine(self):
        made = documents.head("bench")
        for field in ("place", "clock", "machine_noise", "settings"):
            del made[field]
        made["machine"].update(gpu_name="", cpu_model="")
        _, tree = self.page_of(made)
        self.assertIn("The document contains no series.", self.texts(tree))


class ReportOfTools(ReportTest):
    """The actual output of the tools on the emulated device."""

    def page_of_tool(self, *arguments):
        ended = run("gdrkit", *arguments, "--json")
        self.assertEqual(ended.code, 0, ended.err[-300:])
        return self.page_of(ended.out)[1], json.loads(ended.out)

    def test_shows_copylat_tables(self):
        tree, document = self.page_of_tool("copylat", "--size", "4096", "-w", "100", "-r", "100", "-c")
        by_id = {series["id"]: series for series in document["series"]}
        self.assertEqual(len(by_id), 4)
        for table in document["tables"]:
            method = "memcpy_pageable" if table["copies_by"] == "driver" else "mapping"
            points = by_id[f"tables/{table['direction']}/{method}"]["points"]
            self.assertEqual([(point["x"], point["value"], point["minimum"]) for point in points],
                             [(row["size_bytes"], row["median_us"], row["minimum_us"]) for row in table["rows"]])
        for expected in ("Latency against size", "Bandwidth against size"):
            self.assertIn(expected, self.headings(tree))
        self.assertIn("so they are not compared", self.texts(tree))

    def test_shows_raw_rows_of_copylat(self):
        tree, document = self.page_of_tool("copylat", "--size", "256", "--raw", "--rounds", "5", "--batch-us", "50")
        by_id = {series["id"]: series for series in document["series"]}
        self.assertEqual(len(document["raw"]["rows"]), 18)
        for row in document["raw"]["rows"]:
            series = by_id[f"raw/{row['direction']}/mapping"]
            self.assertEqual(series["control"], f"raw/{row['direction']}/raw")
            point = next(point for point in series["points"] if point["x"] == row["size_bytes"])
            self.assertEqual((point["value"], point["rounds"]), (row["library_median_ns"], row["library_rounds_ns"]))
        self.assertIn("Crossover sizes of the methods", self.headings(tree))

    def test_shows_pin_cost_of_copylat(self):
        tree, document = self.page_of_tool("copylat", "--pin-cost", "--pin-repeats", "20", "--pin-size", "65536")
        by_id = {series["id"]: series for series in document["series"]}
        self.assertEqual(len(by_id), 5 * len(document["pin_cost"]))
        for cost in document["pin_cost"]:
            point = by_id[f"pin_cost/{cost['content']}/pin"]["points"][0]
            self.assertEqual((point["x"], point["value"]), (cost["size_bytes"], cost["pin"]["median_us"]))
        self.assertIn("Cost of pinning and mapping", self.headings(tree))

    def test_copybw(self):
        tree, document = self.page_of_tool("copybw", "--size", "65536", "--sweep", "--write-iterations", "10",
                                           "--read-iterations", "10")
        for number, name in enumerate(("write_mib_per_s", "read_mib_per_s")):
            self.assertEqual([(point["x"], point["value"]) for point in document["series"][number]["points"]],
                             [(row["size_bytes"], row[name]) for row in document["results"]])
        self.assertIn("Bandwidth against size", self.headings(tree))

    def test_apiperf(self):
        tree, _ = self.page_of_tool("apiperf", "--iterations", "40", "--size", "131072")
        self.assertIn("Cost of pinning and mapping", self.headings(tree))


class ReportComparison(ReportTest):
    def comparison_of(self, older, newer):
        _, tree = self.page_of(older, newer)
        chapter = next(tree.iter("article"))
        self.assertEqual(chapter.find("h2").text, "B against A")
        return chapter, self.texts(chapter)

    def tables(self, chapter):
        """The rows of each table with a caption, by that caption."""
        return {table.find("caption").text: [[cell.text for cell in row] for row in table.find("tbody")]
                for table in chapter.iter("table") if table.find("caption") is not None}

    def test_highlights_only_the_slower_point(self):
        chapter, text = self.comparison_of(documents.bench(), documents.bench(4, slower=1.25))
        self.assertIn("2 of 178 points are worse in B beyond the noise.", text)
        self.assertIn("Nothing is better in B beyond the noise, of 178 points.", text)
        rows = self.tables(chapter)["B is worse"]
        self.assertEqual([row[:2] for row in rows], [["through the mapping, to the device", "64 KiB"],
                                                     ["through the mapping, from the device", "64 KiB"]])
        for row in rows:
            self.assertAlmostEqual(float(row[4]), 1.25, delta=0.03)
            self.assertLess(float(row[5]), float(row[4]))

    def test_faster_points_are_better_in_every_unit(self):
        older, newer = documents.bandwidth(2), documents.bandwidth(2)
        for point in newer["series"][0]["points"]:
            point["value"] *= 3
            point["rounds"] = [value * 3 for value in point["rounds"]]
            point["minimum"] *= 3
        older["series"] = older["series"][:1]
        for one in (older, newer):
            one["series"][0]["method"] = "gpu_kernel"
        chapter, text = self.comparison_of(older, newer)
        self.assertIn("4 of 4 points are better in B", text)
        self.assertEqual({row[4] for row in self.tables(chapter)["B is better"]}, {"0.333"})
        self.assertIn("device_to_device_memcpy_read_gpu_kernel: only in B", text)

    def test_ignores_changes_within_the_noise(self):
        for seed in (11, 12, 13) if IS_FULL else (11,):
            chapter, text = self.comparison_of(documents.bench(), documents.bench(seed))
            self.assertIn("Nothing is worse in B beyond the noise", text)
            self.assertNotIn("regression", text)
            self.assertEqual(self.tables(chapter), {"open": self.tables(chapter)["open"]})

    def test_reports_different_machines_instead_of_builds(self):
        newer = documents.bench(4, slower=1.5)
        newer["machine"].update(gpu_name="NVIDIA <H100>", driver_version="590.1")
        _, text = self.comparison_of(documents.bench(), newer)
        self.assertRegex(text, "different machines.*NVIDIA H200.*NVIDIA <H100>.*not builds")
        self.assertRegex(text, "Possible explanations of a change: driver: '580.159.04' then, '590.1' now")
        self.assertIn("(of two machines, not of two builds)", text)
        self.assertNotIn("regression", text)

    def test_shows_but_does_not_compare_different_tools(self):
        chapter, text = self.comparison_of(documents.bench(), documents.bandwidth(2))
        self.assertIn("compares with its own results only", text)
        self.assertEqual(list(chapter.iter("section")), [])

    def test_survives_unusual_documents(self):
        newer = documents.strange()
        del newer["series"][0]["points"][1]
        newer["series"][2]["unit"] = "us"
        _, text = self.comparison_of(documents.strange(), newer)
        self.assertIn('a"><b>, 1 point: only in A', text)
        self.assertIn("zeros has another unit in B", text)


class ReportFiles(ReportTest):
    def assert_refused(self, code, pattern, *arguments):
        ended = run("gdrkit", "report", *arguments)
        self.assertEqual((ended.code, ended.out), (code, ""), ended.err[-300:])
        self.assertRegex(ended.err, pattern)
        self.assertLess(len(ended.err), 1000)

    def test_rejects_invalid_documents_with_a_message(self):
        good = documents.bandwidth(2)
        point = good["series"][0]["points"][0]
        bad = {
            "no JSON": ("{", "not a JSON document"),
            "empty": ("", "empty"),
            "no UTF-8": (json.dumps(good).encode().replace(b"NVIDIA", b"\xff\xfe"), "not a JSON document"),
            "a list": ("[]", "should be an object"),
            "deep": ("[" * 100000, "not a JSON document"),
            "an old version": ({**good, "schema_version": 1}, "schema_version 1.*measure again"),
            "a new version": ({**good, "schema_version": 99}, "schema_version 99"),
            "other output": ({key: value for key, value in good.items() if key != "series"}, "is output of 'gdrkit .*' and contains no series.*bench --json'"),
            "NaN": (json.dumps(good).replace(json.dumps(point["value"]), "NaN", 1), "not a JSON document"),
            "too large": (json.dumps(good).replace('"value": ', '"value": 1e999, "other": ', 1), "JSON|finite"),
            "twice an id": ({**good, "series": good["series"][:1] * 2}, "of an earlier series"),
            "text as number": ({**good, "series": [{**good["series"][0], "points": [{**point, "value": "1"}]}]},
                               "value should be a number"),
        }
        for name, (content, pattern) in bad.items():
            with self.subTest(name):
                self.assert_refused(2, pattern, self.write("bad.json", content))
        self.assert_refused(2, "cannot open", self.file("nothing.json"))
        self.assert_refused(2, "cannot read|cannot open", self.directory)
        self.assert_refused(2, "larger than 256 MiB", "/dev/zero")

    def test_without_a_result_it_prints_the_usage(self):
        self.assert_refused(2, "no result given")
        self.assertIn("Usage: gdrkit report [options] RESULT...", run("gdrkit", "report", "--help").out)

    def test_output_replaces_the_old_file_atomically(self):
        source = self.write("in.json", documents.bandwidth(2))
        target = self.write("out.html", "old")
        os.symlink("out.html", self.file("link.html"))
        for name in ("out.html", "link.html", "new.html"):
            ended = run("gdrkit", "report", source, "-o", self.file(name))
            self.assertEqual((ended.code, ended.out), (0, ""), ended.err)
            self.assertTrue(self.file(name).read_text(encoding="utf-8").endswith("</html>\n"))
        self.assertTrue(self.file("link.html").is_symlink())
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.json", "link.html", "new.html", "out.html"])
        self.assertNotEqual(os.path.getsize(target), 3)

    def test_failed_run_keeps_the_old_page(self):
        bad = self.write("bad.json", "{")
        target = self.write("out.html", "old")
        self.assert_refused(2, "not a JSON document", bad, "-o", target)
        good = self.write("in.json", documents.bandwidth(2))
        self.assert_refused(1, "cannot write .*No such file", good, "-o", self.file("no/out.html"))
        self.assert_refused(1, "cannot write .*Is a directory", good, "-o", self.directory)
        self.assertEqual(target.read_text(encoding="utf-8"), "old")
        self.assertEqual(sorted(os.listdir(self.directory)), ["bad.json", "in.json", "out.html"])

    def test_full_disk_is_an_error_without_a_partial_page(self):
        good = self.write("in.json", documents.bandwidth(2))
        self.assert_refused(1, "cannot write /dev/full", good, "-o", "/dev/full")
        ended = run_without_space("gdrkit", "report", good)
        self.assertEqual(ended.code, 1)
        self.assertIn("No space left on device", ended.err)
        # A limit below the page's size: the old file stays, and no other file is created.
        target = self.write("out.html", "old")
        ended = run("/bin/bash", "-c", 'trap "" XFSZ; ulimit -f 4; "$0" report "$1" -o "$2"', os.path.join(BIN, "gdrkit"), good, target)
        self.assertEqual(ended.code, 1, ended.err[-300:])
        self.assertEqual(target.read_text(encoding="utf-8"), "old")
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.json", "out.html"])

    def test_never_overwrites_an_input(self):
        source = self.write("in.json", documents.bandwidth(2))
        os.symlink("in.json", self.file("symbolic"))
        os.link(source, self.file("hard"))
        for name in ("in.json", "symbolic", "hard", "./in.json"):
            self.assert_refused(2, "is an input", source, "-o", f"{self.directory}/{name}")
        json.loads(source.read_text(encoding="utf-8"))

    def test_prints_a_hint_instead_of_a_page_on_a_terminal(self):
        source = self.write("in.json", documents.bandwidth(2))
        controller, terminal = pty.openpty()
        ended = run("gdrkit", "report", source, stdout=terminal)
        os.close(terminal)
        os.close(controller)
        self.assertEqual(ended.code, 2)
        self.assertIn("-o", ended.err)

    def test_reads_a_result_from_a_pipe(self):
        ended = run("gdrkit", "report", "-", input=json.dumps(documents.bandwidth(2)))
        self.assertEqual(ended.code, 0, ended.err[-300:])
        self.assertIn("</html>", ended.out)


if __name__ == "__main__":
    unittest.main()
