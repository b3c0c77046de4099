# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group roce of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
PORT = "/sys/class/infiniband/mlx5_0/ports/1/"
ENVIRON = "/proc/self/environ"
EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000\n"
ECN = m.NIC + "/net/eth0/ecn/roce_{0}/enable/3"
NAMELESS = {"roce.tc", "ctr.caps", *("env." + name for name in (
    "unknown", "ibgda", "debug_left", "gdr_level", "sources", "nvshmem", "ib_hca", "socket_if", "ib_disable", "ucx", "deprecated"))}

CASES = {
    "roce.gid": [({PORT + "gids/2": None, PORT + "gids/3": EMPTY}, "warn", set(), "roce_server"),
                 ({PORT + f"gid_attrs/types/{i}": "IB/RoCE v1\n" for i in (1, 3)}, "warn", set(), "roce_server"),
                 ({PORT + "gids/3": "2001:0db8:0000:0000:0000:0000:0000:0001\n"}, "ok", set(), "roce_server"),
                 ({PORT + f"gids/{i}": EMPTY for i in range(4)}, "fail", {"nic.mtu", "roce.qos", "ctr.rdma_ns"}, "roce_server"),
                 ({PORT + "gid_attrs/types": BAD}, "unknown", set(), "roce_server"),
                 ({PORT + "gids": BAD}, "unknown", {"nic.mtu", "roce.qos", "ctr.rdma_ns"}, "roce_server")],
    "roce.gid_index": [({ENVIRON: m.environ(NCCL_IB_GID_INDEX="2")}, "fail", set(), "roce_server"),
                       ({ENVIRON: m.environ(NVSHMEM_IB_GID_INDEX="7")}, "fail", set(), "roce_server"),
                       ({ENVIRON: m.environ(UCX_IB_GID_INDEX="300")}, "fail", set(), "roce_server"),
                       ({ENVIRON: m.environ(NCCL_IB_GID_INDEX="2", NCCL_IB_HCA="mlx5_1")}, "warn", {"env.ib_hca"}, "roce_server"),
                       ({ENVIRON: m.environ(NCCL_IB_GID_INDEX="three")}, "warn", set(), "roce_server"),
                       ({ENVIRON: m.environ(NCCL_IB_GID_INDEX="3")}, "ok", set(), "roce_server"),
                       ({ENVIRON: m.environ(UCX_IB_GID_INDEX="auto")}, "ok", set(), "roce_server"),
                       ({ENVIRON: BAD}, "unknown", NAMELESS, "roce_server")],
    "roce.qos": [({ECN.format("rp"): "0\n"}, "warn", set(), "roce_server"),
                 ({ECN.format("rp"): "0\n", ECN.format("np"): "0\n"}, "info", set(), "roce_server"),
                 ({m.NIC + "/net/eth0/qos/trust": "pcp\n"}, "ok", set(), "roce_server"),
                 ({m.NIC + "/net/eth0/ecn": None}, "unknown", set(), "roce_server"),
                 ({ECN.format("np"): "on\n"}, "unknown", set(), "roce_server")],
    "roce.tc": [({ENVIRON: m.environ(NCCL_IB_TC="160")}, "warn", set(), "roce_server"),
                ({ENVIRON: m.environ(UCX_IB_TRAFFIC_CLASS="1000")}, "warn", set(), "roce_server"),
                ({ENVIRON: m.environ(NCCL_IB_TC="104")}, "ok", set(), "roce_server"),
                ({ENVIRON: m.environ(NCCL_IB_TC="106"), "/sys/class/infiniband/mlx5_0/tc/1/traffic_class": BAD}, "unknown", set(),
                 "roce_server")],
}
