# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group peer of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE

CASES = {
    "peer.any": [
        ({"/sys/module/nvidia_peermem": None, "/proc/version": "Linux version 5.4.0-1 (x)\n"}, "fail",
         {"peer.conflict", "peer.autoload", "dmabuf.kernel"}),
        ({"/sys/module/nvidia_peermem": None}, "ok", {"peer.conflict", "peer.autoload"}),
        ({"/sys/module/nvidia_peermem": BAD, "/proc/version": "Linux version 5.4.0-1 (x)\n"}, "unknown",
         {"peer.conflict", "peer.autoload", "dmabuf.kernel"})],
    "peer.conflict": [({"/sys/module/nv_peer_mem/version": "1.3\n"}, "fail", set()),
                      ({"/sys/module/nv_peer_mem": BAD}, "unknown", set())],
    "peer.autoload": [({"/etc/modules-load.d/gpu.conf": "nvidia\n"}, "warn", set()),
                      ({"/etc/modules-load.d": None}, "warn", set()),
                      ({"/etc/modules-load.d/gpu.conf": BAD}, "unknown", set())],
    "dmabuf.kernel": [({"/proc/version": "Linux version 5.4.0-150-generic (x)\n"}, "warn", set()),
                      ({"/proc/version": "Linux version 4.18.0-553.el8_10.x86_64 (x)\n"}, "info", set()),
                      ({"/proc/version": "Linux\n"}, "unknown", set())],
    "rdma.modules": [({"/sys/module/rdma_ucm": None}, "warn", set()),
                     ({"/sys/module/ib_uverbs": None, "/dev/infiniband/uverbs0": None}, "fail", {"ctr.devices"}),
                     ({"/sys/module/ib_uverbs": BAD, "/dev/infiniband/uverbs0": None}, "unknown", {"ctr.devices"})],
}
