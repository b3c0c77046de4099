# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Group environment of the checks: check -> [(changes to the healthy server, the worst state that follows, others that change)]."""
import machines as m

BAD = m.UNREADABLE
VARIABLES = "/proc/self/environ"
NET = {"/sys/class/net/eth0/operstate": "up\n", "/sys/class/net/eth1/operstate": "down\n", "/sys/class/net/lo/operstate": "unknown\n"}
PEER = "/sys/module/nvidia_peermem"


def _set(**variables):
    return {VARIABLES: m.environ(PATH="/usr/bin", HOME="/root", **variables)}


CASES = {
    "env.unknown": [(_set(NCCL_IB_HAC="mlx5_0"), "warn", set()),
                    (_set(CCL_NET_GDR_LEVEL="PXB"), "warn", set()),
                    ({**_set(), "/etc/nccl.conf": " NCCL_DEBUG = WARN\n"}, "warn", set()),
                    (_set(NCCL_OF_TOMORROW="1"), "info", set()),
                    (_set(TORCH_NCCL_BLOCKING_WAIT="1", NCCL_OFI_X="1", UCX_RC_MLX5_NEW="1", UCX_NEW_WORDS="1"), "ok", set())],
    "env.sources": [({**_set(NCCL_SHM_DISABLE="1"), "/etc/nccl.conf": "NCCL_SHM_DISABLE=0\n"}, "warn", set()),
                    ({**_set(NCCL_SHM_DISABLE="1"), "/root/.nccl.conf": "NCCL_SHM_DISABLE=1\n"}, "ok", set()),
                    ({**_set(UCX_RNDV_THRESH="1k"), "/etc/ucx/ucx.conf": "[Other]\nUCX_RNDV_THRESH=2k\n"}, "ok", set()),
                    ({"/etc/nccl.conf": BAD}, "unknown", set()),
                    ({"/etc/ucx/ucx.conf": b"\0"}, "unknown", set())],
    "env.deprecated": [(_set(NCCL_IB_GDR_LEVEL="2"), "warn", set()),
                       ({"/etc/openmpi/openmpi-mca-params.conf": "btl_openib_want_cuda_gdr = 1\n"}, "warn", set()),
                       (_set(NCCL_LAUNCH_MODE="GROUP"), "warn", set()),
                       (_set(NCCL_LAUNCH_MODE="PARALLEL"), "ok", set())],
    "env.gdr_level": [(_set(NCCL_NET_GDR_LEVEL="pix"), "fail", set()),
                      (_set(NCCL_NET_GDR_LEVEL="5"), "warn", set()),
                      (_set(NCCL_NET_GDR_LEVEL="LOC"), "warn", set()),
                      (_set(NCCL_NET_GDR_LEVEL="PXB"), "ok", set())],
    "env.ib_hca": [(_set(NCCL_IB_HCA="mlx4"), "fail", set()),
                   (_set(NCCL_IB_HCA="=mlx5_0:2"), "fail", set()),
                   (_set(NCCL_IB_HCA="^mlx5"), "fail", set()),
                   (_set(NCCL_IB_HCA="=mlx5_0,mlx5_7"), "warn", set()),
                   (_set(NCCL_IB_HCA="=mlx5_0:1:0:0,mlx5_1"), "ok", set()),
                   (_set(UCX_NET_DEVICES="mlx5_0"), "fail", set()),
                   (_set(UCX_NET_DEVICES="mlx5_0:1,mlx5_?:1"), "ok", set()),
                   (_set(UCX_NET_DEVICES="mlx5_0:1,mlx5_9:1"), "warn", set()),
                   ({**_set(NCCL_IB_HCA="=mlx5_0"), "/sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN\n"}, "fail",
                    {"nic.state", "nic.rate"}),
                   ({**_set(NCCL_IB_HCA="=mlx5_0"), "/sys/class/infiniband/mlx5_0/ports/1/state": BAD}, "unknown",
                    {"nic.state"})],
    "env.ib_disable": [(_set(NCCL_IB_DISABLE="1"), "fail", set()),
                       (_set(NCCL_IB_DISABLE="0"), "ok", set()),
                       (_set(NCCL_NET="Socket"), "fail", set()),
                       (_set(NCCL_P2P_DISABLE="1"), "warn", set()),
                       (_set(NCCL_DMABUF_ENABLE="0"), "info", set())],
    "env.socket_if": [({**_set(NCCL_SOCKET_IFNAME="ens"), **NET}, "fail", set()),
                      ({**_set(NCCL_SOCKET_IFNAME="=eth1"), **NET}, "fail", set()),
                      ({**_set(NCCL_SOCKET_IFNAME="eth"), **NET}, "warn", set()),
                      ({**_set(NCCL_SOCKET_IFNAME="^=eth1"), **NET}, "ok", set()),
                      ({**_set(NCCL_SOCKET_IFNAME="=eth0"), "/sys/class/net": BAD}, "unknown", set())],
    "env.nvshmem": [(_set(NVSHMEM_HCA_PE_MAPPING="mlx5_0:1:1"), "fail", set()),
                    (_set(NVSHMEM_HCA_PREFIX="ibp"), "fail", set()),
                    (_set(NVSHMEM_HCA_PE_MAPPING="mlx5_0:1:1", NVSHMEM_ENABLE_NIC_PE_MAPPING="1"), "ok", set()),
                    (_set(NVSHMEM_HCA_PREFIX="^smi"), "ok", set())],
    "env.ibgda": [(_set(NVSHMEM_IB_ENABLE_IBGDA="1", NVSHMEM_IBGDA_NIC_HANDLER="gpu"), "fail", set()),
                  (_set(NVSHMEM_IB_ENABLE_IBGDA="1"), "info", set()),
                  ({**_set(NVSHMEM_IB_ENABLE_IBGDA="1"),
                    "/proc/driver/nvidia/params": m.params() + 'RegistryDwords: "PeerMappingOverride=1;"\n'}, "ok", set()),
                  (_set(NVSHMEM_IB_ENABLE_IBGDA="0", NVSHMEM_IBGDA_NIC_HANDLER="gpu"), "ok", set())],
    "env.ucx": [(_set(UCX_TLS="sm,self,tcp"), "warn", set()),
                (_set(UCX_TLS="rc,sm,self"), "warn", set()),
                (_set(UCX_TLS="rc_x,cuda_copy,cuda_ipc,sm"), "ok", set()),
                (_set(UCX_TLS="^cuda"), "warn", set()),
                (_set(UCX_IB_GPU_DIRECT_RDMA="n"), "fail", set())],
    "env.debug_left": [(_set(NCCL_DEBUG="TRACE"), "warn", set()),
                       (_set(NCCL_DEBUG="INFO"), "info", set()),
                       (_set(CUDA_LAUNCH_BLOCKING="1"), "warn", set()),
                       (_set(NCCL_ALGO="Ring"), "warn", set())],
}
for _check, _cases in CASES.items():
    _cases.append(({VARIABLES: BAD}, "unknown", set(CASES) - {_check} | {"ctr.caps"}))
    _cases.append(({VARIABLES: None}, "unknown", set(CASES) - {_check} | {"ctr.caps"}))
