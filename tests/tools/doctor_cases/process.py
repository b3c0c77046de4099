# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group process of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE

CASES = {
    "lim.memlock": [({"/proc/self/limits": m.limits(lock="8388608")}, "fail", set()),
                    ({"/proc/self/limits": m.limits(lock="134217728")}, "warn", set()),
                    ({"/proc/self/limits": m.limits(lock="8388608"),
                      "/proc/self/status": "CapEff:\t0000000000004000\n"}, "ok", set()),
                    ({"/proc/self/limits": m.limits(lock="8388608"), "/proc/self/status": BAD}, "unknown", set()),
                    ({"/proc/self/limits": BAD}, "unknown", {"lim.nofile", "lim.stack"})],
    "lim.nofile": [({"/proc/self/limits": m.limits(files="1024")}, "warn", set()),
                   ({"/proc/self/limits": m.limits(files="some")}, "unknown", set())],
    "lim.stack": [({"/proc/self/limits": m.limits(stack="unlimited")}, "warn", set()),
                  ({"/proc/self/limits": m.limits(stack="8M")}, "unknown", set())],
    "ctr.devices": [({"/dev/nvidia-uvm": None}, "fail", set()),
                    ({"/dev/nvidia0": None}, "fail", set()),
                    ({"/dev/infiniband": None}, "fail", set()),
                    ({"/dev/nvidiactl": BAD}, "unknown", set())],
}
