# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group rdma of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
NVIDIA_VERSION, MODULE = "/proc/driver/nvidia/version", "/sys/module/nvidia_peermem"
CLOSED = {NVIDIA_VERSION: m.PROPRIETARY.format("580.159.04")}
CLOSED_CHECKS = {"drv.loaded", "drv.flavour", "gdr.flavour", "peer.any", "dmabuf.p2pdma"}
MODULE_CHECKS = {"peer.conflict", "peer.symbols", "peer.params", "peer.autoload"}


def _other_port(driver, address="04:00.1", **files):
    """One more function without an RDMA device: by its address the second of the first adapter."""
    tree = {}
    path = m.NIC.replace("04:00.0", address)
    m.function(tree, path, "0x15b3", "0x1021", "0x020000", **files)
    if driver:
        tree[path + "/driver"] = m.link(path + "/driver", "/sys/bus/pci/drivers/" + driver)
        tree["/sys/bus/pci/drivers/" + driver + "/bind"] = ""
    return tree


CASES = {
    "rdma.stack": [
        ({MODULE: None, **CLOSED}, "warn", CLOSED_CHECKS | MODULE_CHECKS),
        (CLOSED, "ok", CLOSED_CHECKS),
        ({"/sys/module/mlx_compat/version": "24.10\n", "/sys/module/mlx5_core/version": "24.10-1.1.4\n"}, "ok", set()),
        (_other_port(None), "fail", set()),
        (_other_port("vfio-pci"), "info", set()),
        (_other_port("mlx5_core"), "info", set()),
        (_other_port("mlx5_core", "04:01.0"), "fail", set()),
        (_other_port(None, **{"physfn/vendor": "0x15b3\n"}), "info", set()),
        ({"/sys/module/mlx_compat": BAD}, "unknown", set()),
        ({MODULE: BAD, **CLOSED}, "unknown", CLOSED_CHECKS | MODULE_CHECKS)],
    "rdma.modules": [({"/sys/module/rdma_ucm": None}, "warn", set()),
                     ({"/sys/module/ib_uverbs": None, "/dev/infiniband/uverbs0": None}, "fail", {"ctr.devices"}),
                     ({"/sys/module/ib_uverbs": BAD, "/dev/infiniband/uverbs0": None}, "unknown", {"ctr.devices"})],
}
