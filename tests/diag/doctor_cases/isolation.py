# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group isolation of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
NVIDIA_VERSION = "/proc/driver/nvidia/version"
DMA = "/sys/devices/pci0010:00/0010:00:01.0/0010:01:00.0/0010:02:01.0/0010:04:00.0"
GRACE_PORT = "/sys/devices/pci0010:00/0010:00:01.0/0010:01:00.0/0010:02:00.0"
BEFORE_6_11 = {"/proc/version": "Linux version 6.8.0-1040-nvidia-64k (builder) #45 SMP\n"}
NAME_LINUX = {"dmabuf.kernel", "dmabuf.p2pdma", "peer.any", "rdma.stack"}  # their texts have its version

CASES = {
    "iommu.mode": [({m.GPU + "/iommu_group/type": "DMA-FQ\n"}, "warn", set()),
                   ({m.GPU + "/iommu_group/type": "DMA\n", NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}, "fail",
                    {"drv.loaded", "drv.flavour", "gdr.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"}),
                   ({m.GPU + "/iommu_group": None}, "ok", {"acs.persist"}),
                   ({m.GPU + "/iommu_group/type": BAD}, "unknown", set())],
    "iommu.smmu": [(BEFORE_6_11, "fail", NAME_LINUX, "gb300_datadirect"),
                   ({**BEFORE_6_11, "/sys/kernel/iommu_groups/7/type": "DMA-FQ\n"}, "ok", {*NAME_LINUX, "iommu.mode"}, "gb300_datadirect"),
                   ({**BEFORE_6_11, GRACE_PORT + "/config": m.config(acs=0x01, kind=6)}, "ok", {*NAME_LINUX, "acs.datadirect"},
                    "gb300_datadirect"),
                   ({**BEFORE_6_11, GRACE_PORT + "/config": m.config(size=64)}, "unknown", {*NAME_LINUX, "acs.datadirect", "pcie.mps"},
                    "gb300_datadirect"),
                   ({**BEFORE_6_11, "/sys/kernel/iommu_groups/7/type": BAD}, "unknown", {*NAME_LINUX, "iommu.mode"}, "gb300_datadirect"),
                   ({"/proc/version": "Linux version 6.11.0-1 (x)\n"}, "ok", NAME_LINUX, "gb300_datadirect"),
                   ({"/proc/version": BAD}, "unknown", None, "gb300_datadirect"),
                   ({"/proc/cpuinfo": "Features\t: fp asimd\nCPU implementer\t: 0xc0\nCPU part\t: 0xd4f\n"}, "skip", None, "gb300_datadirect"),
                   ({"/proc/cpuinfo": BAD}, "unknown", None)],
    "iommu.cmdline": [({"/proc/cmdline": "ro intel_iommu=on\n"}, "warn", set()),
                      ({"/proc/cmdline": "ro intel_iommu=on iommu=pt\n"}, "ok", set()),
                      ({"/proc/cmdline": "\n"}, "unknown", {"acs.override", "cpu.wc", "acs.persist"})],
    "iommu.groups": [({DMA + "/iommu_group": m.link(DMA + "/iommu_group", "/sys/kernel/iommu_groups/8"),
                       "/sys/kernel/iommu_groups/8/type": "identity\n"}, "warn", set(), "gb300_datadirect"),
                     ({DMA + "/iommu_group": None}, "warn", set(), "gb300_datadirect"),
                     ({DMA + "/iommu_group": BAD}, "unknown", set(), "gb300_datadirect")],
}
