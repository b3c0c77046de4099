# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group driver of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
NVIDIA_VERSION = "/proc/driver/nvidia/version"

CASES = {
    "drv.loaded": [
        ({"/proc/driver": None, "/sys/module/nvidia": None}, "fail",
         {"drv.flavour", "drv.version", "drv.params", "ctr.devices"}),
        ({NVIDIA_VERSION: BAD, "/sys/module/nvidia/version": BAD}, "unknown",
         {"drv.flavour", "drv.version", "ctr.devices"})],
    "drv.flavour": [({NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}, "warn", {"drv.loaded"}),
                    ({NVIDIA_VERSION: b"\0\1\2"}, "unknown", {"drv.loaded", "drv.version", "ctr.devices"})],
    "drv.version": [({NVIDIA_VERSION: m.OPEN.format("515.43.04")}, "warn", {"drv.loaded", "drv.flavour"}),
                    ({NVIDIA_VERSION: m.OPEN.format("460.32.03")}, "fail", {"drv.loaded", "drv.flavour"}),
                    ({NVIDIA_VERSION: "no number\n"}, "unknown", {"drv.loaded", "drv.flavour"})],
    "drv.params": [({"/proc/driver/nvidia/params": "GrdmaPciTopoCheckOverride: 1\n"}, "warn", set()),
                   ({"/proc/driver/nvidia/params": "GrdmaPciTopoCheckOverride: 2\n"}, "fail", set()),
                   ({"/proc/driver/nvidia/params": "GrdmaPciTopoCheckOverride: many\n"}, "unknown", set())],
}
