# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group topology of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
IB = "/sys/class/infiniband/"
DOWN = "1: DOWN\n"
PLACE = "/sys/bus/pci/devices/0000:03:00.0"


def port(name, file):
    return f"{IB}{name}/ports/1/{file}"


FILE = "/var/run/nvidia-topologyd/virtualTopology.xml"

CASES = {
    "topo.pair": [({port("mlx5_0", "state"): DOWN, port("mlx5_1", "state"): DOWN}, "warn",
                   {"nic.state", "nic.rate", "topo.balance", "pcie.path_min"}),
                  ({port("mlx5_0", "state"): DOWN}, "info",
                   {"nic.state", "nic.rate", "topo.balance", "pcie.path_min"}, "two_switches"),
                  ({port("mlx5_0", "state"): BAD, port("mlx5_1", "state"): BAD}, "unknown",
                   {"nic.state", "topo.balance", "pcie.path_min"})],
    "topo.balance": [({port("mlx5_1", "state"): DOWN}, "warn", {"nic.state", "nic.rate", "topo.pair", "pcie.path_min"}, "two_switches"),
                     ({port("mlx5_1", "state"): BAD}, "unknown", {"nic.state", "topo.pair", "pcie.path_min"},
                      "two_switches")],
    "topo.vm_flat": [({FILE: None}, "warn", set(), "flat_guest"), ({FILE: BAD}, "unknown", set(), "flat_guest")],
    "pcie.path_min": [({m.SWITCH + "/current_link_speed": "8.0 GT/s PCIe\n"}, "ok", set()),
                      ({m.NIC + "/current_link_speed": "16.0 GT/s PCIe\n"}, "warn", {"pcie.speed"}),
                      ({m.NIC + "/current_link_width": BAD}, "unknown", {"pcie.width"})],
}
