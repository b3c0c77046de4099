# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group kernel_log of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

LOG = "/gdrkit/kernel_log"
BOTH = [({LOG: None}, "unknown"), ({LOG: m.UNREADABLE}, "unknown"), ({LOG: "no seconds\n"}, "unknown")]


def _log(*messages, **others):
    return {LOG: m.kernel_log("nvidia: loading", *messages, **others)}


def _cases(own, other):
    return [(changes, state, set()) for changes, state in own] + [(changes, state, {other}) for changes, state in BOTH]


CASES = {
    "gpu.xid": _cases([
        (_log("NVRM: Xid (PCI:0000:03:00): 79, pid=7, GPU has fallen off the bus."), "fail"),
        (_log("NVRM: Xid (PCI:0000:03:00): 31, pid=7, name=x, Ch 00000010"), "info"),
        (_log("NVRM: Xid (PCI:0000:03:00): 94, pid=7, Contained"), "warn"),
        (_log("NVRM: Xid (0000:03:00): 48, DBE"), "fail"),
        (_log("NVRM: Xid (nothing"), "ok"),
        (_log(*[f"NVRM: Xid (PCI:0000:{bus:02x}:00): {number}, x" for bus in range(20) for number in range(100, 120)]), "fail"),
    ], "iommu.faults") + [(_log("NVRM: GPU", is_whole=False), "info", {"iommu.faults"})],
    "iommu.faults": _cases([
        (_log("DMAR: [DMA Read NO_PASID] Request device [04:00.0] fault addr 0x1000 [fault reason 0x06] PTE Read"), "fail"),
        (_log("DMAR: [DMA Write] Request device [0x03:00.0] fault addr 1000"), "fail"),
        (_log("AMD-Vi: Event logged [IO_PAGE_FAULT device=04:00.0 domain=0x0011 address=0x1 flags=0x0]"), "fail"),
        (_log("mlx5_core 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 address=0x1]"), "fail"),
        (_log("arm-smmu-v3 arm-smmu-v3.0.auto: event: F_TRANSLATION client: 0000:03:00.0 sid: 0x300"), "fail"),
        (_log("DMAR: [DMA Read] Request device [1f:00.0] fault addr 0x1000"), "info"),
        (_log("DMAR: [DMA Read] Request device [13:00.0] fault addr 0x1000", "DMAR: IOMMU enabled"), "info"),
        (_log("pcieport 0000:02:00.0: nothing of the IOMMU 04:00.0"), "ok"),
    ], "gpu.xid"),
}
