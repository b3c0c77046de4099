# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Starts the PEs of a job as processes, with the environment that torchrun gives them."""
import os
import shutil
import subprocess
import sys

import pytest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from free_ports import free_ports  # noqa: E402  pylint: disable=wrong-import-position


def run_ok(*command, **variables):
    ended = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def expect_each_once(output, texts):
    """Processes that share an output may put their ends of lines into each other's."""
    assert all(output.count(text) == 1 for text in texts), output


def gdrkit_program():
    directory = os.environ.get("GDRKIT_BIN")
    program = (shutil.which("gdrkit", path=directory) if directory else None) or shutil.which("gdrkit")
    if program is None:
        pytest.skip("the program gdrkit is not built here")
    return program


def torchrun(n_pes, *arguments, backend="emulated"):
    """What the command torchrun does, by the interpreter that has PyTorch. backend "": one GPU for each."""
    return run_ok(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(n_pes), *arguments,
                  GDRKIT_SHMEM_TIMEOUT_S="60", OMP_NUM_THREADS="1", **({"GDRKIT_BACKEND": backend} if backend else {}))


def run_job(n_pes, program, torchrun=True, backend="emulated", timeout=120):
    """Runs the text `program` on every PE; returns (exit codes, outputs). backend "": one GPU for each."""
    port = free_ports(2)
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
