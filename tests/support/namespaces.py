# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Checks whether two network namespaces with a link between them can be made here, and runs commands in them (network.py)."""
import json
import os
import shutil
import subprocess
import sys

NETWORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "network.py")
NETEM = ["netem", "delay", "2ms", "1ms", "loss", "0.5%"]
# The queue holds 10 KiB, so that bursts lose packets.
SLOW = ["tbf", "rate", "50mbit", "burst", "4kb", "latency", "1ms"]
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def unshared():
    """Returns the command prefix that creates a network namespace, without privileges if Linux allows it."""
    for words in (["unshare", "-Urnm"], ["unshare", "-nm"]):
        # UCX reads its devices in /sys, which shows those of the namespace that mounted it.
        tried = subprocess.run([*words, "unshare", "-nm", "mount", "-t", "sysfs", "sysfs", "/sys"], capture_output=True,
                               check=False)
        if tried.returncode == 0:
            return words
    return None


def why_no_namespaces():
    missing = [tool for tool in ("ip", "tc") if not shutil.which(tool, path=PATH)]
    if missing:
        return f"{' and '.join(missing)} not found: install iproute2"
    if unshared() is None:
        return "cannot create a network namespace: Linux or its settings forbid it, or a mount of sysfs in it (unshare -Urnm)"
    return None


def why_no_queue(words):
    """Returns None if this Linux has this queueing discipline, else the reason for a skip."""
    tried = subprocess.run([*unshared(), "tc", "qdisc", "add", "dev", "lo", "root", *words], capture_output=True,
                           check=False, env={**os.environ, "PATH": PATH})
    return None if tried.returncode == 0 else f"this Linux lacks sch_{words[0]} (CONFIG_NET_SCH_{words[0].upper()})"


def run_in_namespaces(command, pes=1, limit=200, **job):
    """Returns the results of all processes, in their order."""
    job = {"command": command, "pes": pes, "limit": limit, **job}
    ended = subprocess.run([*unshared(), sys.executable, NETWORK, json.dumps(job)], capture_output=True, text=True,
                           timeout=limit + 60, check=False, env={**os.environ, "PATH": PATH})
    if ended.returncode != 0:
        raise AssertionError(ended.stdout + ended.stderr)
    return [end for line in ended.stdout.splitlines() for end in json.loads(line)]
