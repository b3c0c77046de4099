# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group acs of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
DIRECT_ROOT = "/sys/devices/pci0010:00/0010:00:01.0"
DIRECT_GPU, DIRECT_DMA = (f"{DIRECT_ROOT}/0010:01:00.0/0010:02:0{i}.0" for i in range(2))
UNIT = "/etc/systemd/system/clear.service"
PEER_ROOT = "/sys/devices/pci0000:00/0000:00:01.0"
PEER_PORT = PEER_ROOT + "/0000:01:00.0/0000:02:01.0"
ROOTS = [f"/sys/devices/pci0000:{bus}/0000:{bus}:01.0" for bus in ("40", "60")]
REDIRECTING_ROOTS = {root + "/config": m.config(acs=0x001d, kind=4) for root in ROOTS}
TRANSLATED = {f"{root}/0000:{bus}:00.0/iommu_group/type": "DMA-FQ\n" for root, bus in zip(ROOTS, ("41", "61"))}

CASES = {
    "acs.redirect": [({m.GPU_PORT + "/config": m.config(acs=0x001d)}, "fail", {"acs.persist"}),
                     ({m.ROOT + "/config": m.config(acs=0x001d), m.SWITCH + "/config": m.config(acs=0x001d)}, "ok", set()),
                     ({m.GPU_PORT + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "acs.persist"}),
                     # two GPUs without an adapter
                     ({PEER_PORT + "/config": m.config(acs=0x001d, kind=6)}, "fail", {"acs.persist"}, "one_switch"),
                     ({PEER_ROOT + "/config": m.config(acs=0x001d, kind=4)}, "ok", set(), "one_switch"),
                     ({PEER_PORT + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "acs.persist"}, "one_switch"),
                     (REDIRECTING_ROOTS, "skip", set(), "two_roots"),
                     ({**REDIRECTING_ROOTS, **TRANSLATED}, "fail", {"acs.persist", "iommu.mode"}, "two_roots"),
                     ({**REDIRECTING_ROOTS, **TRANSLATED, "/gdrkit/nvml.json": None}, "warn", None, "two_roots")],
    "acs.override": [({"/proc/cmdline": "ro pcie_acs_override=downstream\n"}, "warn", set()),
                     ({"/proc/cmdline": BAD}, "unknown", {"iommu.cmdline", "cpu.wc", "acs.persist"})],
    "acs.vm_ats": [({m.NIC + "/config": m.config(ats=0)}, "warn", set(), "guest_host"),
                   ({m.NIC + "/config": m.config()}, "warn", set(), "guest_host"),
                   ({m.GPU_PORT + "/config": m.config(acs=0x1d)}, "warn", set(), "guest_host"),
                   ({m.NIC_PORT + "/config": m.config(acs=0x01)}, "ok", set(), "guest_host"),
                   ({m.NIC + "/driver": None}, "skip", {"rdma.stack"}, "guest_host"),
                   ({m.NIC + "/config": m.config(size=64)}, "unknown", set(), "guest_host"),
                   ({m.NIC_PORT + "/config": m.config(size=64)}, "unknown", set(), "guest_host")],
    "acs.datadirect": [({DIRECT_DMA + "/config": m.config(acs=0x15)}, "fail", set(), "gb300_datadirect"),
                       ({DIRECT_GPU + "/config": m.config(acs=0x00)}, "fail", set(), "gb300_datadirect"),
                       ({DIRECT_ROOT + "/config": m.config(acs=0x1d)}, "fail", set(), "gb300_datadirect"),
                       ({DIRECT_GPU + "/config": m.config()}, "unknown", set(), "gb300_datadirect"),
                       ({DIRECT_GPU + "/config": m.config(size=64)}, "unknown", {"pcie.mps"}, "gb300_datadirect")],
    "acs.persist": [({"/proc/cmdline": "ro pci=disable_acs_redir=0000:02:00.0\n"}, "ok", set()),
                    ({"/proc/cmdline": "ro pci=config_acs=xx00000@0000:02:00.0\n"}, "ok", set()),
                    ({UNIT: "[Service]\nExecStart=setpci -s 02:00.0 ECAP_ACS+6.w=0\n"}, "ok", set()),
                    ({UNIT: "[Service]\nExecStart=true\n"}, "info", set()),
                    ({m.GPU + "/iommu_group": None}, "ok", {"iommu.mode"}),
                    ({"/proc/cmdline": "ro pci=disable_acs_redir=0000:02:00.0\n"}, "ok", set(), "one_switch"),
                    (TRANSLATED, "info", {"acs.redirect", "iommu.mode"}, "two_roots"),
                    ({"/etc/systemd/system": BAD}, "unknown", set())],
}
