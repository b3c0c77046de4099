# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Groups adapter, rdma and roce of the checks: check -> [(changes, the worst state that follows, others that change, the machine if not the server)]."""
import machines as m

BAD = m.UNREADABLE
ADAPTER = "/sys/class/infiniband/mlx5_0/"
PORT = ADAPTER + "ports/1/"
ENVIRON = "/proc/self/environ"
MTU = m.NIC + "/net/eth0/mtu"
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


EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000\n"
ECN = m.NIC + "/net/eth0/ecn/roce_{0}/enable/3"
NAMELESS = {"roce.tc", "ctr.caps", *("env." + name for name in (
    "unknown", "ibgda", "debug_left", "gdr_level", "sources", "nvshmem", "ib_hca", "socket_if", "ib_disable", "ucx", "deprecated"))}

CASES = {
    "nic.state": [({PORT + "state": "2: INIT\n"}, "fail", {"nic.rate"}),
                  ({PORT + "state": "1: DOWN\n"}, "warn", {"nic.rate"}),
                  ({PORT.replace("_0", "_1") + "state": "1: DOWN\n"}, "info", {"nic.rate"}),
                  ({PORT.replace("_0", "_1") + "state": "1: DOWN\n",
                    ENVIRON: m.environ(NCCL_IB_HCA="=mlx5_1:1")}, "warn", {"nic.rate", "env.ib_hca"}),
                  ({PORT + "state": BAD}, "unknown", set())],
    "nic.rate": [({PORT + "rate": "200 Gb/sec (4X HDR)\n"}, "warn", set()),
                 ({PORT + "rate": "fast\n"}, "unknown", set())],
    "nic.sm": [({PORT + "sm_lid": "0x0\n"}, "fail", set()),
               ({PORT + "sm_lid": "\n"}, "unknown", set())],
    "nic.fw": [({ADAPTER + "fw_ver": "28.39.1002\n"}, "warn", set()),
               ({ADAPTER + "fw_ver": "28.39.1002\n", ADAPTER + "board_id": "MT_0000000001\n"}, "ok", set()),
               ({ADAPTER + "fw_ver": None}, "unknown", set()),
               ({ADAPTER + "board_id": BAD}, "unknown", set())],
    "nic.mtu": [({MTU: "1500\n"}, "warn", set(), "roce_server"),
                ({MTU: "large\n"}, "unknown", set(), "roce_server"),
                ({PORT + "gid_attrs/ndevs": None}, "unknown", {"roce.gid", "roce.qos", "ctr.rdma_ns"}, "roce_server"),
                ({PORT + "link_layer": BAD}, "unknown", {"nic.sm", "roce.gid", "roce.gid_index", "roce.qos", "roce.tc", "ctr.rdma_ns"},
                 "roce_server")],
    "nic.counters": [({PORT + "counters/link_downed": "9\n"}, "warn", set()),
                     ({PORT + "counters/symbol_error": "2\n"}, "info", set()),
                     ({PORT + "hw_counters/out_of_sequence": "20\n"}, "ok", set()),
                     ({PORT + "counters/link_downed": "many\n"}, "unknown", set()),
                     ({PORT + "counters/link_downed": BAD}, "unknown", set())],
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
                ({ENVIRON: m.environ(NCCL_IB_TC="106"), ADAPTER + "tc/1/traffic_class": BAD}, "unknown", set(),
                 "roce_server")],
}
