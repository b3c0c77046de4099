# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""TCP ports of this machine that a test hands to the programs it starts."""
import fcntl
import os
import random
import socket
import tempfile

# Below 32768, from where Linux takes the ports of outgoing connections: none of these can be taken so before its program
# listens there. A lock held until this process ends keeps tests that run at the same time apart.
PORTS = range(20000, 32000)
held = []


def free_ports(count=1):
    """The first of `count` ports that follow each other."""
    folder = os.path.join(tempfile.gettempdir(), f"gdrkit_test_ports_{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    while True:
        port = random.choice(PORTS)
        locks = [os.open(os.path.join(folder, str(port + i)), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600) for i in range(count)]
        try:
            for i, lock in enumerate(locks):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with socket.socket() as probe:
                    probe.bind(("", port + i))
        except OSError:
            for lock in locks:
                os.close(lock)
            continue
        held.extend(locks)
        return port
