#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Runs a command as the PEs of two nodes: two network namespaces with a link between them.

    unshare -Urnm python3 network.py '{"command": [...], "pes": 2, ...}'

pes: PEs of each namespace. environment: additional variables of all PEs. containers: each namespace also has its own
PIDs, host name and boot identifier. qdisc: words for `tc qdisc add dev link root` on both sides. kill_after: seconds
until the last PE is killed; cut_after: until the link is taken down. Prints one JSON object for each namespace: the
results of its PEs, in seconds since the event, or since the start without an event, and the packets that the queue of
its side dropped."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

DEVICE = "link0"
NETWORK = "10.97.0"


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start(command, **options):
    return subprocess.Popen(command, preexec_fn=die_with_parent, text=True, **options)


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")


def environment_of(index, job, local):
    rank = index * job["pes"] + local
    return {**os.environ, "GDRKIT_BACKEND": "emulated", "RANK": str(rank), "WORLD_SIZE": str(2 * job["pes"]),
            "LOCAL_RANK": str(local), "MASTER_ADDR": f"{NETWORK}.1", "MASTER_PORT": "29500", "GDRKIT_SHMEM_TOKEN": "0123456789abcdef",
            "GDRKIT_SHMEM_INTERFACE": DEVICE, "GDRKIT_SHMEM_HEAP_MAX": "512M", "UCX_NET_DEVICES": DEVICE,
            "UCX_TLS": "tcp,self", "UCX_HANDLE_ERRORS": "none", "UCX_LOG_LEVEL": "fatal",
            "UCX_WARN_UNUSED_ENV_VARS": "n", **job.get("environment", {})}


def wait_for(process, result):
    result["out"], result["err"] = process.communicate()
    result["code"] = process.returncode
    result["at"] = time.monotonic()


def wait_for_link():
    """Waits up to 10 s. Linux takes up to one second to report that both sides are up, and UCX ignores a device that is down."""
    for _ in range(1000):
        with open(f"/sys/class/net/{DEVICE}/operstate", encoding="ascii") as file:
            if file.read().strip() == "up":
                return
        time.sleep(0.01)
    raise SystemExit(f"{DEVICE} did not come up")


def dropped():
    """Returns the number of packets that the link's queue dropped."""
    shown = subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", DEVICE], capture_output=True, text=True, check=True)
    return sum(queue.get("drops", 0) for queue in json.loads(shown.stdout))


def be_a_container(index):
    call("hostname", f"container{index}")
    with tempfile.NamedTemporaryFile("w", suffix=".boot_id") as file:
        file.write(f"{index:08d}-0000-4000-8000-000000000000\n")
        file.flush()
        call("mount", "--bind", file.name, "/proc/sys/kernel/random/boot_id")


def inside(index, job):
    """Runs in a namespace. A line on stdin means that its side of the link exists."""
    sys.stdin.readline()
    if job.get("containers"):
        be_a_container(index)
    call("mount", "-t", "sysfs", "sysfs", "/sys")  # with this namespace's devices, which UCX reads there
    call("ip", "address", "add", f"{NETWORK}.{index + 1}/24", "dev", DEVICE)
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "set", DEVICE, "up")
    if job.get("qdisc"):
        call("tc", "qdisc", "add", "dev", DEVICE, "root", *job["qdisc"])
    print("ready", flush=True)
    sys.stdin.readline()
    wait_for_link()
    begin = time.monotonic()
    ends = [{} for _ in range(job["pes"])]
    threads, processes = [], []
    for local, end in enumerate(ends):
        process = start(job["command"], env=environment_of(index, job, local), stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
        processes.append(process)
        threads.append(threading.Thread(target=wait_for, args=(process, end)))
        threads[-1].start()
    event = job.get("kill_after") or job.get("cut_after")
    if event:
        time.sleep(event)
        begin = time.monotonic()
        if job.get("cut_after"):
            call("ip", "link", "set", DEVICE, "down")
        elif index == 1:
            processes[-1].kill()
    for thread in threads:
        thread.join(max(0.1, begin + job["limit"] - time.monotonic()))
    for process, thread in zip(processes, threads):
        process.kill()
        thread.join()
    drops = dropped() if job.get("qdisc") else 0
    print("ended", flush=True)
    sys.stdin.readline()  # the link disappears with the first namespace
    print(json.dumps([{**end, "seconds": end.pop("at") - begin, "drops": drops} for end in ends]), flush=True)


def outside(job):
    apart = ["-nmpu", "--fork", "--mount-proc", "--kill-child"] if job.get("containers") else ["-nm"]
    sides = [start(["unshare", *apart, sys.executable, __file__, "inside", str(index), json.dumps(job)],
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE) for index in range(2)]
    own = os.readlink("/proc/self/ns/net")
    for side in sides:
        while os.readlink(f"/proc/{side.pid}/ns/net") == own:
            time.sleep(0.01)
            if side.poll() is not None:
                raise SystemExit("unshare -n failed")
    call("ip", "link", "add", DEVICE, "netns", str(sides[0].pid), "type", "veth", "peer", "name", DEVICE, "netns",
         str(sides[1].pid))
    # Both sides have their addresses before either starts its PEs, and both have finished before either ends.
    for _ in range(3):
        for side in sides:
            side.stdin.write("go\n")
            side.stdin.flush()
        lines = [side.stdout.readline() for side in sides]
        if not all(lines):
            raise SystemExit(1)
    for line in lines:
        print(line, end="")


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        inside(int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        outside(json.loads(sys.argv[1]))
