# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups peer and dmabuf of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import elf
import machines as m
import nvml
import verbs

BAD = m.UNREADABLE
NVIDIA_VERSION, MODULE = "/proc/driver/nvidia/version", "/sys/module/nvidia_peermem"
OLD = {"/proc/version": "Linux version 5.4.0-1 (x)\n"}
MODULE_CHECKS = {"peer.conflict", "peer.symbols", "peer.params", "peer.autoload"}
LINUX_CHECKS = {"dmabuf.kernel", "dmabuf.p2pdma", "rdma.stack"}
KALLSYMS, STACK = "/proc/kallsyms", "0 T printk\n0 T ib_register_client\t[ib_core]\n"
DISAGREES = {"/gdrkit/kernel_log": m.kernel_log("nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client")}
GONE = ({"peer.any"} | MODULE_CHECKS | LINUX_CHECKS) - {"peer.symbols"}
DIRECTORY = m.VERBS.rsplit("/", 1)[0]
HANGS = {"peer.any", "rdma.stack"}
DIRECT = {"acs.datadirect", "iommu.groups"}
FILES_ALONE = {verbs.PATH: None}
NO_MODULE = {"peer.any", "peer.conflict", "peer.params", "peer.symbols", "peer.autoload"}


def _verbs_facts(**devices):
    return {verbs.PATH: verbs.document(**devices)}


CASES = {
    "peer.any": [
        ({MODULE: None, **OLD}, "fail", MODULE_CHECKS | LINUX_CHECKS),
        ({MODULE: None, "/sys/module/nv_peer_mem/version": "1.3\n", **OLD}, "warn", MODULE_CHECKS | LINUX_CHECKS),
        ({MODULE: None}, "ok", MODULE_CHECKS),
        ({MODULE: None, nvml.PATH: nvml.of(m.server(), first={"cuda_dmabuf": False})}, "fail",
         MODULE_CHECKS | LINUX_CHECKS - {"dmabuf.kernel"}),
        (OLD, "ok", LINUX_CHECKS),
        ({MODULE: None, "/proc/version": "Linux version 4.18.0-553.el8_10.x86_64 (x)\n"}, "unknown",
         MODULE_CHECKS | LINUX_CHECKS),
        ({MODULE: BAD, **OLD}, "unknown", MODULE_CHECKS | LINUX_CHECKS)],
    "peer.conflict": [({"/sys/module/nv_peer_mem/version": "1.3\n"}, "fail", set()),
                      ({"/sys/module/nv_peer_mem": BAD}, "unknown", set())],
    "peer.symbols": [
        ({MODULE: None, **OLD, KALLSYMS: STACK}, "fail", GONE),
        ({MODULE: None, **OLD, KALLSYMS: STACK + "0 T ib_register_peer_memory_client\t[ib_core]\n"}, "ok", GONE),
        ({MODULE: None, **DISAGREES}, "warn", GONE - LINUX_CHECKS),
        ({MODULE: None, **DISAGREES, **OLD}, "fail", GONE),
        ({MODULE: None, KALLSYMS: STACK}, "ok", GONE - LINUX_CHECKS),
        ({MODULE: None, **OLD, KALLSYMS: "0 T printk\n"}, "unknown", GONE),
        ({MODULE: None, **OLD, KALLSYMS: BAD}, "unknown", GONE),
        ({"/sys/module/nv_peer_mem": BAD, MODULE: None, **OLD}, "unknown", GONE)],
    "peer.params": [({MODULE + "/parameters/peerdirect_support": "1\n"}, "warn", set()),
                    ({"/sys/module/mlx5_core/version": "4.9-2.2.4\n"}, "warn", {"rdma.stack"}),
                    ({MODULE + "/parameters/peerdirect_support": "1\n", "/sys/module/mlx5_core/version": "4.9-2.2.4\n"},
                     "ok", {"rdma.stack"}),
                    ({MODULE + "/parameters/persistent_api_support": "0\n"}, "info", set()),
                    ({MODULE + "/parameters": None}, "skip", set()),
                    ({MODULE + "/parameters/peerdirect_support": "2\n"}, "unknown", set()),
                    ({MODULE + "/parameters/peerdirect_support": BAD}, "unknown", set())],
    "peer.order": [({"/proc/modules": m.modules("nvidia", "ib_core", "nvidia_peermem")}, "warn", set()),
                   ({"/proc/modules": m.modules("ib_core", "nvidia_peermem", "nvidia")}, "warn", set()),
                   ({"/proc/modules": m.modules("nvidia_peermem", "nvidia")}, "ok", set()),
                   ({"/proc/modules": m.modules("nvidia", "ib_core")}, "skip", set()),
                   ({"/proc/modules": BAD}, "unknown", set()), ({"/proc/modules": None}, "unknown", set())],
    "peer.autoload": [({"/etc/modules-load.d/gpu.conf": "nvidia\n"}, "warn", set()),
                      ({"/etc/modules-load.d": None}, "warn", set()),
                      ({"/etc/modules-load.d": None}, "skip", set(), "container"),
                      ({"/etc/modules-load.d/gpu.conf": BAD}, "unknown", set())],
    "dmabuf.kernel": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "warn", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux version 4.18.0-553.el8_10.x86_64 (x)\n"}, "info", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux\n"}, "unknown", HANGS | {"dmabuf.p2pdma"})],
    "dmabuf.verbs": [
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_open_device@IBVERBS_1.1")}, "warn", set()),
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_reg_dmabuf_mr@OTHER")}, "warn", set()),
        ({**FILES_ALONE, m.VERBS: None, DIRECTORY + "/libibverbs.so.1": None}, "warn", set()),
        ({**FILES_ALONE, "/etc/ld.so.conf.d/ofed.conf": "# ours\n/opt/ofed/lib\n", "/opt/ofed/lib/libibverbs.so.1": elf.library("a@B")},
         "warn", set()),
        ({m.NIC + "/device": "0x2100\n"}, "warn", DIRECT),
        ({m.NIC + "/device": "0x2100\n", DIRECTORY + "/libmlx5.so.1": elf.library("mlx5dv_reg_dmabuf_mr@MLX5_1.25")}, "ok",
         DIRECT),
        ({**FILES_ALONE, m.VERBS: b"\x7fELF" + bytes(60)}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_reg_dmabuf_mr@IBVERBS_1.12")[:200]}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: BAD}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: None, DIRECTORY: BAD, DIRECTORY + "/libibverbs.so.1": None}, "unknown", {"drv.match"}),
        # libibverbs' result takes precedence over the files
        ({m.VERBS: elf.library("a@B")}, "ok", set()),
        (_verbs_facts(mlx5_0=True, mlx5_1=False), "info", set()),
        ({**_verbs_facts(mlx5_0=True, mlx5_1=False), "/sys/module/nvidia_peermem": None, "/etc/modules-load.d": None}, "warn", NO_MODULE),
        (_verbs_facts(mlx5_0=verbs.TOO_OLD, mlx5_1=verbs.TOO_OLD), "warn", set()),
        (_verbs_facts(mlx5_0=True, mlx5_1=verbs.REFUSED), "unknown", set()),
        (_verbs_facts(mlx5_0=True), "unknown", set()),
        ({verbs.PATH: verbs.unavailable()}, "ok", set()),
        ({verbs.PATH: "{"}, "unknown", set()),
        ({verbs.PATH: BAD}, "ok", set())],
    "dmabuf.p2pdma": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "info", HANGS | {"dmabuf.kernel"}),
        ({"/proc/version": BAD}, "unknown", HANGS | {"dmabuf.kernel"})],
}
