# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Starts the PEs of a job as processes, with the environment that torchrun gives them."""
import os
import socket
import subprocess
import sys


def free_port():
    """A port P such that P + 1, where shmem's PEs meet under torchrun, is free."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


def run_job(n_pes, program, torchrun=True, backend="emulated", timeout=120):
    """Runs the text `program` on every PE; returns (exit codes, outputs). backend "": one GPU for each."""
    port = free_port()
    children = []
    for pe in range(n_pes):
        environment = {**os.environ, "PE": str(pe), "N_PES": str(n_pes), "GDRKIT_SHMEM_TIMEOUT_S": "60", "GDRKIT_BACKEND": backend}
        if not backend:
            del environment["GDRKIT_BACKEND"]
        if torchrun:
            environment |= {"RANK": str(pe), "WORLD_SIZE": str(n_pes), "LOCAL_RANK": str(pe), "LOCAL_WORLD_SIZE": str(n_pes),
                            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        children.append(subprocess.Popen([sys.executable, "-c", program], env=environment, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    outputs = []
    try:
        for child in children:
            outputs.append(child.communicate(timeout=timeout)[0])
    finally:
        for child in children:
            child.kill()
    return [child.returncode for child in children], outputs


def run_all_well(n_pes, program, **more):
    codes, outputs = run_job(n_pes, program, **more)
    assert codes == [0] * n_pes, "\n".join(outputs)
    return outputs
