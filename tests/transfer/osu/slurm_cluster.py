# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A Slurm cluster of one node, this machine, in a separate directory: munged, slurmctld and slurmd, during a with block.
Requires root, like slurmd."""
import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time

from free_ports import free_ports

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "sinfo": "slurm-client"}
SBIN = ":/usr/sbin:/sbin"
LIMIT_S = 60

CONFIGURATION = """ClusterName=gdrkit
SlurmctldHost={node}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
ReturnToService=2
NodeName={node} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + SBIN)


def why_not():
    missing = [f"{name} (Debian: {package})" for name, package in PROGRAMS.items() if program(name) is None]
    if missing:
        return "no " + ", no ".join(missing)
    return "" if os.geteuid() == 0 else "slurmd needs root"


class OneNode:
    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="gdrkit-slurm-")
        self.processes = []
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def spawn(self, name, *arguments):
        with open(os.path.join(self.directory, name + ".output"), "wb") as output:
            self.processes.append(subprocess.Popen([program(name), *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                                   env=self.environment(os.environ)))

    def environment(self, variables):
        return {**variables, "SLURM_CONF": os.path.join(self.directory, "slurm.conf"), "PATH": variables.get("PATH", "") + SBIN}

    def start(self):
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.directory, name))
        key = os.path.join(self.directory, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o400)
        controller_port = free_ports(2)
        node_port = controller_port + 1
        with open(os.path.join(self.directory, "slurm.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(node=socket.gethostname().split(".")[0], user=getpass.getuser(), directory=self.directory,
                                            controller_port=controller_port, node_port=node_port, cpus=os.cpu_count()))
        at = self.directory
        self.spawn("munged", "--foreground", "--force", "--key-file", key, "--socket", f"{at}/munge.socket", "--pid-file", f"{at}/munge.pid",
                   "--log-file", f"{at}/munge.log", "--seed-file", f"{at}/munge.seed", "--num-threads", "2")
        self.wait_until(lambda: os.path.exists(f"{at}/munge.socket"), "munged's socket")
        self.spawn("slurmctld", "-D")
        self.spawn("slurmd", "-D", "-N", socket.gethostname().split(".")[0])
        self.wait_until(self.is_idle, "an idle node")

    def is_idle(self):
        seen = subprocess.run(["sinfo", "-h", "-o", "%T"], env=self.environment(os.environ), capture_output=True, text=True, check=False)
        return seen.stdout.strip() == "idle"

    def wait_until(self, holds, what):
        deadline = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                raise RuntimeError(f"{what} did not come:\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.directory)):
            if name.endswith((".log", ".output")):
                with open(os.path.join(self.directory, name), encoding="utf-8", errors="replace") as file:
                    text += f"{name}: {file.read()[-1500:]}\n"
        return text

    @property
    def process_management(self):
        """Mechanisms by which srun connects the tasks: variables only, and the installed plug-ins."""
        listed = subprocess.run(["srun", "--mpi=list"], env=self.environment(os.environ), capture_output=True, text=True, check=False)
        words = (listed.stdout + listed.stderr).replace(",", " ").split()
        return [(f"--mpi={name}",) for name in ("pmi2", "pmix") if name in words]

    def srun(self, *arguments, environment):
        return subprocess.run(["srun", "--overcommit", *arguments], env=self.environment(environment), capture_output=True, text=True,
                              timeout=120, check=False, stdin=subprocess.DEVNULL)
