#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""packaging/containers/cdi.py: the specification of a host follows CDI's rules and contains exactly the host's nodes and libraries."""
import copy
import json
import os
import platform
import subprocess
import sys
import unittest

import cdi_rules
from program import Test

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "containers", "cdi.py")
LIBRARIES = f"/usr/lib/{platform.machine()}-linux-gnu"
INFORMATION = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t {}\nBus Location: \t {}\nDevice Minor: \t {}\nGPU Excluded:\t No\n"
UUID = "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"


def node(path):
    """Makes a fake node: a link to a character device."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink("/dev/null", path)


def write(path, text=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def plant_host(root, minors=(0, 1), others=("gdrdrv", "infiniband/uverbs0", "infiniband/rdma_cm")):
    """Makes a host with these GPUs and the driver's libraries. Only the last GPU has a UUID."""
    os.makedirs(root + "/dev", exist_ok=True)
    for minor in minors:
        node(f"{root}/dev/nvidia{minor}")
    for name in (*(("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools") if minors else ()), *others):
        node(f"{root}/dev/{name}")
    write(root + "/dev/nvidia-modeset")  # an ordinary file, and not for computing
    if minors:
        write(f"{root}/proc/driver/nvidia/gpus/0000:3b:00.0/information", INFORMATION.format(UUID, "0000:3b:00.0", minors[-1]))
    for name in ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-gpucomp.so.580.159.04", "libnvidia-glcore.so.580.159.04"):
        write(root + LIBRARIES + "/" + name)


def specification_of(root, *options):
    ended = subprocess.run([sys.executable, SCRIPT, "--root", root, *options], capture_output=True, text=True, check=False)
    return ended, json.loads(ended.stdout) if ended.stdout else None


class CdiSpecification(Test):
    def devices(self, *options):
        ended, made = specification_of(self.directory, *options)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        cdi_rules.check_specification(made)
        return {device["name"]: device["containerEdits"] for device in made["devices"]}

    @staticmethod
    def paths(edits):
        return [node["path"] for node in edits["deviceNodes"]]

    def test_lists_gpu_and_driver_nodes_by_number_and_uuid(self):
        plant_host(self.directory, minors=(2, 10))
        devices = self.devices()
        self.assertEqual(set(devices), {"gpu2", "gpu10", UUID, "gpus", "gdrdrv", "rdma"})
        driver = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"]
        self.assertEqual(self.paths(devices["gpu2"]), ["/dev/nvidia2", *driver])
        self.assertEqual(self.paths(devices["gpu10"]), ["/dev/nvidia10", *driver])
        self.assertEqual(devices[UUID], devices["gpu10"])
        self.assertEqual(self.paths(devices["gpus"]), ["/dev/nvidia2", "/dev/nvidia10", *driver])
        self.assertEqual(self.paths(devices["gdrdrv"]), ["/dev/gdrdrv"])
        self.assertEqual(self.paths(devices["rdma"]), ["/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"])

    def test_mounts_compute_libraries_in_the_search_path(self):
        plant_host(self.directory)
        mounts = self.devices("--libraries", "/usr/lib64")["gpu0"]["mounts"]
        self.assertEqual([(mount["hostPath"], mount["containerPath"]) for mount in mounts],
                         [(f"{LIBRARIES}/{name}", f"/usr/lib64/{name}")
                          for name in ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-gpucomp.so.580.159.04")])
        self.assertNotIn("mounts", self.devices()["gdrdrv"])

    def test_a_host_without_a_module_or_adapter_has_only_gpus(self):
        plant_host(self.directory, others=())
        self.assertEqual(set(self.devices()), {"gpu0", "gpu1", UUID, "gpus"})

    def test_a_host_without_nodes_is_an_error_with_a_remedy(self):
        plant_host(self.directory, minors=(), others=())
        ended, made = specification_of(self.directory)
        self.assertEqual((ended.returncode, made), (1, None))
        self.assertIn("nvidia-modprobe", ended.stderr)

    def test_missing_libraries_are_reported(self):
        plant_host(self.directory)
        for name in ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-gpucomp.so.580.159.04"):
            os.remove(self.directory + LIBRARIES + "/" + name)
        ended, _ = specification_of(self.directory)
        self.assertEqual(ended.returncode, 0)
        self.assertIn("libcuda.so.1", ended.stderr)

    def test_rules_reject_documents_that_runtimes_reject(self):
        plant_host(self.directory)
        _, good = specification_of(self.directory)
        cdi_rules.check_specification(good)

        def spoil(change):
            made = copy.deepcopy(good)
            change(made)
            with self.assertRaises(AssertionError):
                cdi_rules.check_specification(made)

        spoil(lambda made: made.update(kind="gdrkit"))
        spoil(lambda made: made.update(more=1))
        spoil(lambda made: made.update(cdiVersion="0.3.0"))
        spoil(lambda made: made["devices"].append(made["devices"][0]))
        spoil(lambda made: made["devices"][0].update(name="-x"))
        spoil(lambda made: made["devices"][0]["containerEdits"].clear())
        spoil(lambda made: made["devices"][0]["containerEdits"]["deviceNodes"][0].pop("path"))
        spoil(lambda made: made["devices"][0]["containerEdits"]["deviceNodes"].append({"path": "/dev/nvidiactl"}))
        spoil(lambda made: made["devices"][0]["containerEdits"]["mounts"][0].update(readOnly=True))


if __name__ == "__main__":
    unittest.main()
