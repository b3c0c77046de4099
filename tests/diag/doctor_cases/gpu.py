# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups gpu and nvlink of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import machines as m
import nvml

SERVER = m.server()
BAD, PATH = m.UNREADABLE, nvml.PATH
# Checks that use only NVML; drv.match and gpu.chipset_p2p also read files.
PROBED = {"cuda.version", "gpu.class", "gpu.mig", "gpu.persistence", "gpu.ecc", "gpu.compute_mode", "gpu.cc", "nvl.state",
          "nvl.fabric", "nvl.imex", "bar1.free", "drv.match"}


def first(**facts):
    """The server with other facts of its GPU."""
    return {PATH: nvml.of(SERVER, first=facts)}


def whole(**facts):
    return {PATH: nvml.of(SERVER, **facts)}


def arm(implementer, part, root_vendor, **facts):
    """The server with a processor of the arm64 kind whose root port is of this vendor, and adapters below another root port."""
    apart = "/sys/devices/pci0001:00/0001:00:01.0/0001:01:00.0"
    return {"/proc/cpuinfo": f"processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n",
            "/sys/class/dmi/id/sys_vendor": "Some\n", m.ROOT + "/vendor": root_vendor + "\n", m.NIC: None,
            **{path.replace(m.NIC, apart): value for path, value in SERVER.items() if path.startswith(m.NIC + "/")},
            "/sys/bus/pci/devices/0000:04:00.0": None,
            "/sys/bus/pci/devices/0001:01:00.0": m.link("/sys/bus/pci/devices/0001:01:00.0", apart),
            "/sys/class/infiniband/mlx5_0/device": m.link("/sys/class/infiniband/mlx5_0/device", apart), **facts}


MOVED = {"cpu.wc", "cpu.copy_isa", "vm.detect", "acs.redirect", "iommu.mode", "pcie.width", "pcie.speed", "pcie.mps", "pcie.mrrs", "pcie.relaxed",
         "pcie.aspm", "pcie.aer"}


CLUSTER = "0123456789abcdef" * 2
CHANNELS = "/dev/nvidia-caps-imex-channels"

