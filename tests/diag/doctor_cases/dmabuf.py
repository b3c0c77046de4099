# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group dmabuf of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import elf
import machines as m
import verbs

BAD = m.UNREADABLE
FOLDER = m.VERBS.rsplit("/", 1)[0]
HANGS = {"peer.any", "rdma.stack"}
DIRECT = {"acs.datadirect", "iommu.groups"}
FILES_ALONE = {verbs.PATH: None}
NO_MODULE = {"peer.any", "peer.conflict", "peer.params", "peer.symbols", "peer.autoload"}


def _answers(**devices):
    return {verbs.PATH: verbs.document(**devices)}


CASES = {
    "dmabuf.kernel": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "warn", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux version 4.18.0-553.el8_10.x86_64 (x)\n"}, "info", HANGS | {"dmabuf.p2pdma"}),
        ({"/proc/version": "Linux\n"}, "unknown", HANGS | {"dmabuf.p2pdma"})],
    "dmabuf.verbs": [
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_open_device@IBVERBS_1.1")}, "warn", set()),
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_reg_dmabuf_mr@OTHER")}, "warn", set()),
        ({**FILES_ALONE, m.VERBS: None, FOLDER + "/libibverbs.so.1": None}, "warn", set()),
        ({**FILES_ALONE, "/etc/ld.so.conf.d/ofed.conf": "# ours\n/opt/ofed/lib\n", "/opt/ofed/lib/libibverbs.so.1": elf.library("a@B")},
         "warn", set()),
        ({m.NIC + "/device": "0x2100\n"}, "warn", DIRECT),
        ({m.NIC + "/device": "0x2100\n", FOLDER + "/libmlx5.so.1": elf.library("mlx5dv_reg_dmabuf_mr@MLX5_1.25")}, "ok",
         DIRECT),
        ({**FILES_ALONE, m.VERBS: b"\x7fELF" + bytes(60)}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: elf.library("ibv_reg_dmabuf_mr@IBVERBS_1.12")[:200]}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: BAD}, "unknown", set()),
        ({**FILES_ALONE, m.VERBS: None, FOLDER: BAD, FOLDER + "/libibverbs.so.1": None}, "unknown", {"drv.match"}),
        # libibverbs' result takes precedence over the files
        ({m.VERBS: elf.library("a@B")}, "ok", set()),
        (_answers(mlx5_0=True, mlx5_1=False), "info", set()),
        ({**_answers(mlx5_0=True, mlx5_1=False), "/sys/module/nvidia_peermem": None, "/etc/modules-load.d": None}, "warn", NO_MODULE),
        (_answers(mlx5_0=verbs.TOO_OLD, mlx5_1=verbs.TOO_OLD), "warn", set()),
        (_answers(mlx5_0=True, mlx5_1=verbs.REFUSED), "unknown", set()),
        (_answers(mlx5_0=True), "unknown", set()),
        ({verbs.PATH: verbs.no_answer()}, "ok", set()),
        ({verbs.PATH: "{"}, "unknown", set()),
        ({verbs.PATH: BAD}, "ok", set())],
    "dmabuf.p2pdma": [
        ({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "info", HANGS | {"dmabuf.kernel"}),
        ({"/proc/version": BAD}, "unknown", HANGS | {"dmabuf.kernel"})],
}
