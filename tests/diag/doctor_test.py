#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit doctor on written machines: each check where it is ok, where it reports a fault, and where it is unknown."""
import importlib
import json
import pathlib
import time
import unittest

from doctor_runs import TOP, examine, m, run_on, worst
from arm import gb300_datadirect  # tests/fixtures/machines, which doctor_runs makes known
from program import Test, run

import guests  # pylint: disable=wrong-import-position
import hostile  # pylint: disable=wrong-import-position
import nvml  # pylint: disable=wrong-import-position
import servers  # pylint: disable=wrong-import-position

# None of these has a fault; a check that does not apply to the first one is ok on another.
HEALTHY = {make.__name__: make() for make in (m.server, m.roce_server, m.container, m.guest_host, servers.two_switches)}
# Those that a case may name; of the others not all facts were recorded.
BASES = {**HEALTHY, **{make.__name__: make() for make in (gb300_datadirect, guests.flat_guest)}, "one_switch": servers.one_switch(acs=0x0001),
         "two_roots": servers.two_roots(acs=0x0001, kind="identity")}
# These depend on ports, links, NUMA nodes and the CPU, which other checks judge, and may change with any of those.
DERIVED = {"topo.pair", "topo.balance", "topo.vm_flat", "pcie.path_min", "iommu.smmu"}


def _cases():
    """Those of every file in doctor_cases."""
    found = {}
    for path in sorted(pathlib.Path(TOP, "tests", "diag", "doctor_cases").glob("*.py")):
        cases = importlib.import_module("doctor_cases." + path.stem).CASES
        assert not set(cases) & set(found), path
        found.update(cases)
    return found


CASES = _cases()
# Checks that only inform and never report a fault.
INFORMS = {check for check, cases in CASES.items() if not {state for _, state, *_ in cases} & {"warn", "fail"}}


class DoctorCases(Test):
    def test_no_check_reports_a_fault_on_a_healthy_machine(self):
        for name, tree in HEALTHY.items():
            code, found = examine(tree, "--strict")
            self.assertEqual({check: findings for check, findings in found.items()
                              if worst(findings) not in ("ok", "skip") + ("info",) * (name != "server" or check in INFORMS)},
                             {}, name)
            self.assertEqual(code, 0)

    def test_each_fault_changes_its_check_and_no_other(self):
        healthy = {name: examine(tree)[1] for name, tree in BASES.items()}
        for check, cases in CASES.items():
            for changes, state, others, *more in cases:
                base, *arguments = more or ["server"]
                code, found = examine(m.changed(BASES[base], changes), *arguments)
                with self.subTest(f"{check}: {list(changes)} of {base}"):
                    self.assertEqual(worst(found[check]), state)
                    different = {c for c in found if found[c] != healthy[base][c]} - {check}
                    if others is not None:
                        self.assertEqual(different - (DERIVED - others), others, "others that changed, and those that the case names")
                    states = {worst(findings) for findings in found.values()}
                    self.assertEqual(code == 1, "fail" in states)

    def test_each_check_has_cases_for_ok_fault_and_unknown(self):
        healthy = [examine(tree)[1] for tree in BASES.values()]
        for check, cases in CASES.items():
            states = {state for _, state, *_ in cases}
            self.assertIn("unknown", states, check)
            self.assertTrue(states & {"info", "warn", "fail"}, check)
            self.assertIn("ok", states | {worst(found[check]) for found in healthy}, check)


class DoctorMachines(Test):
    def test_prints_the_search_criteria_without_a_gpu(self):
        start = time.monotonic()
        ended = run_on(m.without_gpu(), "doctor", "--verbose")
        seconds = time.monotonic() - start
        self.assertEqual(ended.code, 0, ended.out)
        self.assertIn("vendor 0x10de and class 0x03", " ".join(ended.out.split()))
        self.assertIn("0 NVIDIA GPUs", ended.out)
        self.assertLess(seconds, 30)  # documented as one second; the test machine may be busy

    def test_locked_memory_does_not_matter_without_rdma(self):
        small = {"/proc/self/limits": m.limits(lock="65536")}
        code, found = examine(m.changed(m.without_gpu(), small))
        self.assertEqual((code, worst(found["lim.memlock"])), (0, "skip"))
        adapter_alone = {path: value for path, value in m.server().items() if path.startswith("/sys/class/infiniband")}
        self.assertEqual(worst(examine(m.changed(m.without_gpu(), {**adapter_alone, **small}))[1]["lim.memlock"]), "fail")
        unread = m.changed(m.without_gpu(), {"/sys/bus/pci/devices": m.UNREADABLE, **small})
        self.assertEqual(worst(examine(unread)[1]["lim.memlock"]), "fail", "there may be a GPU")

    def test_an_empty_machine_has_unknown_required_facts(self):
        code, found = examine({"/etc/hostname": "x\n"})
        self.assertEqual(code, 3)
        self.assertLessEqual({worst(f) for f in found.values()}, {"skip", "unknown", "ok"})
        self.assertEqual(worst(found["drv.loaded"]), "unknown")

    def test_acs_is_unknown_without_root(self):
        code, found = examine(m.as_user())
        self.assertEqual(code, 0)
        for check in ("acs.redirect", "pcie.mrrs", "pcie.mps", "rebar.cap"):
            self.assertEqual({state for state, _, _ in found[check]}, {"unknown"}, check)
            self.assertIn("only 64 bytes", found[check][0][2])
        self.assertEqual(examine(m.as_user(), "--strict")[0], 3)

    def test_redirection_reports_only_ports_on_the_path(self):
        tree = m.changed(m.server(), {path + "/config": m.config(acs=0x1d) for path in
                                      (m.ROOT, m.SWITCH, m.GPU_PORT, m.NIC_PORT, m.NIC2_PORT)})
        code, found = examine(tree)
        self.assertEqual(code, 1)
        self.assertEqual([(state, port) for state, port, _ in found["acs.redirect"]],
                         [("fail", f"0000:02:0{i}.0") for i in range(3)])

    def test_terminates_on_cyclic_capabilities(self):
        space = hostile.circling()
        _, found = examine(m.changed(m.server(), {m.GPU_PORT + "/config": space, m.NIC + "/config": space}))
        self.assertIn("damaged", [text for _, port, text in found["acs.redirect"] if port == "0000:02:00.0"][0])
        self.assertIn("damaged", [text for _, nic, text in found["pcie.mrrs"] if nic == "0000:04:00.0"][0])


