# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group gdrdrv of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import elf
import machines as m

BAD = m.UNREADABLE
NVIDIA_VERSION = "/proc/driver/nvidia/version"
PARAMS, OWNERS, REFCOUNT = (f"/proc/driver/gdrdrv/{name}" for name in ("params", "owners", "nv_get_pages_refcount"))
GONE, GDRAPI = {"/sys/module/gdrdrv": None, "/proc/driver/gdrdrv": None}, "/usr/local/lib/libgdrapi.so.2.5"
OTHERS = {"gdr.version", "gdr.persist", "gdr.leak"}
GONE_CHECKS = OTHERS | {"gdr.flavour"}
KO, CLOSED = "/lib/modules/6.8.0-45-generic/updates/dkms/gdrdrv.ko", {NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}
SAYS = "gdrdrv:gdrdrv_init:loading gdrdrv version 2.4.1 built for {0} NVIDIA driver"

CASES = {
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
                    ({PARAMS: None, "/gdrkit/kernel_log": m.kernel_log(SAYS.format("proprietary"))}, "warn", {"gdr.persist"}),
                    ({PARAMS: None, "/gdrkit/kernel_log": m.kernel_log(SAYS.format("proprietary"), SAYS.format("opensource"))}, "ok",
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
}
