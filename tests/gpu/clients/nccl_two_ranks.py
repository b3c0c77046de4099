#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""NCCL with the drop-in library: two ranks on one GPU over loopback. Checks the sums and that NCCL reports GDRCopy as
enabled.

usage: nccl_two_ranks.py LIBRARY_DIRECTORY
"""
import os
import re
import subprocess
import sys

SIZES = (1, 8, 1000, 65536, 1 << 20, 5_000_000)


def rank_main(rank):
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", 0))
    for size in SIZES:
        for round_number in range(3):
            values = torch.arange(size, dtype=torch.float32, device="cuda") % 1000 + rank * 10 + round_number
            dist.all_reduce(values)
            expected = (torch.arange(size, dtype=torch.float32, device="cuda") % 1000) * 2 + 10 + 2 * round_number
            assert torch.equal(values, expected), f"wrong sum at {size} elements"
    torch.cuda.synchronize()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = {line.split()[-1] for line in maps if "libgdrapi" in line}
    print(f"rank {rank}: correct sums for {len(SIZES)} sizes, loaded {' '.join(sorted(loaded)) or 'without libgdrapi'}")
    dist.destroy_process_group()


def environment_for(rank, library_directory):
    environment = dict(os.environ)
    environment["LD_LIBRARY_PATH"] = library_directory + ":" + environment.get("LD_LIBRARY_PATH", "")
    environment.update(NCCL_HOSTID=f"host{rank}", NCCL_NET="Socket", NCCL_SOCKET_IFNAME="lo", NCCL_P2P_DISABLE="1",
                       NCCL_SHM_DISABLE="1", NCCL_IB_DISABLE="1", NCCL_GDRCOPY_ENABLE="1", NCCL_DEBUG="INFO",
                       NCCL_DEBUG_SUBSYS="INIT,NET,ENV", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    return environment


def main():
    if len(sys.argv) == 3:
        rank_main(int(sys.argv[2]))
        return 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    directory = os.path.abspath(sys.argv[1])
    ranks = [subprocess.Popen([sys.executable, __file__, directory, str(rank)], env=environment_for(rank, directory),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(2)]
    texts = []
    for process in ranks:
        try:
            texts.append(process.communicate(timeout=150)[0])
        except subprocess.TimeoutExpired:
            process.kill()
            texts.append(process.communicate()[0] + "\nTIMEOUT")
    passed = all(process.returncode == 0 for process in ranks)
    for rank, text in enumerate(texts):
        found = re.findall(r".*(?:GDRCOPY|via NET|NCCL version|correct sums|libgdrapi).*", text)
        print("\n".join(found) if passed else text)
        enabled = "GDRCOPY enabled library 2.6 driver 2.6" in text
        ours = any(directory in line for line in text.splitlines() if "loaded" in line)
        if not (enabled and ours):
            print(f"rank {rank}: GDRCopy {'enabled' if enabled else 'NOT reported enabled'}, {'our' if ours else 'NOT our'} library")
            passed = False
    print("NCCL: passed" if passed else "NCCL: NOT passed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
