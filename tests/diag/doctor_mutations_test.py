#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The DGX with one fact of one of its devices changed: the fact's check changes its state, and so do dependent checks."""
import functools
import unittest

from doctor_runs import examine, m, worst
import nvml
from named import NAMED
from parts import adapter_directory, gpu_directories
from pci import bar_at, config
from program import Test
from tree import UNREADABLE, changed

DGX = NAMED["dgx-h100-ok"]()
GPU, NIC = gpu_directories(DGX)[3], adapter_directory(DGX, "mlx5_3")
GPU_PORT, NIC_PORT = GPU.rsplit("/", 1)[0], NIC.rsplit("/", 1)[0]
SWITCH, ROOT = GPU_PORT.rsplit("/", 1)[0], GPU_PORT.rsplit("/", 2)[0]
PORT = "/sys/class/infiniband/mlx5_3/ports/1/"
# NVLink leads to another GPU's adapter.
WITHOUT_ADAPTER = {"topo.pair": "info", "topo.balance": "warn"}
EACH_GPU = ("gpu.class", "gpu.mig", "gpu.persistence", "gpu.ecc", "gpu.compute_mode", "nvl.state", "nvl.fabric", "bar1.free")


def probed(**first):
    return nvml.of(DGX, first=first)


# (path, content) -> {check: worst state}: all checks whose state differs from the healthy machine's. The first is the fact's own.
MUTATIONS = [
    # level probe: the first GPU differs from the seven others
    (nvml.PATH, probed(links=17), {"nvl.state": "fail"}),
    (nvml.PATH, probed(links=[nvml.inactive(i) for i in range(18)]), {"nvl.state": "fail"}),
    (nvml.PATH, probed(mig=True), {"gpu.mig": "warn", "nvl.state": "ok"}),
    (nvml.PATH, probed(fabric_state=1), {"nvl.fabric": "fail"}),
    (nvml.PATH, probed(remap_pending=True), {"gpu.ecc": "warn"}),
    (nvml.PATH, probed(address=nvml.failed()), dict.fromkeys((*EACH_GPU, "nvl.imex"), "unknown")),
    (nvml.PATH, nvml.of(DGX, pair={"p2p_nvlink": 4}), {"nvl.state": "fail"}),
    (nvml.PATH, nvml.of(DGX, pair={"p2p_nvlink": 4}, every={"fabric_state": 1}), {"nvl.state": "info", "nvl.fabric": "fail"}),
    (nvml.PATH, nvml.of(DGX, pair={"p2p_nvlink": nvml.failed()}), {"nvl.state": "unknown"}),
    (nvml.PATH, nvml.of(DGX, every={"mig": True}, pair={"p2p_nvlink": 5}), {"gpu.mig": "warn", "nvl.state": "skip"}),
    (nvml.PATH, nvml.document([nvml.gpu(0, GPU.rsplit("/", 1)[1])]), {**dict.fromkeys(EACH_GPU, "ok"), "nvl.imex": "skip"}),
    # links
    (NIC + "/current_link_width", "8\n", {"pcie.width": "fail", "pcie.path_min": "warn"}),
    (GPU + "/current_link_width", "4\n", {"pcie.width": "fail", "pcie.path_min": "warn"}),
    (NIC_PORT + "/max_link_width", "8\n", {}),
    (NIC + "/current_link_speed", "16.0 GT/s PCIe\n", {"pcie.speed": "fail", "pcie.path_min": "warn"}),
    (GPU + "/current_link_speed", "2.5 GT/s PCIe\n", {"pcie.speed": "info"}),
    (NIC + "/config", config(0x2050), {"pcie.mrrs": "warn"}),
    (NIC + "/config", config(0x5010), {"pcie.mps": "warn"}),
    (NIC_PORT + "/config", config(0x5010, acs=0x0001), {"pcie.mps": "fail"}),
    (NIC + "/config", config(link_control=0x0003), {"pcie.aspm": "warn"}),
    (NIC + "/aer_dev_fatal", "DLP 2\nTOTAL_ERR_FATAL 2\n", {"pcie.aer": "fail"}),
    (GPU + "/aer_dev_correctable", "RxErr 500\nTOTAL_ERR_COR 500\n", {"pcie.aer": "warn"}),
    # isolation
    (GPU_PORT + "/config", config(acs=0x001d), {"acs.redirect": "fail", "acs.persist": "skip"}),
    (NIC_PORT + "/config", config(acs=0x0005), {"acs.redirect": "fail", "acs.persist": "skip"}),
    (NIC_PORT + "/config", config(acs=0x0021), {"acs.redirect": "fail", "acs.persist": "skip"}),
    (NIC_PORT + "/config", config(acs=0x0011), {}),
    (NIC_PORT + "/config", config(), {}),
    (ROOT + "/config", config(acs=0x001d), {}),
    (SWITCH + "/config", config(acs=0x001d), {}),
    (GPU_PORT + "/config", config(size=64), {"acs.redirect": "unknown", "acs.persist": "unknown", "pcie.mps": "unknown"}),
    (GPU + "/iommu_group/type", "DMA\n", {"iommu.mode": "warn"}),
    (NIC + "/iommu_group/type", "DMA-FQ\n", {"iommu.mode": "warn"}),
    (NIC + "/iommu_group", None, {}),
    # memory
    (GPU + "/resource", m.RESOURCE.format(bar1=bar_at(0x26000000000, 1 << 28)), {"bar1.size": "warn"}),
    (GPU + "/resource", m.RESOURCE.format(bar1=bar_at(0xc0000000, 1 << 29)), {"bar.above4g": "warn", "bar1.size": "warn"}),
    (GPU + "/config", config(rebar=(17, 8)), {"rebar.cap": "warn"}),
    (GPU + "/numa_node", "-1\n", {"numa.gpu": "warn"}),
    (NIC + "/numa_node", "-1\n", {"numa.nic": "warn"}),
    # adapters
    (PORT + "state", "1: DOWN\n", {"nic.state": "warn", "nic.rate": "ok", **WITHOUT_ADAPTER}),
    (PORT + "state", "2: INIT\n", {"nic.state": "fail", "nic.rate": "ok", **WITHOUT_ADAPTER}),
    (PORT + "rate", "200 Gb/sec (4X HDR)\n", {"nic.rate": "warn", "topo.balance": "warn"}),
    (PORT + "sm_lid", "0x0\n", {"nic.sm": "fail"}),
    (PORT + "lid", UNREADABLE, {"nic.sm": "unknown"}),
    # system
    ("/sys/devices/system/cpu/cpu77/cpufreq/scaling_governor", "schedutil\n", {"cpu.governor": "warn"}),
]


