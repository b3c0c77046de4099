#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Prints a CDI specification of this host's device nodes, for container runtimes without NVIDIA's toolkit:

  gdrkit/device=gpu0 ...   one GPU, by the number of its node or by its UUID: its node, the driver's nodes and libraries
  gdrkit/device=gpus       all GPUs
  gdrkit/device=gdrdrv     /dev/gdrdrv, for programs with GDRCopy's library; gdrkit does not need it
  gdrkit/device=rdma       all RDMA adapters

usage: sudo cdi.py > /etc/cdi/gdrkit.json, after each change of the driver"""
import argparse
import glob
import json
import os
import platform
import re
import stat
import sys

VERSION = "0.5.0"  # the first version with names that start with a digit, as UUIDs may
DRIVER_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
# The libraries that CUDA and gdrkit load, by the names that they use.
LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4", "libnvidia-gpucomp.so.*")
MULTIARCH = f"/usr/lib/{platform.machine()}-linux-gnu"
DIRECTORIES = (MULTIARCH, "/usr/lib64", "/usr/lib", "/lib64", "/lib")


class Host:
    def __init__(self, root):
        self.root = root.rstrip("/")

    def paths(self, pattern):
        return [path[len(self.root):] for path in sorted(glob.glob(glob.escape(self.root) + pattern))]

    def nodes(self, pattern):
        """Returns character devices. The runtime reads their numbers when it starts a container."""
        return [path for path in self.paths(pattern) if stat.S_ISCHR(os.stat(self.root + path).st_mode)]

    def gpus(self):
        """{minor number: node}."""
        return {int(path[len("/dev/nvidia"):]): path for path in self.nodes("/dev/nvidia[0-9]*") if path[len("/dev/nvidia"):].isdigit()}

    def uuids(self):
        """Returns {minor number: UUID} of the GPUs that the driver lists."""
        found = {}
        for path in self.paths("/proc/driver/nvidia/gpus/*/information"):
            with open(self.root + path, encoding="ascii", errors="replace") as file:
                text = file.read()
            uuid, minor = re.search(r"(?m)^GPU UUID:\s*(GPU-[0-9a-f-]{36})$", text), re.search(r"(?m)^Device Minor:\s*(\d+)", text)
            if uuid and minor:
                found[int(minor[1])] = uuid[1]
        return found

    def libraries(self):
        for name in LIBRARIES:
            yield from next((found for directory in DIRECTORIES if (found := self.paths(f"{directory}/{name}"))), [])


def edits(nodes, mounts=()):
    made = {"deviceNodes": [{"path": node} for node in nodes]}
    if mounts:
        made["mounts"] = mounts
    return made


def specification(host, library_directory):
    mounts = [{"hostPath": path, "containerPath": f"{library_directory}/{os.path.basename(path)}", "options": ["ro", "nosuid", "nodev", "bind"]}
              for path in host.libraries()]
    driver = [node for pattern in DRIVER_NODES for node in host.nodes(pattern)]
    gpus, uuids, devices = host.gpus(), host.uuids(), {}
    for minor, node in sorted(gpus.items()):
        for name in (f"gpu{minor}", uuids.get(minor)):
            if name:
                devices[name] = edits([node, *driver], mounts)
    if gpus:
        devices["gpus"] = edits([*(gpus[minor] for minor in sorted(gpus)), *driver], mounts)
    for name, patterns in (("gdrdrv", ["/dev/gdrdrv"]), ("rdma", ["/dev/infiniband/uverbs*", "/dev/infiniband/rdma_cm"])):
        if nodes := [node for pattern in patterns for node in host.nodes(pattern)]:
            devices[name] = edits(nodes)
    return {"cdiVersion": VERSION, "kind": "gdrkit/device",
            "devices": [{"name": name, "containerEdits": device} for name, device in devices.items()]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default="/", help="root of the host's files (/)")
    parser.add_argument("--libraries", default=MULTIARCH, metavar="DIR",
                        help=f"library directory of the image; Fedora and RHEL: /usr/lib64 ({MULTIARCH})")
    options = parser.parse_args()
    host = Host(options.root)
    made = specification(host, options.libraries)
    if not made["devices"]:
        print(f"error: cannot write a CDI specification: {options.root} has no device node of an NVIDIA GPU, gdrdrv or RDMA adapter; "
              "load the driver (sudo nvidia-modprobe -u -c 0 creates its nodes)", file=sys.stderr)
        return 1
    if host.gpus() and not any(host.libraries()):
        print("note: no driver library found (libcuda.so.1): the image must provide the driver libraries", file=sys.stderr)
    print(json.dumps(made, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