CASES = {
    "gpu.count": [({}, "fail", set(), "server", "--expect-gpus", "2"), ({}, "ok", set(), "server", "--expect-gpus", "1"),
                  # Without a list of devices most checks are unknown; they are not listed here.
                  ({PATH: None, "/sys/bus/pci/devices": BAD}, "unknown", None, "server", "--expect-gpus", "1")],
    "cuda.version": [(whole(cuda_version=11060), "warn", set()), (whole(cuda_version=11030), "warn", set()),
                     (whole(cuda_version=nvml.failed(), cuda_library_version=11070), "ok", set()),
                     (whole(cuda_version=nvml.failed(), cuda_library_version=nvml.failed()), "unknown", set()),
                     ({PATH: None}, "unknown", PROBED - {"cuda.version"}),
                     ({PATH: BAD}, "unknown", PROBED - {"cuda.version"}),
                     ({PATH: "{"}, "unknown", PROBED - {"cuda.version"}),
                     ({PATH: nvml.unavailable()}, "unknown", PROBED - {"cuda.version"}),
                     ({PATH: nvml.document([])}, "ok", PROBED - {"cuda.version", "gpu.cc", "drv.match"})],
    "gpu.class": [(first(cuda_rdma=False), "warn", set()),
                  (first(cuda_rdma=nvml.failed("CUDA_ERROR_NO_DEVICE", "cuInit")), "ok", set()),
                  (first(cuda_rdma=nvml.failed(), brand=15), "warn", set()),
                  (first(cuda_rdma=nvml.failed(), brand=0), "unknown", set()),
                  (first(cuda_rdma=nvml.failed(), brand=nvml.failed()), "unknown", set())],
    "gpu.mig": [(first(mig=True), "warn", {"nvl.state"}), (first(mig=nvml.lacks()), "skip", set()),
                (first(mig_next=True), "ok", set()), (first(mig=nvml.failed()), "unknown", set()),
                (first(mig="on"), "unknown", set())],
    "gpu.persistence": [(first(persistence=False), "warn", set()), (first(persistence=nvml.failed()), "unknown", set())],
    "gpu.ecc": [(first(ecc_uncorrected=1), "fail", set()), (first(remap_failed=True), "fail", set()),
                (first(remap_pending=True), "warn", set()), (first(ecc_enabled=False), "info", set()),
                (first(ecc_enabled=nvml.lacks(), ecc_uncorrected=nvml.lacks(), remap_pending=nvml.lacks(),
                       remap_failed=nvml.lacks()), "skip", set()),
                (first(remap_pending=nvml.lacks(), remap_failed=nvml.lacks()), "ok", set()),
                (first(ecc_uncorrected=nvml.failed()), "unknown", set()), (first(remap_failed=nvml.failed()), "unknown", set()),
                (first(ecc_enabled=nvml.failed()), "unknown", set())],
    "gpu.compute_mode": [(first(compute_mode=3), "warn", set()), (first(compute_mode=1), "warn", set()),
                         (first(compute_mode=2), "fail", set()), (first(compute_mode=9), "unknown", set()),
                         (first(compute_mode=nvml.failed()), "unknown", set())],
    "gpu.cc": [(whole(cc_enabled=True), "warn", set()),
               ({**whole(cc_enabled=True), "/proc/cpuinfo": "vendor_id\t: GenuineIntel\nflags\t\t: fpu pat avx2\n",
                 "/sys/module/gdrdrv/taint": "POE\n"}, "fail", set()),
               (whole(cc_enabled=nvml.lacks()), "skip", set()), (whole(cc_enabled=nvml.failed()), "unknown", set())],
    "gpu.chipset_p2p": [(arm("0x41", "0xd0c", "0x1def"), "fail", MOVED),
                        (arm("0xc0", "0xac3", "0x1def"), "fail", MOVED),
                        (arm("0x41", "0xd4f", "0x10de"), "fail", MOVED),
                        (arm("0x41", "0xd4f", "0x10de", **first(c2c_links=10)), "ok", MOVED | {"bar1.free"}),
                        (arm("0x41", "0xd4f", "0x10de", **first(c2c_links=nvml.failed())), "unknown", MOVED),
                        (arm("0x41", "0xd0c", "0x1d0f"), "unknown", MOVED),
                        (arm("0x41", "0xd4f", "0x10de", **{PATH: None}), "unknown", MOVED | PROBED),
                        ({**arm("0xc0", "0xac3", "0x1def"), "/proc/driver/nvidia/params": m.params("1")}, "info",
                         MOVED | {"drv.params"}),
                        (arm("", "", "0x1def", **{"/proc/cpuinfo": SERVER["/proc/cpuinfo"], "/sys/class/dmi": None}), "ok",
                         MOVED - {"cpu.wc", "cpu.copy_isa", "vm.detect"}),
                        (arm("", "", "0x1def", **{"/proc/cpuinfo": BAD}), "unknown", MOVED | {"acs.persist"})],
    "nvl.state": [(first(links=[nvml.link(i) for i in range(17)] + [nvml.inactive(17)]), "warn", set()),
                  (first(links=[nvml.inactive(i) for i in range(18)]), "info", set()),
                  (first(links=0), "skip", set()), (first(links=0, nvlink_count=nvml.lacks()), "skip", set()),
                  (first(links=0, nvlink_count=nvml.failed()), "unknown", set()),
                  (first(links=[nvml.link(0, is_active=nvml.failed())]), "unknown", set())],
    "nvl.fabric": [(first(fabric_state=1), "fail", set()), (first(fabric_state=2), "warn", set()),
                   (first(fabric_status=3), "fail", set()), (first(fabric_state=0), "skip", set()),
                   (first(fabric_state=nvml.lacks()), "skip", set()), (first(fabric_state=7), "unknown", set()),
                   (first(fabric_status=nvml.failed()), "unknown", set()),
                   (first(fabric_state=nvml.failed("NVML_ERROR_FUNCTION_NOT_FOUND")), "unknown", {"nvl.imex"})],
    "nvl.imex": [(first(fabric_cluster=CLUSTER), "warn", set()),
                 ({**first(fabric_cluster=CLUSTER), CHANNELS + "/channel0": ""}, "ok", set()),
                 (first(fabric_cluster=nvml.failed()), "unknown", set())],
}
