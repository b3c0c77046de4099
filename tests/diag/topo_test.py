#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit topo on written machines: the matrices, the best adapters, unknown facts, exit codes."""
import json
import re
import tempfile
import time
import unittest
import xml.etree.ElementTree

from doctor_runs import m, run_on
import nvml
from named import NAMED
from parts import gpu_directories
from program import Test, run


def tree_of(name):
    return NAMED[name]()


def topology_of(tree):
    """The document of a machine."""
    ended = run_on(tree, "topo", "--json")
    if ended.code not in (0, 3):
        raise AssertionError(ended.err)
    document = json.loads(ended.out)
    if document["exit_code"] != ended.code:
        raise AssertionError("the document names another exit code")
    return document


def cell(document, library, a, b):
    names = [device["name"] for device in document["devices"]]
    return document["distances"][library][names.index(a)][names.index(b)]


def best(document):
    return [(b["adapter"], b["class"]) for b in document["best_adapters"]]


def with_nvlinks(tree, switch_links=0, direct=None, c2c=0):
    """`tree` with NVML's facts: active links of each GPU to switches, or direct ones: {(a, b): count} by GPU number."""
    addresses = [directory.rsplit("/", 1)[1] for directory in gpu_directories(tree)]
    gpus = []
    for number, address in enumerate(addresses):
        remotes = [("", "switch")] * switch_links
        for (a, b), count in (direct or {}).items():
            if number in (a, b):
                remotes += [(addresses[b if number == a else a], "gpu")] * count
        links = [{"index": i, "is_active": True, "can_p2p": True, "remote": remote, "remote_kind": kind}
                 for i, (remote, kind) in enumerate(remotes)]
        gpus.append({"index": number, "address": address, "c2c_links": c2c, "links": links})
    recorded = {"schema": "gdrkit.nvml/1", "outcome": "found", "gpus": gpus, "pairs": []}
    return m.changed(tree, {nvml.PATH: json.dumps(recorded) + "\n"})


def matrix_of(lines, title):
    """Cells by (row, column) of the matrix below the line that starts with `title`, of all its blocks."""
    cells, columns = {}, []
    for line in lines[[i for i, line in enumerate(lines) if line.startswith(title)][0] + 1:]:
        words = line.split()
        if line.startswith(" "):
            columns = [word for word in re.split(r"  +", line.strip()) if word != "NUMA Affinity"]
        elif words and re.fullmatch(r"(GPU|NIC)\d+", words[0]):
            cells.update({(words[0], column): word for column, word in zip(columns, words[1:])})
        elif words:
            break
    return cells


def _without_nvml(name):
    """The machine without NVML's facts."""
    return m.changed(tree_of(name), {nvml.PATH: None})


