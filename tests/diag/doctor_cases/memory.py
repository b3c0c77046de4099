# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group memory of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m
import nvml
from doctor_cases.environment import CASES as ENVIRONMENT
from doctor_cases.gpu import first

BAD = m.UNREADABLE

CASES = {
    "bar1.size": [({m.GPU + "/resource": m.RESOURCE.format(bar1="0x20000000000 0x2000fffffff")}, "warn", set()),
                  ({m.GPU + "/resource": m.RESOURCE.format(bar1="0x20000000000 0x20003ffffff")}, "fail", set()),
                  ({m.GPU + "/resource": m.RESOURCE.format(bar1="0x20000000000 0x20fffffffff")}, "warn", set()),
                  ({m.GPU + "/resource": "0x0"}, "unknown", {"bar.above4g"})],
    "bar1.free": [(first(bar1_free_bytes=20 * nvml.GIB), "warn", set()), (first(bar1_free_bytes=63 << 20), "fail", set()),
                  (first(bar1_free_bytes=1, c2c_links=10), "skip", set()), (first(bar1_total_bytes=nvml.lacks()), "skip", set()),
                  (first(bar1_free_bytes=129 * nvml.GIB), "unknown", set()), (first(bar1_free_bytes=nvml.failed()), "unknown", set())],
    "bar.above4g": [({m.GPU + "/resource": m.RESOURCE.format(bar1="0xc0000000 0xdfffffff")}, "warn", {"bar1.size"}),
                    ({m.GPU + "/resource": m.RESOURCE.format(bar1="0x0 0x1fffffffff")}, "fail", set()),
                    ({m.GPU + "/resource": BAD}, "unknown", {"bar1.size"})],
    "rebar.cap": [({m.GPU + "/config": m.config(rebar=(17, 8))}, "warn", set()),
                  ({m.GPU + "/config": m.config(size=256)}, "unknown", set())],
    "numa.gpu": [({m.GPU + "/numa_node": "-1\n"}, "warn", set()),
                 ({m.GPU + "/numa_node": "near\n"}, "unknown", set())],
    "numa.nic": [({m.NIC + "/numa_node": "-1\n"}, "warn", set()),
                 ({m.NIC + "/numa_node": "-1\n", "/sys/devices/system/node/online": "0\n"}, "info", set()),
                 ({m.NIC + "/numa_node": BAD}, "unknown", set())],
    "numa.process": [({"/proc/self/status": m.status(processors="0-223"),
                      "/proc/self/environ": m.environ(SLURM_LOCALID="0")}, "warn", set()),
                     ({"/proc/self/status": m.status(processors="56-69"),
                       "/proc/self/environ": m.environ(OMPI_COMM_WORLD_LOCAL_RANK="4")}, "warn", set()),
                     ({"/proc/self/status": m.status(processors="56-69"),
                       "/proc/self/environ": m.environ(GDRKIT_SHMEM_LOCAL_INDEX="4")}, "warn", set()),
                     ({"/proc/self/status": m.status(processors="0-223")}, "info", set()),
                     ({"/proc/self/status": m.status(processors="0-223"), "/proc/self/environ": BAD}, "unknown",
                      {"ctr.caps", *ENVIRONMENT}),
                     ({"/proc/self/status": m.status(processors="all")}, "unknown", set()),
                     ({m.GPU + "/local_cpulist": BAD}, "unknown", set())],
}
