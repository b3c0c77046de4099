# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group driver of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m
import nvml

BAD = m.UNREADABLE
NVIDIA_VERSION, PARAMS = "/proc/driver/nvidia/version", "/proc/driver/nvidia/params"
DMABUF = {"gdr.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"}  # checks that also depend on the driver's flavour

LIBRARIES = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so."
OTHER = {LIBRARIES + "1": m.Link("libnvidia-ml.so.535.54.03"), LIBRARIES + "535.54.03": ""}
UNASKED = {"cuda.version", "gpu.class", "gpu.mig", "gpu.persistence", "gpu.ecc", "gpu.compute_mode", "gpu.cc", "nvl.state",
           "nvl.fabric", "nvl.imex", "bar1.free"}  # facts from NVML only

CASES = {
    "drv.match": [(OTHER, "warn", set()), ({**OTHER, nvml.PATH: None}, "fail", UNASKED),
                  ({nvml.PATH: nvml.no_answer("nvmlInit_v2: NVML_ERROR_LIB_RM_VERSION_MISMATCH")}, "fail", UNASKED),
                  ({nvml.PATH: None}, "ok", UNASKED),
                  ({nvml.PATH: None, LIBRARIES + "1": None}, "unknown", UNASKED),
                  ({nvml.PATH: None, LIBRARIES + "1": m.Link("libnvidia-ml.so"), LIBRARIES[:-1]: ""}, "unknown", UNASKED),
                  ({"/sys/module/nvidia/version": m.UNREADABLE}, "unknown", set())],
    "drv.loaded": [
        ({"/proc/driver/nvidia": None, "/sys/module/nvidia": None}, "fail",
         {"drv.flavour", "drv.version", "drv.params", "drv.remap", "drv.match", "ctr.devices"} | DMABUF),
        ({NVIDIA_VERSION: BAD, "/sys/module/nvidia/version": BAD}, "unknown",
         {"drv.flavour", "drv.version", "drv.match", "ctr.devices"} | DMABUF)],
    "drv.flavour": [({NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}, "warn", {"drv.loaded"} | DMABUF),
                    ({NVIDIA_VERSION: b"\0\1\2"}, "unknown",
                     {"drv.loaded", "drv.version", "ctr.devices"} | DMABUF)],
    "drv.version": [({NVIDIA_VERSION: m.OPEN.format("515.43.04")}, "warn", {"drv.loaded", "drv.flavour"}),
                    ({NVIDIA_VERSION: m.OPEN.format("460.32.03")}, "fail", {"drv.loaded", "drv.flavour"}),
                    ({NVIDIA_VERSION: "no number\n"}, "unknown", {"drv.loaded", "drv.flavour", "ctr.devices"} | DMABUF)],
    "drv.params": [({PARAMS: m.params("1")}, "warn", set()), ({PARAMS: m.params("2")}, "fail", set()),
                   ({PARAMS: m.params("many")}, "unknown", set())],
    "drv.remap": [({PARAMS: m.params(remap="0"), m.NIC + "/iommu_group/type": "DMA-FQ\n"}, "fail", {"iommu.mode"}),
                  ({PARAMS: m.params(remap="0")}, "ok", set()),
                  ({PARAMS: m.params(remap="0"), m.NIC + "/iommu_group": None}, "ok", {"iommu.mode"}),
                  ({PARAMS: "GrdmaPciTopoCheckOverride: 0\n"}, "skip", set()),
                  ({PARAMS: m.params(remap="0"), m.NIC + "/iommu_group/type": BAD}, "unknown", {"iommu.mode"}),
                  ({PARAMS: m.params(remap="yes")}, "unknown", set())],
}
