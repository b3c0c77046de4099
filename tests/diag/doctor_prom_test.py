#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit doctor --prom: its output is valid and correct Prometheus text format."""
import json
import re
import unittest

from doctor_runs import RANK, m, run_on
from named import NAMED
from program import Test, run

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?(?:\d+(?:\.\d+)?(?:e[+-]\d+)?|\+Inf|NaN))")


def uncounted():
    """The server with adapters without counters."""
    return m.changed(m.server(), {f"/sys/class/infiniband/mlx5_{i}/ports/1/{kind}counters": None for i in range(2) for kind in ("", "hw_")})


def parse(text):
    """{metric: (type, {labels: value})}. Fails on text that node_exporter rejects or that violates conventions."""
    metrics, current, helped = {}, None, set()
    assert text.endswith("\n"), "the last line has no end"
    text.encode("ascii")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name, words = re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line).groups()
            assert name not in helped, line
            assert "\\" not in words
            helped.add(name)
        elif line.startswith("# TYPE "):
            current, kind = re.fullmatch(rf"# TYPE ({NAME}) (gauge|counter)", line).groups()
            assert current in helped and current not in metrics, line
            assert (kind == "counter") == current.endswith("_total"), line
            metrics[current] = (kind, {})
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line}"
            name, labels, value = match.groups()
            assert name == current, f"not below its TYPE: {line}"
            pairs = tuple(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
            assert len({label for label, _ in pairs}) == len(pairs), f"a label twice: {line}"
            assert pairs not in metrics[name][1], f"a series twice: {line}"
            metrics[name][1][pairs] = float(value)
    return metrics


def metrics_of(tree):
    """Returns the metrics and the document of a run."""
    ended = run_on(tree, "doctor", "--prom")
    assert ended.code == 0, ended.err
    return parse(ended.out), json.loads(run_on(tree, "doctor", "--json").out)


class DoctorProm(Test):
    def test_the_parser_rejects_the_same_input_as_node_exporter(self):
        good = '# HELP a b\n# TYPE a gauge\na{x="1"} 2\n'
        parse(good)
        for bad in (good[:-1], good + 'a{x="1"} 3\n', good + "b 1\n", good + 'a{x="\n"} 1\n', good + 'a{x="2",x="3"} 1\n', "a 1\n",
                    good + 'a{x="\\q"} 1\n', good + "a{y=1} 2\n", good + "a 1 2 3\n", good + "# TYPE a gauge\n", good + 'a{x="é"} 1\n'):
            with self.assertRaises((AssertionError, AttributeError, UnicodeEncodeError), msg=bad):
                parse(bad)

    def test_each_check_is_one_series_with_its_worst_state(self):
        for tree in (m.server(), m.changed(m.server(), {m.GPU_PORT + "/config": m.config(acs=0x1d)}), m.as_user(), {"/etc/hostname": "x\n"}):
            metrics, document = metrics_of(tree)
            expected = {(("id", check["id"]), ("group", check["group"]),
                         ("state", max((f["state"] for f in check["findings"]), key=RANK.index))): 1.0 for check in document["checks"]}
            self.assertEqual(metrics["gdrkit_doctor_check"][1], expected)
            self.assertEqual({labels[0][1]: value for labels, value in metrics["gdrkit_doctor_findings"][1].items()}, document["summary"])
            self.assertEqual(metrics["gdrkit_doctor_exit_code"][1], {(): document["exit_code"]})

    def test_exports_values_of_counters_and_links(self):
        port = "/sys/class/infiniband/mlx5_0/ports/1/"
        metrics, _ = metrics_of(m.changed(uncounted(), {
            port + "counters/symbol_error": "7\n", port + "counters/port_xmit_data": "18446744073709551615\n",
            port + "hw_counters/out_of_sequence": "3\n", m.NIC + "/aer_dev_correctable": "RxErr 4\nTOTAL_ERR_COR 5\n"}))
        adapters = metrics["gdrkit_adapter_counter_total"]
        self.assertEqual(adapters[0], "counter")
        self.assertEqual({(dict(labels)["counter"], dict(labels)["kind"]): value for labels, value in adapters[1].items()},
                         {("symbol_error", "error"): 7, ("out_of_sequence", "stress"): 3, ("port_xmit_data", "traffic"): 2.0**64})
        self.assertEqual(metrics["gdrkit_pcie_errors_total"][1][(("address", "0000:04:00.0"), ("counter", "aer_correctable"))], 5)
        self.assertEqual(metrics["gdrkit_pcie_link_width_lanes"][1][(("address", "0000:03:00.0"),)], 16)
        self.assertEqual(metrics["gdrkit_pcie_link_speed_gigatransfers_per_second"][1][(("address", "0000:03:00.0"),)], 32)
        self.assertEqual(metrics["gdrkit_counters_not_readable"][1], {(): 0})

    def test_omits_and_counts_invalid_counters(self):
        port = "/sys/class/infiniband/mlx5_0/ports/1/counters/"
        metrics, _ = metrics_of(m.changed(uncounted(), {port + "symbol_error": "many\n", port + "link_downed": m.UNREADABLE,
                                                       m.NIC + "/aer_dev_fatal": "nothing\n"}))
        self.assertEqual(metrics["gdrkit_adapter_counter_total"][1], {})
        self.assertEqual(metrics["gdrkit_counters_not_readable"][1], {(): 3})

    def test_exports_metrics_of_every_machine(self):
        for name, machine in NAMED.items():
            with self.subTest(name):
                metrics, document = metrics_of(machine())
                self.assertEqual(len(metrics["gdrkit_doctor_check"][1]), len(document["checks"]))

    def test_hostile_names_are_escaped(self):
        tree = m.changed(uncounted(), {"/sys/class/infiniband/mlx5_1": None})
        for name in ('a"b', "a\\b", "a\nb", "a\u00e9", "a}b 1\n# TYPE x gauge", "a\u00e8"):
            directory = "/sys/class/infiniband/" + name
            tree.update({directory + "/ports/1/counters/symbol_error": "1\n", directory + "/ports/1/state": "4: ACTIVE\n"})
        metrics, _ = metrics_of(tree)
        names = {dict(labels)["adapter"] for labels in metrics["gdrkit_adapter_counter_total"][1]}
        self.assertEqual(names, {'a\\"b', "a\\\\b", "a\\nb", "a??", "a}b 1\\n# TYPE x gauge"})  # the two a?? are one series

    def test_reports_a_failure_as_a_metric_with_exit_code_0(self):
        """A timer that moves the file into place if the doctor returns 0 must not stop at the first failure."""
        self.assertEqual(run_on(m.changed(m.server(), {m.GPU_PORT + "/config": m.config(acs=0x1d)}), "doctor", "--prom").code, 0)
        self.assertEqual(run("gdrkit", "doctor", "--prom", "--root", "/nothing/there").code, 4)


if __name__ == "__main__":
    unittest.main()
