#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit env on written machines: the proposals, their reasons, and the formats."""
import json
import os
import shutil
import subprocess
import unittest

from doctor_runs import examine, m, run_on, worst
from named import NAMED
from parts import adapter
from program import Test, run

SHELLS = [shell for shell in ("sh", "bash", "zsh") if shutil.which(shell)]
LIBRARIES = ("nccl", "ucx", "nvshmem", "openmpi", "mvapich2")
FORMATS = ("sh", "dotenv", "ompi", "slurm", "k8s", "docker", "json")
EVERYWHERE = {"/proc/self/status": m.status(processors="0-223")}
ROUTE = "Iface\tDestination\tGateway\neth1\t00000000\t0100000A\n"
COMPUTE = ",".join(f"mlx5_{i}:1" for i in range(8))


def env(tree, *arguments):
    ended = run_on(tree, "env", *arguments)
    if ended.code != 0:
        raise AssertionError((arguments, ended.code, ended.err))
    return ended


def document(tree, *arguments):
    return json.loads(env(tree, *arguments, "--json").out)


def settings(tree, *arguments):
    return {one["name"]: one["value"] for one in document(tree, *arguments)["set"]}


def commands(ended):
    return [line for line in ended.lines if not line.lstrip().startswith("#")]


def cpus_of(mask):
    return {bit for bit in range(256) if int(mask, 16) >> bit & 1}


def dgx(**more):
    return m.changed(NAMED["dgx-h100-ok"](), {**EVERYWHERE, **more})


