# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups pcie, acs, isolation and topology of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import machines as m

BAD = m.UNREADABLE
GUEST = "flags\t: fpu pat avx2 hypervisor\n"
AMD = "vendor_id\t: AuthenticAMD\nflags\t: fpu pat avx2\n"


def _card(image):
    """Both adapters as functions of one card."""
    return {f"/sys/class/infiniband/mlx5_{i}/sys_image_guid": image + "\n" for i in range(2)}


DIRECT_ROOT = "/sys/devices/pci0010:00/0010:00:01.0"
DIRECT_GPU, DIRECT_DMA = (f"{DIRECT_ROOT}/0010:01:00.0/0010:02:0{i}.0" for i in range(2))
UNIT = "/etc/systemd/system/clear.service"
PEER_ROOT = "/sys/devices/pci0000:00/0000:00:01.0"
PEER_PORT = PEER_ROOT + "/0000:01:00.0/0000:02:01.0"
ROOTS = [f"/sys/devices/pci0000:{bus}/0000:{bus}:01.0" for bus in ("40", "60")]
REDIRECTING_ROOTS = {root + "/config": m.config(acs=0x001d, kind=4) for root in ROOTS}
TRANSLATED = {f"{root}/0000:{bus}:00.0/iommu_group/type": "DMA-FQ\n" for root, bus in zip(ROOTS, ("41", "61"))}
NVIDIA_VERSION = "/proc/driver/nvidia/version"
DMA = "/sys/devices/pci0010:00/0010:00:01.0/0010:01:00.0/0010:02:01.0/0010:04:00.0"
GRACE_PORT = "/sys/devices/pci0010:00/0010:00:01.0/0010:01:00.0/0010:02:00.0"
BEFORE_6_11 = {"/proc/version": "Linux version 6.8.0-1040-nvidia-64k (builder) #45 SMP\n"}
NAME_LINUX = {"dmabuf.kernel", "dmabuf.p2pdma", "peer.any", "rdma.stack"}  # their texts have its version
IB = "/sys/class/infiniband/"
DOWN = "1: DOWN\n"
PLACE = "/sys/bus/pci/devices/0000:03:00.0"


def port(name, file):
    return f"{IB}{name}/ports/1/{file}"


FILE = "/var/run/nvidia-topologyd/virtualTopology.xml"


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
    "topo.pair": [({port("mlx5_0", "state"): DOWN, port("mlx5_1", "state"): DOWN}, "warn",
                   {"nic.state", "nic.rate", "topo.balance", "pcie.path_min"}),
                  ({port("mlx5_0", "state"): DOWN}, "info",
                   {"nic.state", "nic.rate", "topo.balance", "pcie.path_min"}, "two_switches"),
                  ({port("mlx5_0", "state"): BAD, port("mlx5_1", "state"): BAD}, "unknown",
                   {"nic.state", "topo.balance", "pcie.path_min"})],
    "topo.balance": [({port("mlx5_1", "state"): DOWN}, "warn", {"nic.state", "nic.rate", "topo.pair", "pcie.path_min"}, "two_switches"),
                     ({port("mlx5_1", "state"): BAD}, "unknown", {"nic.state", "topo.pair", "pcie.path_min"},
                      "two_switches")],
    "topo.vm_flat": [({FILE: None}, "warn", set(), "flat_guest"), ({FILE: BAD}, "unknown", set(), "flat_guest")],
    "pcie.path_min": [({m.SWITCH + "/current_link_speed": "8.0 GT/s PCIe\n"}, "ok", set()),
                      ({m.NIC + "/current_link_speed": "16.0 GT/s PCIe\n"}, "warn", {"pcie.speed"}),
                      ({m.NIC + "/current_link_width": BAD}, "unknown", {"pcie.width"})],
}
