# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group process of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
MOUNTS = "/proc/mounts"
SHM = "tmpfs /dev/shm tmpfs {0} 0 0\n"
EFA = {m.NIC + "/vendor": "0x1d0f\n"}

CASES = {
    "lim.memlock": [({"/proc/self/limits": m.limits(lock="8388608")}, "fail", set()),
                    ({"/proc/self/limits": m.limits(lock="134217728")}, "warn", set()),
                    ({"/proc/self/limits": m.limits(lock="8388608"),
                      "/proc/self/status": m.status(1 << 14)}, "ok", set()),
                    ({"/proc/self/limits": m.limits(lock="8388608"), "/proc/self/status": BAD}, "unknown", {"numa.process"}),
                    ({"/proc/self/limits": BAD}, "unknown", {"lim.nofile", "lim.stack"})],
    "lim.nofile": [({"/proc/self/limits": m.limits(files="1024")}, "warn", set()),
                   ({"/proc/self/limits": m.limits(files="some")}, "unknown", set())],
    "lim.stack": [({"/proc/self/limits": m.limits(stack="unlimited")}, "warn", set()),
                  ({"/proc/self/limits": m.limits(stack="8M")}, "unknown", set())],
    "lim.shm": [({MOUNTS: SHM.format("size=65536k")}, "fail", set()),
                ({MOUNTS: SHM.format("rw,size=524288k,mode=1777")}, "warn", set()),
                ({MOUNTS: SHM.format("size=1g")}, "ok", set()),
                ({MOUNTS: SHM.format("size=8g") + SHM.format("size=64m")}, "fail", set()),
                ({MOUNTS: "/dev/sda1 / ext4 rw 0 0\n"}, "warn", set()),
                ({MOUNTS: SHM.format("size=large")}, "unknown", set()),
                ({"/proc/meminfo": "MemTotal: some kB\n"}, "unknown", set()),
                ({MOUNTS: BAD}, "unknown", set())],
    "lim.hugepages": [(EFA, "info", set()),
                      ({**EFA, "/proc/meminfo": "MemTotal: 2113407800 kB\nHugePages_Total:    5128\n"}, "ok", set()),
                      ({**EFA, "/proc/meminfo": "MemTotal: 2113407800 kB\n"}, "unknown", set())],
    "ctr.caps": [({"/proc/self/status": m.status(1 << 23)}, "warn", {"lim.memlock"}, "container"),
                 ({"/proc/self/status": m.status(1 << 14)}, "info", set(), "container"),
                 ({"/.dockerenv": None, "/proc/self/environ": m.environ(KUBERNETES_SERVICE_HOST="10.0.0.1")}, "ok", set(),
                  "container"),
                 ({"/proc/self/status": BAD}, "unknown", {"lim.memlock", "numa.process"}, "container"),
                 ({"/.dockerenv": BAD}, "unknown", set())],
    "ctr.devices": [({"/dev/nvidia-uvm": None}, "fail", set()),
                    ({"/dev/nvidia0": None}, "fail", set()),
                    ({"/dev/infiniband": None}, "fail", set()),
                    ({"/dev/nvidiactl": BAD}, "unknown", set())],
}
