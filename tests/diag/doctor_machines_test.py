#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit doctor on every machine of the plan: the required findings for each."""
import functools
import json
import os
import pathlib
import re
import unittest

from doctor_runs import TOP, examine, worst
from hostile import HOSTILE
from named import NAMED
from program import Test
from settings import ZOO

GOLDEN = pathlib.Path(TOP, "tests", "diag", "golden", "doctor_machines.json")
SWITCH_PORTS = ["0000:12:00.0", "0000:12:01.0", "0000:2a:00.0", "0000:2a:01.0"]

# name -> (exit code, {check: worst state}, {check: subjects of its warn and fail, all of them})
EXPECTED = {
    "dgx-h100-ok": (0, {"peer.any": "ok", "acs.redirect": "ok", "iommu.mode": "ok", "nic.rate": "ok", "numa.gpu": "ok"}, {}),
    "dgx-h100-acs": (1, {"acs.redirect": "fail", "iommu.mode": "ok"}, {"acs.redirect": SWITCH_PORTS}),
    "dgx-h100-nonroot": (0, dict.fromkeys(("acs.redirect", "pcie.mrrs", "pcie.mps", "rebar.cap"), "unknown"), {}),
    "large": (0, {"acs.redirect": "ok", "nic.state": "ok"}, {}),
    "hgx-a100-cascade": (0, {"acs.redirect": "ok"}, {}),
    "hgx-node-sys": (0, {"topo.pair": "warn", "acs.redirect": "skip", "numa.gpu": "ok"}, {}),
    "ws-acs-iommu": (1, {"topo.pair": "warn", "iommu.mode": "warn", "acs.override": "warn", "iommu.cmdline": "warn"},
                     {"iommu.mode": ["0000:01:00.0", "0000:02:00.0", "0000:03:00.0"], "acs.redirect": ["0000:00:01.0", "0000:00:02.0"]}),
    "one-switch-acs": (1, {"acs.redirect": "fail", "acs.persist": "skip", "iommu.mode": "ok"},
                       {"acs.redirect": ["0000:02:00.0", "0000:02:01.0"]}),
    "one-switch-far-nic": (1, {"acs.redirect": "fail", "acs.persist": "skip"}, {"acs.redirect": ["0000:02:00.0", "0000:02:01.0"]}),
    "two-roots-acs": (1, {"acs.redirect": "fail", "iommu.mode": "warn"}, {"acs.redirect": ["0000:40:01.0", "0000:60:01.0"]}),
    "epyc-nps4": (0, {"topo.pair": "warn", "numa.gpu": "ok", "numa.nic": "ok"}, {}),
    "vm-h100-1gpu": (0, dict.fromkeys(("pcie.width", "pcie.speed", "acs.redirect", "nic.state", "cpu.governor"), "skip"), {}),
    "vm-h200-1gpu": (0, dict.fromkeys(("pcie.width", "pcie.speed", "acs.redirect", "nic.state", "cpu.governor"), "skip"), {}),
    "vm-azure-8x": (0, {"topo.vm_flat": "warn", "topo.pair": "skip", "acs.redirect": "skip", "pcie.width": "skip",
                        "peer.any": "ok"}, {}),
    "aws-p5-efa": (0, {"nic.sm": "skip", "acs.redirect": "skip", "peer.any": "ok"}, {}),
    "gh200": (0, {"topo.pair": "ok", "gpu.chipset_p2p": "ok", "cpu.wc": "skip", "acs.redirect": "skip",
                  "peer.any": "ok", "numa.gpu": "ok"}, {}),
    "gb300-datadirect": (0, {"acs.datadirect": "ok", "iommu.groups": "ok", "acs.redirect": "skip"}, {}),
    "gb300-smmu": (1, {"iommu.mode": "ok", "iommu.cmdline": "ok", "acs.datadirect": "ok"}, {"iommu.smmu": ["0010:03:00.0"]}),
    "gb300-smmu-translated": (0, {"iommu.smmu": "ok", "iommu.mode": "ok", "acs.datadirect": "ok"}, {}),
    "gb300-zeroed": (1, {"acs.datadirect": "fail", "acs.redirect": "skip"},
                     {"acs.datadirect": ["0010:02:01.0", "0010:02:00.0", "0010:00:01.0"]}),
    "altra-pcie": (1, {"gpu.chipset_p2p": "fail", "cpu.wc": "skip", "acs.redirect": "skip"}, {}),
    "legacy-conflict": (1, {"peer.conflict": "fail"}, {"peer.conflict": ["nv_peer_mem"]}),
    "peermem-einval": (1, {"peer.any": "fail", "peer.symbols": "fail"}, {}),
    "proprietary-nopeer": (1, {"peer.any": "fail", "drv.flavour": "warn"}, {}),
    "dmabuf-only": (0, {"peer.any": "ok", "peer.conflict": "skip", "peer.autoload": "skip"}, {}),
    "gdrdrv-mismatch": (1, {"gdr.node": "fail"}, {"gdr.node": ["/dev/gdrdrv"]}),
    "container-bare": (1, {"ctr.devices": "fail", "lim.memlock": "fail", "lim.shm": "fail", "gdr.node": "fail"},
                       {"ctr.devices": ["/dev/infiniband"]}),
    "container-ok": (0, {"ctr.devices": "ok", "lim.memlock": "ok"}, {}),
    "roce-bad": (1, {"roce.gid_index": "fail", "nic.mtu": "warn", "roce.qos": "warn", "nic.state": "info", "nic.sm": "ok"},
                 {"nic.mtu": ["mlx5_10:1"], "roce.qos": ["mlx5_10:1"], "roce.gid_index": ["NCCL_IB_GID_INDEX=3"]}),
    "ib-init": (1, {"nic.sm": "fail", "nic.state": "fail"}, {"nic.sm": ["mlx5_3:1"], "nic.state": ["mlx5_3:1"]}),
    "x8-gen3-nic": (1, {"pcie.width": "fail", "pcie.speed": "info"}, {"pcie.width": ["0000:44:00.0"]}),
    "bar256": (0, {"bar1.size": "warn", "rebar.cap": "warn", "bar.above4g": "ok"}, {}),
    "mig-on": (0, {"gpu.mig": "warn"}, {"gpu.mig": ["0000:13:00.0"]}),
    "cc-on": (0, {"gpu.cc": "warn"}, {}),
    "nvl-down": (1, {"nvl.state": "fail"}, {"nvl.state": ["0000:13:00.0"]}),
    "fm-down": (1, {"nvl.fabric": "fail", "nvl.state": "ok"}, {}),
    "secureboot": (None, {"sec.lockdown": "warn"}, {"sec.lockdown": ["lockdown"]}),
    "socket-direct": (0, {"pcie.width": "info"}, {"pcie.width": []}),
    "mlx-bond": (0, {}, {}),
    "numa-minus1": (0, {"numa.gpu": "warn"}, {"numa.gpu": ["0000:8b:00.0"]}),
    "env-zoo": (1, {"env.gdr_level": "fail", "env.ib_hca": "fail", "env.ib_disable": "fail", "env.sources": "warn"},
                {"env.sources": ["NCCL_IB_DISABLE", "NCCL_SHM_DISABLE"]}),
    "gh200-pxb": (1, {"env.gdr_level": "fail"}, {"env.gdr_level": ["NCCL_NET_GDR_LEVEL"]}),
    "empty": (3, {"drv.loaded": "unknown"}, {}),
}