class EnvRules(Test):
    def test_good_adapters_require_no_nccl_settings(self):
        ended = env(m.server(), "nccl")
        self.assertEqual(commands(ended), [])
        self.assertIn("# nothing needs to be set for nccl on this machine", ended.lines)

    def test_excludes_slow_adapters_without_a_near_gpu(self):
        found = document(dgx(), "nccl")
        self.assertEqual([(one["name"], one["value"]) for one in found["set"]], [("NCCL_IB_HCA", "=" + COMPUTE)])
        self.assertIn("mlx5_8: no GPU is near it", found["set"][0]["reason"])
        self.assertFalse(found["set"][0]["is_set"])

    def test_settings_with_the_proposed_value_are_marked(self):
        found = document(dgx(**{"/proc/self/environ": m.environ(NCCL_IB_HCA="=" + COMPUTE)}), "nccl")
        self.assertTrue(found["set"][0]["is_set"])

    def test_excludes_default_route_and_bond_adapters(self):
        device = m.NIC2 + "/net/eth1"
        tree = m.changed(m.server(), {device + "/address": "x\n", "/proc/net/route": ROUTE})
        self.assertEqual(settings(tree, "nccl"), {"NCCL_IB_HCA": "=mlx5_0:1"})
        bond = m.changed(m.server(), {device + "/address": "x\n", "/sys/class/net/eth1/master/address": "x\n"})
        self.assertEqual(settings(bond, "nccl"), {"NCCL_IB_HCA": "=mlx5_0:1"})

    def test_selects_one_of_several_network_devices(self):
        up = {f"/sys/class/net/{name}/operstate": "up\n" for name in ("eth0", "eth1", "docker0", "lo")}
        self.assertEqual(settings(m.changed(m.server(), {**up, "/proc/net/route": ROUTE}), "nccl"), {"NCCL_SOCKET_IFNAME": "=eth1"})
        for fewer in ({"/sys/class/net/eth0/operstate": "down\n"}, {"/proc/net/route": ROUTE.replace("00000000", "0000000A")}):
            self.assertEqual(settings(m.changed(m.server(), {**up, "/proc/net/route": ROUTE, **fewer}), "nccl"), {})

    def test_old_nccl_on_roce_requires_the_gid_index(self):
        ports = {}
        for name in ("mlx5_0", "mlx5_1"):
            port = f"/sys/class/infiniband/{name}/ports/1/"
            ports.update({port + "link_layer": "Ethernet\n", port + "gid_attrs/types/3": "RoCE v2\n",
                          port + "gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001\n"})
        for version, expected in (("2.20.5", {"NCCL_IB_GID_INDEX": "3"}), ("2.21.5", {})):
            tree = m.changed(m.server(), {**ports, "/usr/lib/x86_64-linux-gnu/libnccl.so.2": m.Link("libnccl.so." + version),
                                          "/usr/lib/x86_64-linux-gnu/libnccl.so." + version: "x"})
            self.assertEqual(settings(tree, "nccl"), expected)
        self.assertIn("leave NCCL_IB_GID_INDEX unset", "".join(document(m.changed(m.server(), ports), "nccl")["notes"]))

    def test_far_adapters_yield_a_note_and_never_a_setting(self):
        found = document(NAMED["hgx-node-sys"](), "nccl")
        self.assertEqual(found["set"], [])
        self.assertIn("measure both", found["notes"][0])
        self.assertIn("NCCL_TOPO_FILE", document(NAMED["vm-azure-8x"](), "nccl")["notes"][0])
        self.assertEqual(document(NAMED["gh200"](), "nccl")["notes"], [])

    def test_applies_user_options(self):
        self.assertEqual(settings(m.server(), "nccl", "--fabric", "rail"), {"NCCL_CROSS_NIC": "0"})
        self.assertEqual(settings(m.server(), "nccl", "--fabric", "ecmp"), {"NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_IB_SPLIT_DATA_ON_QPS": "0"})
        self.assertEqual(settings(m.server(), "ucx", "--assert"), {"UCX_IB_GPU_DIRECT_RDMA": "y"})

    def test_ucx_uses_the_adapter_of_each_rank(self):
        found = document(dgx(), "ucx")
        self.assertEqual([rank["set"] for rank in found["ranks"]], [{"UCX_NET_DEVICES": f"mlx5_{i}:1"} for i in range(8)])
        self.assertEqual((found["set"], document(m.server(), "ucx")["ranks"][0]["set"]), ([], {}))
        short = m.changed(m.server(), {"/proc/self/environ": m.environ(UCX_TLS="sm,self,tcp")})
        self.assertEqual(settings(short, "ucx"), {"UCX_TLS": "rc,cuda,sm,self"})

    def test_proposes_nvshmem_settings(self):
        self.assertEqual(settings(m.server(), "nvshmem"), {})
        self.assertEqual(settings(NAMED["aws-p5-efa"](), "nvshmem"), {"NVSHMEM_REMOTE_TRANSPORT": "libfabric", "NVSHMEM_LIBFABRIC_PROVIDER": "efa"})
        key = {"/proc/driver/nvidia/params": m.params() + 'RegistryDwords: "PeerMappingOverride=1;"\n'}
        self.assertEqual(settings(m.changed(m.server(), key), "nvshmem"), {"NVSHMEM_IB_ENABLE_IBGDA": "1"})
        tree = m.changed(m.server(), {"/sys/class/infiniband": None})
        adapter(tree, "ibp4s0", m.NIC)
        adapter(tree, "ibp5s0", m.NIC2)
        self.assertEqual(settings(tree, "nvshmem"), {"NVSHMEM_HCA_PREFIX": "ibp"})

    def test_proposes_mpi_settings(self):
        library = {"/usr/lib/x86_64-linux-gnu/libucp.so.0": m.Link("libucp.so.0.0.0"), "/usr/lib/x86_64-linux-gnu/libucp.so.0.0.0": "x"}
        self.assertEqual(settings(m.changed(m.server(), library), "openmpi"), {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx"})
        self.assertEqual(settings(m.server(), "openmpi"), {})
        found = settings(m.changed(dgx(), {"/usr/lib/x86_64-linux-gnu/libgdrapi.so.2.6": "x"}), "mvapich2")
        self.assertEqual(found, {"MV2_USE_CUDA": "1", "MV2_GPUDIRECT_GDRCOPY_LIB": "/usr/lib/x86_64-linux-gnu/libgdrapi.so.2.6",
                                 "MV2_PROCESS_TO_RAIL_MAPPING": ":".join(f"mlx5_{i}" for i in range(8))})

    def test_without_a_gpu_nothing_is_proposed_and_the_reason_is_printed(self):
        for library in LIBRARIES:
            ended = env(m.without_gpu(), library)
            self.assertEqual(commands(ended), [])
            self.assertIn("# note: this machine has no NVIDIA GPU, so nothing is proposed", ended.lines)

    def test_unreadable_facts_are_reported(self):
        tree = m.changed(m.server(), {"/sys/class/infiniband/mlx5_0/ports/1/state": m.UNREADABLE})
        self.assertIn("cannot determine whether mlx5_0 can be used", "".join(document(tree, "nccl")["notes"]))
        found = document(dgx(**{"/sys/class/infiniband/mlx5_8/ports/1/rate": "fast\n"}), "nccl")
        self.assertEqual(found["set"], [])
        self.assertIn("cannot determine whether mlx5_8 can be used", "".join(found["notes"]))
        tree = m.changed(m.server(), {"/sys/class/infiniband": m.UNREADABLE})
        self.assertIn("the list of RDMA adapters is unknown", "".join(document(tree, "nccl")["notes"]))

    def test_one_call_supports_several_libraries(self):
        both = document(dgx(), "nccl", "ucx")
        self.assertEqual((both["library"], both["libraries"]), ("nccl,ucx", ["nccl", "ucx"]))
        self.assertEqual([one["name"] for one in both["set"]], ["NCCL_IB_HCA"])
        self.assertEqual(both["ranks"][0]["set"], {"UCX_NET_DEVICES": "mlx5_0:1"})
        short = m.changed(dgx(), {"/proc/self/environ": m.environ(UCX_TLS="sm,self,tcp")})
        self.assertEqual([one["name"] for one in document(short, "ucx", "nccl", "openmpi", "ucx")["set"]], ["UCX_TLS", "NCCL_IB_HCA"])
        line = commands(env(short, "nccl", "ucx", "--format", "ompi"))
        self.assertEqual(len(line), 1, "one launcher for both")
        self.assertTrue("-x NCCL_IB_HCA=" in line[0] and "-x UCX_TLS=rc,cuda,sm,self" in line[0], line)
        self.assertIn("NCCL_IB_HCA==" + COMPUTE, env(short, "ucx", "nccl", "--format", "nccl.conf").lines)


class EnvPresent(Test):
    def test_checks_existing_settings(self):
        tree = m.changed(m.server(), {"/proc/self/environ": m.environ(NCCL_NET_GDR_LEVEL="pix", NCCL_IB_HAC="x")})
        self.assertIn("# now fail env.gdr_level: NCCL_NET_GDR_LEVEL: 'pix' in the environment", env(tree, "nccl").out)
        self.assertEqual({(one["check"], one["state"]) for one in document(tree, "ucx")["present"]},
                         {("env.gdr_level", "fail"), ("env.unknown", "warn")})
        self.assertEqual(document(m.server(), "nccl")["present"], [])

    def test_reasons_name_existing_checks(self):
        known = {line.split()[0] for line in run("gdrkit", "doctor", "list").lines}
        for name in ("dgx-h100-ok", "aws-p5-efa", "roce-bad"):
            for library in LIBRARIES:
                for one in document(NAMED[name](), library)["set"]:
                    self.assertLessEqual(set(one["because"]), known, one)
                    self.assertNotEqual(one["reason"], "")

    def test_the_doctor_accepts_the_proposal(self):
        proposed = settings(dgx(), "nccl")
        _, found = examine(dgx(**{"/proc/self/environ": m.environ(**proposed)}), "--only", "environment")
        self.assertEqual({worst(findings) for findings in found.values()}, {"ok"}, found)
        for library, path in (("nccl", "/etc/nccl.conf"), ("ucx", "/etc/ucx/ucx.conf")):
            text = env(dgx(), library, "--format", os.path.basename(path), *(["--assert"] if library == "ucx" else [])).out
            self.assertRegex(text, r"(?m)^(NCCL_IB_HCA==mlx5_0:1|UCX_IB_GPU_DIRECT_RDMA=y)")
            _, found = examine(dgx(**{path: text}), "--only", "environment")
            self.assertEqual({worst(findings) for findings in found.values()}, {"ok"}, found)


class EnvFormats(Test):
    def test_exports_work_in_a_shell(self):
        ended = env(dgx(), "nccl")
        for shell in SHELLS:
            shown = subprocess.run([shell, "-c", ended.out + '\nprintf %s "$NCCL_IB_HCA"'], capture_output=True, text=True, check=True)
            self.assertEqual(shown.stdout, "=" + COMPUTE, shell)

    def test_quotes_words_that_zsh_expands(self):
        quoted = f"'={COMPUTE}'"
        for form, start in (("sh", "export NCCL_IB_HCA=" + quoted), ("slurm", "export NCCL_IB_HCA=" + quoted),
                            ("ompi", "mpirun -x NCCL_IB_HCA=" + quoted + " "), ("docker", "docker run --gpus all")):
            line = [line for line in commands(env(dgx(), "nccl", "--format", form)) if line.startswith(start)]
            self.assertEqual(len(line), 1, form)
            self.assertNotRegex(line[0], r"(?:^| )[^' ]*==", form)
        self.assertIn(f" -e 'NCCL_IB_HCA=={COMPUTE}' ", env(dgx(), "nccl", "--format", "docker").out)
        self.assertIn("NCCL_IB_HCA==" + COMPUTE, env(dgx(), "nccl", "--format", "dotenv").lines, "docker --env-file keeps quotes")

    def test_slurm_masks_match_the_slices(self):
        line = commands(env(dgx(), "nccl", "--format", "slurm"))[-1]
        self.assertTrue(line.startswith("srun --ntasks-per-node=8 --cpu-bind=mask_cpu:0x"), line)
        masks = line.split("mask_cpu:")[1].split()[0].split(",")
        for rank, mask in enumerate(masks):
            first = 14 * rank
            self.assertEqual(cpus_of(mask), set(range(first, first + 14)) | set(range(first + 112, first + 126)))
        self.assertIn("--mem-bind=map_mem:0,0,0,0,1,1,1,1 PROGRAM", line)

    def test_prints_mpirun_arguments_and_rankfile_slots(self):
        ended = env(dgx(), "nccl", "--format", "ompi")
        self.assertEqual(commands(ended), [f"mpirun -x NCCL_IB_HCA='={COMPUTE}' --map-by ppr:8:node --bind-to none gdrkit bind -- PROGRAM"])
        self.assertIn("#   rank 4=+n0 slot=56-69,168-181", ended.lines)

    def test_containers_get_rdma_options_only_with_an_adapter(self):
        self.assertIn(f"        - {{name: NCCL_IB_HCA, value: \"={COMPUTE}\"}}", env(dgx(), "nccl", "--format", "k8s").lines)
        self.assertIn("IPC_LOCK", env(dgx(), "nccl", "--format", "k8s").out)
        self.assertIn("--device=/dev/infiniband", env(dgx(), "nccl", "--format", "docker").out)
        alone = m.changed(m.server(), {"/sys/class/infiniband": None})
        for form in ("k8s", "docker"):
            self.assertNotIn("IPC_LOCK", env(alone, "nccl", "--format", form).out)

    def test_omits_adapter_names_with_special_characters(self):
        for name in ("mlx5_0;touch x", "mlx5_0\n$(touch x)", "mlx5_0'"):
            tree = m.changed(NAMED["dgx-h100-ok"](), {"/sys/class/infiniband/mlx5_0": None})
            directory = "/sys/class/infiniband/" + name
            for path, value in NAMED["dgx-h100-ok"]().items():
                if path.startswith("/sys/class/infiniband/mlx5_0/"):
                    tree[path.replace("/sys/class/infiniband/mlx5_0", directory)] = value
            for library in LIBRARIES:
                for form in FORMATS[:-1]:
                    out = "\n".join(commands(env(tree, library, "--format", form)))
                    self.assertNotIn("touch", out)
                    self.assertNotIn("mlx5_0", out)

    def test_every_machine_gets_a_proposal_for_every_library(self):
        for name, make in NAMED.items():
            with self.subTest(name):
                self.assertEqual(document(make(), *LIBRARIES)["libraries"], list(LIBRARIES))
        for form in FORMATS:
            for library in LIBRARIES:
                ended = env(m.server(), library, "--format", form)
                self.assertNotEqual(ended.out, "")
                for line in [line for line in ended.lines if line.lstrip().startswith("#")]:
                    self.assertTrue(len(line) <= 110 or " " not in line.strip("# "), line)

    def test_this_machine_gets_a_proposal(self):
        self.assertEqual(run("gdrkit", "env", "nccl", "--json").code, 0)

    def test_rejects_wrong_usage(self):
        self.assert_rejected(["env"], (
            ((), "the library is missing"), (("mpich",), "unknown library"), (("nccl", "mpich"), "unknown library"),
            (("nccl", "--format", "ucx.conf"), "cannot write ucx.conf"), (("ucx", "--format", "nccl.conf"), "cannot write nccl.conf"),
            (("nccl", "--format", "xml"), "xml"), (("nccl", "--fabric", "mesh"), "mesh")))
        self.assertEqual(run("gdrkit", "env", "nccl", "--root", "/nothing/there").code, 4)


if __name__ == "__main__":
    unittest.main()
