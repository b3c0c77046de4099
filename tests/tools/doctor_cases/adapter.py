# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group adapter of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
PORT1 = "/sys/class/infiniband/mlx5_0/ports/1/"

CASES = {
    "nic.state": [({PORT1 + "state": "2: INIT\n"}, "fail", {"nic.rate"}),
                  ({PORT1 + "state": "1: DOWN\n"}, "warn", {"nic.rate"}),
                  ({PORT1 + "state": BAD}, "unknown", set())],
    "nic.rate": [({PORT1 + "rate": "200 Gb/sec (4X HDR)\n"}, "warn", set()),
                 ({PORT1 + "rate": "fast\n"}, "unknown", set())],
    "nic.sm": [({PORT1 + "sm_lid": "0x0\n"}, "fail", set()),
               ({PORT1 + "sm_lid": "\n"}, "unknown", set())],
}
