# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group container of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
LIMITS = "/sys/fs/cgroup/rdma.max"
MODE = "/sys/module/ib_core/parameters/netns_mode"

CASES = {
    "ctr.cgroup": [({LIMITS: "mlx5_0 hca_handle=0 hca_object=max\n"}, "fail", set(), "container"),
                   ({LIMITS: "mlx5_0 hca_handle=2 hca_object=2000\n"}, "warn", set(), "container"),
                   ({LIMITS: "mlx5_0 hca_handle=many\n"}, "unknown", set(), "container"),
                   ({LIMITS: BAD}, "unknown", set(), "container"),
                   ({"/sys/fs/cgroup/user.slice/rdma.max": "mlx5_1 hca_handle=max hca_object=9\n",
                     "/proc/self/cgroup": "0::/user.slice/session\n"}, "warn", set()),
                   ({"/sys/fs/cgroup/rdma/job/rdma.max": "mlx5_1 hca_handle=1 hca_object=max\n",
                     "/proc/self/cgroup": "9:cpuset:/\n7:rdma:/job/step\n"}, "warn", set()),
                   ({"/proc/self/cgroup": None}, "skip", set())],
    "ctr.rdma_ns": [({"/sys/class/net": None}, "fail", {"nic.mtu", "roce.qos"}, "roce_server"),
                    ({MODE: "N\n"}, "ok", set()),
                    ({MODE: None}, "ok", set()),
                    ({MODE: "maybe\n"}, "unknown", set()),
                    ({MODE: BAD}, "unknown", set())],
}