@functools.lru_cache(maxsize=None)
def examined(name, *arguments):
    return examine({**NAMED, **HOSTILE}[name](), *arguments)


def complaining(findings):
    return [subject for state, subject, _ in findings if state in ("warn", "fail")]


def verdicts():
    """check -> its worst state on the healthy DGX, and the machines on which it has another."""
    machines = [*NAMED, *HOSTILE]
    found = {name: {check: worst(findings) for check, findings in examined(name)[1].items()} for name in machines}
    lines = {}
    for check, usual in found["dgx-h100-ok"].items():
        others = {}
        for name in machines:
            if found[name][check] != usual:
                others.setdefault(found[name][check], []).append(name)
        lines[check] = "; ".join([usual] + [f"{state}: {' '.join(names)}" for state, names in sorted(others.items())])
    return lines


class DoctorPlan(Test):
    def test_every_machine_has_expected_findings(self):
        self.assertEqual(set(NAMED), set(EXPECTED))

    def test_each_machine_gets_its_required_findings(self):
        for name, (code, states, subjects) in EXPECTED.items():
            with self.subTest(name):
                ended, found = examined(name)
                self.assertEqual(ended if code is None else code, ended)
                self.assertEqual({check: worst(found[check]) for check in states}, states)
                self.assertEqual({check: complaining(found[check]) for check in subjects}, subjects)

    def test_healthy_machines_have_no_open_findings(self):
        for name in ("dgx-h100-ok", "large", "hgx-a100-cascade", "container-ok", "vm-h200-1gpu"):
            code, found = examined(name, "--strict")
            self.assertEqual((name, code, {c: f for c, f in found.items() if worst(f) in ("unknown", "warn", "fail")}),
                             (name, 0, {}))

    def test_skips_mellanox_checks_for_other_vendors(self):
        for check, findings in examined("aws-p5-efa")[1].items():
            for state, subject, text in findings:
                if state in ("warn", "fail"):
                    self.assertNotRegex(f"{subject} {text}", "mlx5|OFED|opensm", check)

    def test_reports_every_faulty_variable(self):
        _, found = examined("env-zoo")
        lines = [f"{subject} {text}" for check, findings in found.items() if check.startswith("env.")
                for state, subject, text in findings if state in ("warn", "fail", "info")]
        for name, value in ZOO.items():
            if name != "NVSHMEM_IB_ENABLE_IBGDA":  # valid as such: the handler that is set with it is wrong
                self.assertTrue(any(re.search(rf"\b{name}\b", line) for line in lines), f"{name}={value}")
        for check, findings in found.items():
            if not check.startswith("env."):
                self.assertEqual(complaining(findings), [], check)

    def test_never_reports_capable_ports_as_unable_to_redirect(self):
        """The doctor ignores ports that are on no path."""
        for name in (*NAMED, *HOSTILE):
            for _, subject, text in examined(name)[1]["acs.persist"]:
                self.assertNotRegex(f"{subject} {text}", "no port can", name)

    def test_every_check_matches_the_reviewed_table_on_every_machine(self):
        """After a new check, a new machine or a changed verdict, set GDRKIT_UPDATE_GOLDEN=1 to rewrite the table, and review the difference."""
        lines = verdicts()
        if os.environ.get("GDRKIT_UPDATE_GOLDEN") == "1":
            GOLDEN.write_text(json.dumps(lines, indent=1) + "\n", encoding="ascii")
        golden = json.loads(GOLDEN.read_text(encoding="ascii"))
        different = [f"{check}: {lines.get(check)}\n   was reviewed: {golden.get(check)}" for check in sorted({*lines, *golden})
                     if lines.get(check) != golden.get(check)]
        self.assertEqual(different, [], "GDRKIT_UPDATE_GOLDEN=1 writes the table anew: review its difference")


if __name__ == "__main__":
    unittest.main()
