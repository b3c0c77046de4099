# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group acs of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
DIRECT_ROOT = "/sys/devices/pci0010:00/0010:00:01.0"
DIRECT_GPU, DIRECT_DMA = (f"{DIRECT_ROOT}/0010:01:00.0/0010:02:0{i}.0" for i in range(2))
UNIT = "/etc/systemd/system/clear.service"

CASES = {
    "acs.redirect": [({m.GPU_PORT + "/config": m.config(acs=0x001d)}, "fail", {"acs.persist"}),
                     ({m.ROOT + "/config": m.config(acs=0x001d), m.SWITCH + "/config": m.config(acs=0x001d)}, "ok", set()),
                     ({m.GPU_PORT + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "acs.persist"})],
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
                    ({"/etc/systemd/system": BAD}, "unknown", set())],
}