class DoctorProgram(Test):
    def test_this_machine_has_a_verdict(self):
        document_code = run("gdrkit", "doctor", "--json")
        self.assertIn(document_code.code, (0, 1, 3))
        document = json.loads(document_code.out)
        self.assertEqual(document["schema"], "gdrkit.doctor/1")
        self.assertEqual(document["level"], "quick")
        self.assertEqual({check["id"] for check in document["checks"]} | set(document["not_run"]), set(CASES))
        self.assertEqual(sum(document["summary"].values()), sum(len(c["findings"]) for c in document["checks"]))

    def test_level_quick_skips_and_reports_checks_that_open_devices(self):
        probed = {line.split()[0] for line in run("gdrkit", "doctor", "list").lines if line.split()[2] == "probe"}
        self.assertIn("gpu.mig", probed)
        self.assertEqual(set(json.loads(run("gdrkit", "doctor", "--json").out)["not_run"]), probed)
        self.assertIn(f"{len(probed)} checks not run, because they open devices; add --level probe", run("gdrkit", "doctor").lines[-2:])
        document = json.loads(run("gdrkit", "doctor", "--level", "probe", "--json").out)
        self.assertEqual((document["level"], document["not_run"]), ("probe", []))
        self.assertEqual({check["id"] for check in document["checks"]}, set(CASES))
        _, found = examine(m.server())
        self.assertLessEqual(probed, set(found), "a recording holds what level probe found")

    def test_a_check_that_opens_devices_is_rejected_at_level_quick(self):
        self.assert_rejected(["doctor", "--only"], [((word,), "add --level probe") for word in
                                                   ("gpu.mig", "nvlink", "nvl*", "gpu.ecc,bar1.size")])
        self.assertIn(run("gdrkit", "doctor", "--only", "gpu.mig", "--level", "probe").code, (0, 1, 3))
        self.assertIn(run("gdrkit", "doctor", "--only", "bar1*").code, (0, 1, 3), "one of them reads files")

    def test_list_and_explain_contain_every_check(self):
        listed = [line.split()[0] for line in run("gdrkit", "doctor", "list").lines]
        self.assertEqual(set(listed), set(CASES))
        for check in listed:
            ended = run("gdrkit", "doctor", "explain", check)
            self.assertEqual(ended.code, 0)
            for part in ("reads", "why it matters", "remedy (needs", "how to verify"):
                self.assertIn(part, ended.out, check)
            self.assertLessEqual(max(len(line) for line in ended.lines), 110, check)

    def test_list_and_explain_have_json(self):
        listed = json.loads(run("gdrkit", "doctor", "list", "--json").out)
        self.assertEqual(listed["schema"], "gdrkit.doctor-list/1")
        self.assertEqual([check["id"] for check in listed["checks"]], [line.split()[0] for line in run("gdrkit", "doctor", "list").lines])
        self.assertIn({"id": "drv.loaded", "group": "driver", "level": "quick", "title": "NVIDIA's kernel module is loaded", "is_required": True},
                      listed["checks"])
        explained = json.loads(run("gdrkit", "doctor", "explain", "acs.redirect", "--json").out)
        self.assertEqual((explained["schema"], explained["id"], explained["group"], explained["remedy"]["needs_root"]),
                         ("gdrkit.doctor-explain/1", "acs.redirect", "acs", True))
        text = " ".join(run("gdrkit", "doctor", "explain", "acs.redirect").out.split())
        for part in (explained["reads"], explained["why"], explained["remedy"]["command"], explained["remedy"]["risk"], explained["trap"]):
            self.assertIn(" ".join(part.split()), text)

    def test_unexpected_gpu_count_is_a_failure(self):
        for number, code, state in (("1", 0, "ok"), ("2", 1, "fail"), ("0", 1, "fail")):
            ended, found = examine(m.server(), "--expect-gpus", number)
            self.assertEqual((ended, worst(found["gpu.count"])), (code, state), number)
        self.assertEqual(set(examine(m.server(), "--expect-gpus", "1", "--only", "bar1.size")[1]), {"bar1.size", "gpu.count"})
        self.assertEqual(worst(examine(m.server())[1]["gpu.count"]), "skip")
        files = m.changed(m.server(), {nvml.PATH: None})
        self.assertEqual(examine(files, "--expect-gpus", "1")[1]["gpu.count"], [("ok", "", "1 GPU in PCI, 1 expected")])
        lost = m.changed(m.server(), {nvml.PATH: nvml.of(m.server(), first={"address": nvml.failed()})})
        self.assertEqual(examine(lost, "--expect-gpus", "1")[1]["gpu.count"], [("fail", "", "0 GPUs in NVML, 1 expected")])
        for arguments in (("--expect-gpus", "-1"), ("--expect-gpus", "many"), ("--expect-gpus", "1", "--watch", "1"),
                          ("diff", "/", "/", "--expect-gpus", "1")):
            self.assertEqual(run("gdrkit", "doctor", *arguments).code, 2, arguments)

    def test_help_lists_every_level(self):
        for command in ("doctor", "topo", "env", "snapshot"):
            text = " ".join(run("gdrkit", command, "--help").out.split())
            for level in ("quick", "probe", "cuda"):
                self.assertIn(level, text[text.index("--level LEVEL"):][:400], command)

    def test_prints_reason_and_remedy_below_a_failure(self):
        tree = m.changed(m.server(), {m.GPU_PORT + "/config": m.config(acs=0x1d)})
        ended = run_on(tree, "doctor", "--only", "acs*")
        checks = json.loads(run_on(tree, "doctor", "--only", "acs.redirect", "--json").out)["checks"]
        self.assertEqual(ended.code, 1)
        at = [i for i, line in enumerate(ended.lines) if line.startswith("FAIL acs.redirect")][0]
        advice = " ".join(" ".join(ended.lines[at + 1:]).split())
        self.assertRegex(advice, r"^why .* remedy sudo setpci -s 0000:02:00\.0 .* \(needs root; .*\) verify ")
        remedy = [f["remedy"] for f in checks[0]["findings"] if f["state"] == "fail"][0]
        self.assertEqual((remedy["needs_root"], remedy["needs_reboot"], remedy["survives_boot"]), (True, False, False))

    def test_selects_checks_by_option(self):
        for arguments, expected in ((("--only", "bar1.size,acs*"), {"bar1.size", "acs.redirect", "acs.override", "acs.vm_ats", "acs.datadirect",
                                                                 "acs.persist"}),
                                    (("--only", "env,ctr", "--skip", "environment,ctr.caps"), {"ctr.devices", "ctr.cgroup", "ctr.rdma_ns"}),
                                    (("--only", "adapter", "--skip", "nic.sm,nic.f*,nic.m*,nic.c*"), {"nic.state", "nic.rate"})):
            self.assertEqual(set(examine(m.server(), *arguments)[1]), expected)

    def test_exit_codes_distinguish_usage_and_recording_errors(self):
        self.assert_wrong_usage(["doctor"], (
            ("--only", "nothing"), ("--skip", "x*"), ("explain", "nothing"), ("explain",), ("words",),
            ("--only", "acs.override", "--skip", "acs"), ("--only", ""), ("--level", "deep")))
        self.assertEqual(run("gdrkit", "doctor", "--root", "/nothing/there").code, 4)

    def test_strict_makes_warnings_failures(self):
        tree = m.changed(m.server(), {"/proc/sys/kernel/numa_balancing": "1\n"})
        self.assertEqual((examine(tree)[0], examine(tree, "--strict")[0]), (0, 1))


class DoctorOpens(Test):
    def test_sources_contain_no_writing_calls(self):
        diag = pathlib.Path(TOP, "diag")
        files = [*diag.glob("machine/**/*.[ch]pp"), *diag.glob("doctor/**/*.[ch]pp")]
        files += [diag / "topology" / (noun + ".cpp") for noun in
                  ("machine_view", "directory_tree", "archive_tree", "tar_reader", "recorded_facts")]
        # guarded_thread.cpp contains the open flags in order to reject them.
        files = [path for path in files if path.name != "guarded_thread.cpp"]
        self.assertGreater(len(files), 10)
        for path in files:
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"O_(WRONLY|RDWR|CREAT|TRUNC)|\b(f?open64|fopen|creat|ioctl|popen|system|"
                                r"unlink|rename|mkdir|pwrite|fwrite)\(|ofstream|<fstream>", path)


if __name__ == "__main__":
    unittest.main()
