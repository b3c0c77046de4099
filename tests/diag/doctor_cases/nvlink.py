# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group nvlink of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import nvml
from doctor_cases.gpu import first

CLUSTER = "0123456789abcdef" * 2
CHANNELS = "/dev/nvidia-caps-imex-channels"

CASES = {
    "nvl.state": [(first(links=[nvml.link(i) for i in range(17)] + [nvml.inactive(17)]), "warn", set()),
                  (first(links=[nvml.inactive(i) for i in range(18)]), "info", set()),
                  (first(links=0), "skip", set()), (first(links=0, nvlink_count=nvml.lacks()), "skip", set()),
                  (first(links=0, nvlink_count=nvml.failed()), "unknown", set()),
                  (first(links=[nvml.link(0, is_active=nvml.failed())]), "unknown", set())],
    "nvl.fabric": [(first(fabric_state=1), "fail", set()), (first(fabric_state=2), "warn", set()),
                   (first(fabric_status=3), "fail", set()), (first(fabric_state=0), "skip", set()),
                   (first(fabric_state=nvml.lacks()), "skip", set()), (first(fabric_state=7), "unknown", set()),
                   (first(fabric_status=nvml.failed()), "unknown", set()),
                   (first(fabric_state=nvml.failed("NVML_ERROR_FUNCTION_NOT_FOUND")), "unknown", {"nvl.imex"})],
    "nvl.imex": [(first(fabric_cluster=CLUSTER), "warn", set()),
                 ({**first(fabric_cluster=CLUSTER), CHANNELS + "/channel0": ""}, "ok", set()),
                 (first(fabric_cluster=nvml.failed()), "unknown", set())],
}
