# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group pcie of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
GUEST = "flags\t: fpu pat avx2 hypervisor\n"
AMD = "vendor_id\t: AuthenticAMD\nflags\t: fpu pat avx2\n"


def _card(image):
    """Both adapters as functions of one card."""
    return {f"/sys/class/infiniband/mlx5_{i}/sys_image_guid": image + "\n" for i in range(2)}


CASES = {
    "pcie.width": [({m.NIC + "/current_link_width": "8\n"}, "fail", set()),
                   ({m.NIC + "/current_link_width": "8\n", **_card("946d:ae03:0012:3456")}, "info", set()),
                   ({m.NIC + "/current_link_width": "4\n", **_card("946d:ae03:0012:3456")}, "fail", set()),
                   ({m.NIC + "/current_link_width": "8\n", **_card("0000:0000:0000:0000")}, "fail", set()),
                   ({m.NIC_PORT + "/max_link_width": "8\n", m.NIC + "/current_link_width": "8\n"}, "ok", set()),
                   ({m.NIC_PORT + "/max_link_width": BAD}, "unknown", set()),
                   ({m.NIC + "/current_link_width": "\n"}, "unknown", set())],
    "pcie.speed": [({m.NIC + "/current_link_speed": "16.0 GT/s PCIe\n"}, "fail", set()),
                   ({m.GPU + "/current_link_speed": "2.5 GT/s PCIe\n"}, "info", set()),
                   ({m.NIC + "/current_link_speed": "Unknown\n"}, "unknown", set())],
    "pcie.mrrs": [({m.NIC + "/config": m.config(0x1050)}, "warn", set()),
                  ({m.NIC + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "pcie.relaxed", "pcie.aspm"})],
    "pcie.mps": [({m.NIC + "/config": m.config(0x5010)}, "warn", set()),
                 ({m.NIC_PORT + "/config": m.config(0x5010, acs=0x0001)}, "fail", set()),
                 ({m.GPU + "/config": m.config(size=64)}, "unknown", {"rebar.cap", "pcie.aspm"})],
    "pcie.relaxed": [({m.NIC + "/config": m.config(0x5040), "/proc/cpuinfo": AMD}, "warn", set()),
                     ({m.NIC + "/config": m.config(0x5040)}, "info", set()),
                     ({m.NIC + "/config": m.config(0x5040), "/proc/cpuinfo": BAD}, "unknown",
                      {"vm.detect", "acs.redirect", "acs.persist", "cpu.wc", "cpu.copy_isa"}),
                     ({m.NIC + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "pcie.mrrs", "pcie.aspm"})],
    "pcie.aspm": [({m.NIC + "/config": m.config(link_control=0x0002)}, "warn", set()),
                  ({m.NIC + "/config": m.config(link_control=0x0041)}, "warn", set()),
                  ({m.NIC + "/config": m.config(link_control=0x0040)}, "ok", set()),
                  ({m.NIC + "/config": m.config(link_control=0x0002), "/proc/cpuinfo": GUEST}, "info",
                   {"vm.detect", "acs.redirect", "acs.persist"}),
                  ({m.NIC + "/config": m.config(link_control=0x0002), "/proc/cpuinfo": BAD}, "unknown",
                   {"vm.detect", "acs.redirect", "acs.persist", "cpu.wc", "cpu.copy_isa"}),
                  ({m.NIC + "/config": m.config(size=64)}, "unknown", {"pcie.mps", "pcie.mrrs", "pcie.relaxed"})],
    "pcie.aer": [({m.NIC + "/aer_dev_fatal": "DLP 1\nTOTAL_ERR_FATAL 1\n"}, "fail", set()),
                 ({m.NIC + "/aer_dev_correctable": "TOTAL_ERR_COR 101\n"}, "warn", set()),
                 ({m.NIC + "/aer_dev_correctable": "nothing\n"}, "unknown", set())],
}
