# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups driver, gdrdrv and security of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import elf
import machines as m
import nvml

BAD = m.UNREADABLE
NVIDIA_VERSION, NVIDIA_PARAMS = "/proc/driver/nvidia/version", "/proc/driver/nvidia/params"
DMABUF = {"gdr.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"}  # checks that also depend on the driver's flavour

LIBRARIES = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so."
OTHER = {LIBRARIES + "1": m.Link("libnvidia-ml.so.535.54.03"), LIBRARIES + "535.54.03": ""}
NVML_CHECKS = {"cuda.version", "gpu.class", "gpu.mig", "gpu.persistence", "gpu.ecc", "gpu.compute_mode", "gpu.cc", "nvl.state",
           "nvl.fabric", "nvl.imex", "bar1.free"}  # facts from NVML only
PARAMS, OWNERS, REFCOUNT = (f"/proc/driver/gdrdrv/{name}" for name in ("params", "owners", "nv_get_pages_refcount"))
GONE, GDRAPI = {"/sys/module/gdrdrv": None, "/proc/driver/gdrdrv": None}, "/usr/local/lib/libgdrapi.so.2.5"
OTHERS = {"gdr.version", "gdr.persist", "gdr.leak"}
GONE_CHECKS = OTHERS | {"gdr.flavour"}
KO, CLOSED = "/lib/modules/6.8.0-45-generic/updates/dkms/gdrdrv.ko", {NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}
LOAD_MESSAGE = "gdrdrv:gdrdrv_init:loading gdrdrv version 2.4.1 built for {0} NVIDIA driver"
BOOT = m.SECURE_BOOT
ON = {BOOT: bytes((6, 0, 0, 0, 1))}
NO_GDRDRV = {"/sys/module/gdrdrv": None}
SLE = {"/etc/os-release": 'NAME="SLES"\nID="sles"\n'}
SETTING = "/lib/modprobe.d/10-unsupported-modules.conf"
GDRDRV = {"gdr.module", "gdr.version"}