class TopoMachines(Test):
    def test_a_dgx_has_an_adapter_behind_the_switch_of_each_gpu(self):
        document = topology_of(m.changed(tree_of("dgx-h100-ok"), {"/gdrkit": None}))
        self.assertEqual(best(document), [(f"mlx5_{i}", "PIX") for i in range(8)])
        for library, word in (("smi", "PIX"), ("nccl", "PIX"), ("nvshmem", "PIX"), ("ucx", "near")):
            self.assertEqual(cell(document, library, "GPU3", "mlx5_3"), word)
        self.assertEqual([cell(document, "smi", "GPU0", other) for other in ("mlx5_1", "mlx5_4", "GPU1", "GPU4")],
                         ["NODE", "SYS", "NODE", "SYS"])
        self.assertEqual((cell(document, "nccl", "GPU0", "mlx5_1"), cell(document, "nccl", "GPU0", "mlx5_4")), ("PHB", "SYS"))
        self.assertEqual(document["looked_at"]["nvswitches"], 4)
        self.assertTrue(document["distances_are_over_pcie_alone"])

    def test_shows_nvlink_of_a_recording_at_any_level(self):
        document = topology_of(with_nvlinks(tree_of("dgx-h100-ok"), switch_links=18))
        self.assertFalse(document["distances_are_over_pcie_alone"])
        self.assertEqual((cell(document, "smi", "GPU0", "GPU7"), cell(document, "nccl", "GPU0", "GPU7")), ("NV18", "NVL"))
        self.assertEqual(cell(document, "nccl", "GPU0", "mlx5_7"), "PXN", "by GPU7")
        self.assertEqual(best(document), [(f"mlx5_{i}", "PIX") for i in range(8)])

    def test_direct_nvlinks_are_counted_by_pair(self):
        tree = with_nvlinks(tree_of("hgx-node-sys"), direct={(0, 1): 4})
        self.assertEqual(cell(topology_of(tree), "smi", "GPU0", "GPU1"), "NV4")

    def test_nvlink_that_was_not_queried_is_unknown_not_absent(self):
        lines = run_on(_without_nvml("hgx-node-sys"), "topo", "--as", "all").lines
        self.assertEqual(matrix_of(lines, "Distances as nvidia-smi")["GPU0", "GPU1"], "SYS*")
        self.assertEqual(matrix_of(lines, "Distances as nvidia-smi")["GPU0", "NIC0"], "NODE")
        self.assertEqual(matrix_of(lines, "Distances for NCCL")["GPU0", "NIC0"], "PHB*")
        self.assertEqual(matrix_of(lines, "Distances for NVSHMEM")["GPU0", "NIC0"], "NODE")
        self.assertTrue([line for line in lines if line.startswith("* over PCIe only")], lines)
        self.assertNotIn("*", run_on(with_nvlinks(tree_of("hgx-node-sys")), "topo", "--as", "all").out)

    def test_gpu_on_a_cpu_link_reaches_adapters_through_it(self):
        self.assertEqual(best(topology_of(_without_nvml("gh200"))), [("mlx5_0", "NODE")])
        self.assertEqual(best(topology_of(with_nvlinks(tree_of("gh200"), c2c=10))), [("mlx5_0", "P2C")])

    def test_excludes_adapters_without_an_active_port(self):
        tree = m.changed(tree_of("dgx-h100-ok"), {"/sys/class/infiniband/mlx5_2/ports/1/state": "1: DOWN\n"})
        document = topology_of(tree)
        self.assertNotIn("mlx5_2", [name for name, _ in best(document)])
        adapter = [d for d in document["devices"] if d["name"] == "mlx5_2"][0]
        self.assertEqual((adapter["usable"], adapter["why"]), ("no", "no port is active"))

    def test_nodes_of_one_kind_have_one_hash(self):
        one = topology_of(tree_of("dgx-h100-ok"))["matching_hash"]
        self.assertEqual(one, topology_of(tree_of("dgx-h100-acs"))["matching_hash"])
        self.assertNotEqual(one, topology_of(tree_of("vm-azure-8x"))["matching_hash"])


class TopoColumns(Test):
    def test_large_matrix_fits_110_columns_with_every_cell(self):
        tree = m.changed(with_nvlinks(tree_of("dgx-h100-ok"), switch_links=18), {"/sys/class/infiniband/mlx5_2/ports/1/state": "1: DOWN\n"})
        document = topology_of(tree)
        lines = run_on(tree, "topo", "--as", "all").lines
        self.assert_fits(lines)
        names = [f"GPU{i}" for i in range(8)] + [f"NIC{i}" for i in range(10)]
        for library, title in (("smi", "Distances as nvidia-smi"), ("nccl", "Distances for NCCL"),
                               ("nvshmem", "Distances for NVSHMEM"), ("ucx", "Distances for UCX")):
            cells = matrix_of(lines, title)
            self.assertEqual([[cells[row, column] for column in names] for row in names], document["distances"][library])
            self.assertEqual(cells["GPU3", "CPU Affinity"], "0-55,112-167")

    def test_a_matrix_that_fits_is_one_block(self):
        out = run_on(with_nvlinks(tree_of("hgx-node-sys")), "topo").out
        block = out[out.index("Distances as nvidia-smi"):].split("\n\n")[0]
        self.assertRegex(block, r"GPU0 .*NIC0 .*CPU Affinity +NUMA Affinity\n")

    def test_wraps_a_long_reason_with_indentation(self):
        state = "/sys/class/infiniband/mlx5_0/ports/1/state"
        self.assert_fits(run_on(m.changed(m.server(), {state: m.UNREADABLE}), "topo").lines)