def _states(findings):
    """Without the evidence, which contains the value even if the verdict is unchanged."""
    return sorted((state, subject) for state, subject, _ in findings)


@functools.lru_cache(maxsize=None)
def healthy():
    return examine(DGX)[1]


@functools.lru_cache(maxsize=None)
def mutated(number):
    path, content, _ = MUTATIONS[number]
    return examine(changed(DGX, {path: content}))


class DoctorMutations(Test):
    def test_one_fact_changes_only_its_check_and_dependent_ones(self):
        for number, (path, content, expected) in enumerate(MUTATIONS):
            with self.subTest(f"{path}: {content!r:.60}"):
                code, found = mutated(number)
                self.assertEqual({check: worst(found[check]) for check in found if _states(found[check]) != _states(healthy()[check])},
                                 expected)
                self.assertEqual(code, 1 if "fail" in expected.values() else 0)

    def test_the_finding_names_the_faulty_device(self):
        for number, (path, _, expected) in enumerate(MUTATIONS):
            at_fault = [check for check, state in expected.items() if state in ("warn", "fail")]
            if not at_fault or not path.startswith((GPU, NIC, PORT)):
                continue
            names = {GPU.rsplit("/", 1)[1], NIC.rsplit("/", 1)[1], "mlx5_3", "mlx5_3:1"}
            with self.subTest(path):
                _, found = mutated(number)
                subjects = {subject for state, subject, _ in set(found[at_fault[0]]) - set(healthy()[at_fault[0]])
                            if state in ("warn", "fail")}
                self.assertLessEqual(subjects, names)
                self.assertEqual(len(subjects), 1)


if __name__ == "__main__":
    unittest.main()