CASES = {
    "drv.match": [(OTHER, "warn", set()), ({**OTHER, nvml.PATH: None}, "fail", NVML_CHECKS),
                  ({nvml.PATH: nvml.unavailable("nvmlInit_v2: NVML_ERROR_LIB_RM_VERSION_MISMATCH")}, "fail", NVML_CHECKS),
                  ({nvml.PATH: None}, "ok", NVML_CHECKS),
                  ({nvml.PATH: None, LIBRARIES + "1": None}, "unknown", NVML_CHECKS),
                  ({nvml.PATH: None, LIBRARIES + "1": m.Link("libnvidia-ml.so"), LIBRARIES[:-1]: ""}, "unknown", NVML_CHECKS),
                  ({"/sys/module/nvidia/version": "580.95.05\n"}, "warn", set()),
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
    "drv.params": [({NVIDIA_PARAMS: m.params("1")}, "warn", set()), ({NVIDIA_PARAMS: m.params("2")}, "fail", set()),
                   ({NVIDIA_PARAMS: None}, "skip", {"drv.remap"}), ({NVIDIA_PARAMS: m.params("many")}, "unknown", set())],
    "drv.remap": [({NVIDIA_PARAMS: m.params(remap="0"), m.NIC + "/iommu_group/type": "DMA-FQ\n"}, "fail", {"iommu.mode"}),
                  ({NVIDIA_PARAMS: m.params(remap="0")}, "ok", set()),
                  ({NVIDIA_PARAMS: m.params(remap="0"), m.NIC + "/iommu_group": None}, "ok", {"iommu.mode"}),
                  ({NVIDIA_PARAMS: "GrdmaPciTopoCheckOverride: 0\n"}, "skip", set()),
                  ({NVIDIA_PARAMS: m.params(remap="0"), m.NIC + "/iommu_group/type": BAD}, "unknown", {"iommu.mode"}),
                  ({NVIDIA_PARAMS: m.params(remap="yes")}, "unknown", set())],
    "gdr.module": [(GONE, "info", GONE_CHECKS),
                   ({**GONE, GDRAPI: "no variable of ours"}, "warn", GONE_CHECKS),
                   ({**GONE, GDRAPI: "x GDRKIT_BACKEND"}, "info", GONE_CHECKS),
                   ({**GONE, GDRAPI: BAD}, "unknown", GONE_CHECKS),
                   ({"/sys/module/gdrdrv/initstate": "going\n"}, "warn", set()),
                   ({"/sys/module/gdrdrv": BAD, "/sys/module/gdrdrv/version": None}, "unknown", {"gdr.version"})],
    "gdr.flavour": [({PARAMS: m.gdrdrv_params("proprietary")}, "warn", set()),
                    ({NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}, "fail",
                     {"drv.loaded", "drv.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"}),
                    ({PARAMS: "Version: 2.4\nUse persistent mapping: yes\n"}, "skip", set()),
                    ({PARAMS: None, "/gdrkit/kernel_log": m.kernel_log(LOAD_MESSAGE.format("proprietary"))}, "warn", {"gdr.persist"}),
                    ({PARAMS: None, "/gdrkit/kernel_log": m.kernel_log(LOAD_MESSAGE.format("proprietary"), LOAD_MESSAGE.format("opensource"))}, "ok",
                     {"gdr.persist"}),
                    ({**GONE, KO: elf.module(version="2.4", description="GDRCopy kernel-mode driver built for opensource NVIDIA driver")},
                     "ok", {"gdr.module"} | OTHERS),
                    ({**GONE, KO: elf.module(description="built for opensource"), **CLOSED}, "fail",
                     {"gdr.module", "drv.loaded", "drv.flavour", "peer.any", "dmabuf.p2pdma", "rdma.stack"} | OTHERS),
                    ({**GONE, KO: b"\x7fELF"}, "unknown", {"gdr.module"} | OTHERS),
                    ({PARAMS: m.gdrdrv_params("other")}, "unknown", set())],
    "gdr.persist": [({PARAMS: m.gdrdrv_params(persistent="no")}, "info", set()),
                    ({PARAMS: None}, "skip", {"gdr.flavour"}),
                    ({PARAMS: BAD}, "unknown", {"gdr.flavour"})],
    "gdr.leak": [({OWNERS: "process pins bytes\n17 3 196608\nrefused by the NVIDIA driver: 2\n"}, "warn", set()),
                 ({OWNERS: "process pins bytes\n17 3 196608\nrefused by the NVIDIA driver: 0\n"}, "ok", set()),
                 ({OWNERS: None}, "skip", set()),
                 ({OWNERS: None, REFCOUNT: "3\n", "/sys/module/gdrdrv/refcnt": "0\n"}, "warn", set()),
                 ({OWNERS: None, REFCOUNT: "3\n", "/sys/module/gdrdrv/refcnt": "1\n"}, "ok", set()),
                 ({OWNERS: None, REFCOUNT: "3\n"}, "unknown", set()),
                 ({OWNERS: "process pins bytes\n"}, "unknown", set()), ({OWNERS: BAD}, "unknown", set())],
    "gdr.version": [({"/sys/module/gdrdrv/version": "2.3\n"}, "warn", set()),
                    ({"/sys/module/gdrdrv/version": "1.9\n"}, "fail", set()),
                    ({GDRAPI.replace("2.5", "2.6"): ""}, "warn", set()), ({GDRAPI.replace("2.5", "1.3"): ""}, "warn", set()),
                    ({GDRAPI: ""}, "ok", set()),
                    ({"/sys/module/gdrdrv/version": "x" * 300000}, "unknown", set())],
    "gdr.node": [({"/dev/gdrdrv": m.Device((507, 0, 0o666, 0, 0))}, "fail", set()),
                 ({"/dev/gdrdrv": None}, "fail", set()),
                 ({"/dev/gdrdrv": m.Device((508, 0, 0o600, 0, 0))}, "warn", set()),
                 ({"/proc/misc": "122 gdrdrv\n", "/dev/gdrdrv": m.Device((10, 122, 0o666, 0, 0))}, "ok", set()),
                 ({"/proc/misc": "122 gdrdrv\n", "/dev/gdrdrv": m.Device((10, 121, 0o666, 0, 0))}, "fail", set()),
                 ({"/proc/devices": "Character devices:\n195 nvidia\n"}, "warn", set()),
                 ({"/proc/devices": BAD}, "unknown", set())],
    "sec.lockdown": [({"/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"}, "warn", set()),
                     ({"/sys/kernel/security": None}, "ok", set()),
                     ({"/sys/kernel/security/lockdown": BAD}, "unknown", set())],
    "sec.secureboot": [({**ON, **NO_GDRDRV}, "warn", GDRDRV),
                       (ON, "ok", set()),
                       ({"/sys/firmware": None}, "ok", set()),
                       ({BOOT: None, "/sys/firmware/efi/efivars/Other": b"1"}, "ok", set()),
                       ({BOOT: None, "/sys/firmware/efi/fw_platform_size": "64\n"}, "unknown", set()),
                       ({BOOT: BAD}, "unknown", set()),
                       ({BOOT: bytes((6, 0, 0, 0))}, "unknown", set()),
                       ({BOOT: bytes((6, 0, 0, 0, 7))}, "unknown", set())],
    "sec.sle": [({**SLE, **NO_GDRDRV, SETTING: "# text\nallow_unsupported_modules 0\n"}, "warn", GDRDRV),
                ({**SLE, SETTING: "allow_unsupported_modules 0\n"}, "ok", set()),
                ({**SLE, **NO_GDRDRV, SETTING: "allow_unsupported_modules 0\n",
                  SETTING.replace("/lib", "/etc"): "allow_unsupported_modules 1\n"}, "ok", GDRDRV),
                (SLE, "unknown", set()),
                ({**SLE, SETTING: BAD}, "unknown", set()),
                ({"/etc/os-release": BAD}, "unknown", set())],
}