class TopoUnknown(Test):
    def test_an_unreadable_numa_node_is_unknown_with_its_reason(self):
        tree = tree_of("hgx-node-sys")
        place = [path for path in tree if path.endswith("0000:31:00.0/numa_node")][0]
        tree = m.changed(tree, {place: m.UNREADABLE})
        document = topology_of(tree)
        self.assertIsNone(cell(document, "smi", "GPU0", "mlx5_0"))
        self.assertEqual({u["why"] for u in document["unknown"] if u["library"] == "smi"},
                         {place + ": was unreadable when the machine was recorded"})
        self.assertEqual(cell(document, "smi", "GPU1", "mlx5_1"), "NODE")
        ended = run_on(tree, "topo")
        self.assertEqual(matrix_of(ended.lines, "Distances as nvidia-smi")["GPU0", "NIC0"], "?")
        self.assertIn("? unknown: " + place, ended.out)

    def test_reports_unreadable_ports(self):
        tree = m.changed(m.server(), {"/sys/class/infiniband/mlx5_0/ports": m.UNREADABLE})
        adapter = [d for d in topology_of(tree)["devices"] if d["name"] == "mlx5_0"][0]
        self.assertEqual(adapter["usable"], "unknown")
        self.assertIn("unknown whether its ports can be used", run_on(tree, "topo").out)

    def test_prints_the_search_criteria_without_a_gpu(self):
        start = time.monotonic()
        ended = run_on(m.without_gpu(), "topo")
        seconds = time.monotonic() - start
        self.assertEqual(ended.code, 0)
        self.assertIn("vendor 0x10de and class 0x03", ended.out)
        self.assertIn("No RDMA adapter: /sys/class/infiniband", ended.out)
        self.assertLess(seconds, 30)  # documented as one second; the test machine may be busy

    def test_exits_with_3_without_a_device_list(self):
        document = topology_of({"/etc/hostname": "x\n"})
        self.assertEqual(document["exit_code"], 3)
        self.assertIn("/sys/bus/pci/devices", document["missing"])
        self.assertEqual(topology_of(m.changed(m.server(), {"/sys/bus/pci/devices": m.UNREADABLE}))["exit_code"], 3)

    def test_escapes_hostile_text(self):
        tree = m.changed(m.server(), {m.GPU + "/local_cpulist": "\x1b[2J\n", m.GPU + "/numa_node": "\x1b]0;x\n",
                                      "/gdrkit/nvml.json": "\x1b{"})
        for arguments in ((), ("--as", "all"), ("--json",)):
            self.assertNotIn("\x1b", run_on(tree, "topo", *arguments).out)


class TopoNcclFile(Test):
    def out_and_in(self, tree):
        """The document of a machine, and the document of the file that it writes for NCCL."""
        ended = run_on(tree, "topo", "--nccl-xml")
        self.assertEqual(ended.code, 0, ended.err)
        path = self.file("topology.xml")
        path.write_text(ended.out, encoding="ascii")
        return topology_of(tree), json.loads(run("gdrkit", "topo", "--from-nccl-xml", path, "--json").out), ended.out

    def test_nccl_file_describes_the_same_topology(self):
        for name in ("dgx-h100-ok", "hgx-a100-cascade", "hgx-node-sys", "epyc-nps4", "vm-azure-8x", "aws-p5-efa"):
            with self.subTest(name):
                machine, file, _ = self.out_and_in(tree_of(name))
                self.assertEqual(file["distances"], {"nccl": machine["distances"]["nccl"]})
                self.assertEqual([d["name"] for d in file["devices"]], [d["name"] for d in machine["devices"]])
                self.assertEqual([b["gpu"] for b in file["best_adapters"]], [b["gpu"] for b in machine["best_adapters"]])

    def test_file_has_the_attributes_required_by_nccl(self):
        _, _, text = self.out_and_in(tree_of("dgx-h100-ok"))
        system = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(system.attrib, {"version": "1"})
        self.assertEqual([cpu.attrib["numaid"] for cpu in system], ["0", "1"])
        gpu = system.find(".//pci[@busid='0000:13:00.0']")
        self.assertEqual((gpu.attrib["class"], gpu.attrib["link_speed"], gpu.attrib["link_width"]),
                         ("0x030200", "32.0 GT/s PCIe", "16"))
        self.assertEqual(gpu.find("gpu/nvlink").attrib["count"], "18")
        self.assertEqual(system.find(".//net[@name='mlx5_3']").attrib["speed"], "400000")

    def test_writes_no_file_for_an_unknown_machine(self):
        place = [path for path in tree_of("hgx-node-sys") if path.endswith("0000:31:00.0/numa_node")][0]
        ended = run_on(m.changed(tree_of("hgx-node-sys"), {place: "?\n"}), "topo", "--nccl-xml")
        self.assertEqual((ended.code, ended.out), (3, ""))
        self.assertIn("0000:31:00.0/numa_node", ended.err)

    def test_invalid_file_exits_with_4_and_the_line(self):
        path = self.file("x.xml")
        for text, word in (("<!DOCTYPE s [<!ENTITY a 'b'>]>\n<s/>", "line 1"), ("<system version='1'>\n<cpu>\n", "line"),
                           ("<html/>", "system"), ("<system version='2'/>", "version 1"), ("", "line 1"), ("<a>" * 9999, "deep"),
                           ("x" * (5 << 20), "4 MiB")):
            path.write_text(text, encoding="ascii")
            ended = run("gdrkit", "topo", "--from-nccl-xml", path)
            self.assertEqual((ended.code, ended.out), (4, ""), text[:40])
            self.assertIn(word, ended.err)
        for place in (self.directory, self.file("none")):
            self.assertEqual(run("gdrkit", "topo", "--from-nccl-xml", place).code, 4)


