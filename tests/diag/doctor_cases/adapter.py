# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group adapter of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
PORT1 = "/sys/class/infiniband/mlx5_0/ports/1/"
ADAPTER = "/sys/class/infiniband/mlx5_0/"
MTU = m.NIC + "/net/eth0/mtu"

CASES = {
    "nic.state": [({PORT1 + "state": "2: INIT\n"}, "fail", {"nic.rate"}),
                  ({PORT1 + "state": "1: DOWN\n"}, "warn", {"nic.rate"}),
                  ({PORT1.replace("_0", "_1") + "state": "1: DOWN\n"}, "info", {"nic.rate"}),
                  ({PORT1.replace("_0", "_1") + "state": "1: DOWN\n",
                    "/proc/self/environ": m.environ(NCCL_IB_HCA="=mlx5_1:1")}, "warn", {"nic.rate", "env.ib_hca"}),
                  ({PORT1 + "state": BAD}, "unknown", set())],
    "nic.rate": [({PORT1 + "rate": "200 Gb/sec (4X HDR)\n"}, "warn", set()),
                 ({PORT1 + "rate": "fast\n"}, "unknown", set())],
    "nic.sm": [({PORT1 + "sm_lid": "0x0\n"}, "fail", set()),
               ({PORT1 + "sm_lid": "\n"}, "unknown", set())],
    "nic.fw": [({ADAPTER + "fw_ver": "28.39.1002\n"}, "warn", set()),
               ({ADAPTER + "fw_ver": "28.39.1002\n", ADAPTER + "board_id": "MT_0000000001\n"}, "ok", set()),
               ({ADAPTER + "fw_ver": None}, "unknown", set()),
               ({ADAPTER + "board_id": BAD}, "unknown", set())],
    "nic.mtu": [({MTU: "1500\n"}, "warn", set(), "roce_server"),
                ({MTU: "large\n"}, "unknown", set(), "roce_server"),
                ({PORT1 + "gid_attrs/ndevs": None}, "unknown", {"roce.gid", "roce.qos", "ctr.rdma_ns"}, "roce_server"),
                ({PORT1 + "link_layer": BAD}, "unknown", {"nic.sm", "roce.gid", "roce.gid_index", "roce.qos", "roce.tc", "ctr.rdma_ns"},
                 "roce_server")],
    "nic.counters": [({PORT1 + "counters/link_downed": "9\n"}, "warn", set()),
                     ({PORT1 + "counters/symbol_error": "2\n"}, "info", set()),
                     ({PORT1 + "hw_counters/out_of_sequence": "20\n"}, "ok", set()),
                     ({PORT1 + "counters/link_downed": "many\n"}, "unknown", set()),
                     ({PORT1 + "counters/link_downed": BAD}, "unknown", set())],
}
