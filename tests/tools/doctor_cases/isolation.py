# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group isolation of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
NVIDIA_VERSION = "/proc/driver/nvidia/version"

CASES = {
    "acs.redirect": [({m.GPU_PORT + "/config": m.config(acs=0x001d)}, "fail", set()),
                     ({m.ROOT + "/config": m.config(acs=0x001d), m.SWITCH + "/config": m.config(acs=0x001d)}, "ok", set()),
                     ({m.GPU_PORT + "/config": m.config(size=64)}, "unknown", {"pcie.mps"})],
    "acs.override": [({"/proc/cmdline": "ro pcie_acs_override=downstream\n"}, "warn", set()),
                     ({"/proc/cmdline": BAD}, "unknown", {"iommu.cmdline", "cpu.wc"})],
    "iommu.mode": [({m.GPU + "/iommu_group/type": "DMA-FQ\n"}, "warn", set()),
                   ({m.GPU + "/iommu_group/type": "DMA\n", NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}, "fail",
                    {"drv.loaded", "drv.flavour", "gdr.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"}),
                   ({m.GPU + "/iommu_group": None}, "ok", set()),
                   ({m.GPU + "/iommu_group/type": BAD}, "unknown", set())],
    "iommu.cmdline": [({"/proc/cmdline": "ro intel_iommu=on\n"}, "warn", set()),
                      ({"/proc/cmdline": "ro intel_iommu=on iommu=pt\n"}, "ok", set()),
                      ({"/proc/cmdline": "\n"}, "unknown", {"acs.override", "cpu.wc"})],
}