class TopoPictures(Test):
    SVG = "{http://www.w3.org/2000/svg}"

    def texts(self, ended):
        """The texts of a picture, which must be valid XML."""
        self.assertEqual(ended.code, 0, ended.err)
        self.assertNotIn("http", ended.out.replace('"http://www.w3.org/2000/svg"', ""))
        return [text.text for text in xml.etree.ElementTree.fromstring(ended.out).iter(self.SVG + "text")]

    def test_picture_shows_nodes_switches_devices_and_links(self):
        tree = tree_of("dgx-h100-ok")
        texts = self.texts(run_on(tree, "topo", "--svg"))
        for number in range(8):
            self.assertIn(f"GPU{number}", texts)
        for word in ("NUMA node 0", "NUMA node 1", "pci0000:10", "0000:11:00.0", "mlx5_9", "NVSwitch3", "0000:d9:00.0, 200 Gb/s",
                     "16 x 32 GT/s", "0000:13:00.0, 18 NVLinks"):
            self.assertIn(word, texts)
        self.assertEqual(texts.count("switch"), 8)
        slow = {path: "8\n" for path in tree if path.endswith("0000:14:00.0/current_link_width")}
        self.assertIn("8 x 32 GT/s (of 16 x 32)", self.texts(run_on(m.changed(tree, slow), "topo", "--svg")))

    def test_boxes_do_not_overlap_and_stay_inside(self):
        for name in ("dgx-h100-ok", "hgx-a100-cascade", "vm-azure-8x", "gh200", "epyc-nps4"):
            picture = xml.etree.ElementTree.fromstring(run_on(tree_of(name), "topo", "--svg").out)
            width, height = int(picture.attrib["width"]), int(picture.attrib["height"])
            boxes = [tuple(int(box.attrib[key]) for key in ("x", "y", "width", "height"))
                     for box in picture.iter(self.SVG + "rect") if box.attrib.get("rx") == "5"]
            self.assertGreater(len(boxes), 3, name)
            for i, (x, y, w, h) in enumerate(boxes):
                self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height, name)
                for other in boxes[i + 1:]:
                    self.assertTrue(x + w <= other[0] or other[0] + other[2] <= x or y + h <= other[1] or other[1] + other[3] <= y,
                                    (name, boxes[i], other))

    def test_direct_nvlinks_are_lines(self):
        tree = with_nvlinks(tree_of("hgx-node-sys"), direct={(0, 1): 4})
        self.assertIn("4 NVLinks", run_on(tree, "topo", "--svg").out)
        self.assertRegex(run_on(tree, "topo", "--dot").out, r"n\d+ -- n\d+ \[label=\"4 NVLinks\"")

    def test_the_graph_has_an_edge_for_each_device(self):
        text = run_on(tree_of("dgx-h100-ok"), "topo", "--dot").out
        nodes = re.findall(r"(?m)^  n(\d+) \[label=", text)
        edges = re.findall(r"(?m)^  n(\d+) -- n(\d+) ", text)
        self.assertEqual(len(nodes), 2 + 11 + 8 + 8 + 10 + 4)
        self.assertEqual(len(edges), len(nodes) - 2)
        self.assertEqual(len({below for _, below in edges}), len(edges))
        self.assertTrue(text.startswith("graph topology {") and text.endswith("}\n"))

    def test_hostile_names_remain_text(self):
        tree = m.changed(m.server(), {"/sys/class/infiniband/<b>&\"x/device": m.Link(m.NIC)})
        self.assertIn('<b>&"x', self.texts(run_on(tree, "topo", "--svg")))
        self.assertIn('label="<b>&\\"x', run_on(tree, "topo", "--dot").out)

    def test_draws_an_nccl_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(run_on(tree_of("hgx-a100-cascade"), "topo", "--nccl-xml").out)
            file.flush()
            texts = self.texts(run("gdrkit", "topo", "--from-nccl-xml", file.name, "--svg"))
        self.assertEqual((texts.count("switch"), [t for t in texts if t.startswith("pci")]), (3, []))


class TopoProgram(Test):
    def test_this_machine_is_printed(self):
        for arguments in ((), ("--json",), ("--level", "probe")):
            self.assertIn(run("gdrkit", "topo", *arguments).code, (0, 3), arguments)

    def test_exit_codes_distinguish_usage_and_recording_errors(self):
        self.assert_wrong_usage(["topo"], (
            ("--as", "mpi"), ("--level", "deep"), ("words",), ("--nothing",), ("--json", "--nccl-xml"), ("--dot", "--svg"),
            ("--from-nccl-xml", "x", "--root", "y")))
        self.assertEqual(run("gdrkit", "topo", "--root", "/nothing/there").code, 4)


if __name__ == "__main__":
    unittest.main()
