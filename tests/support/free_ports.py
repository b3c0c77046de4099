# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""TCP ports of this machine that a test passes to the programs that it starts."""
import fcntl
import os
import random
import socket
import tempfile

# Below 32768, where Linux starts to allocate ports for outgoing connections, so none of these is taken before the
# program listens on it. A lock held until this process ends separates tests that run at the same time.
PORTS = range(20000, 32000)
held = []


def free_ports(count=1):
    """Returns the first of `count` consecutive ports."""
    directory = os.path.join(tempfile.gettempdir(), f"gdrkit_test_ports_{os.getuid()}")
    os.makedirs(directory, exist_ok=True)
    while True:
        port = random.choice(PORTS)
        locks = [os.open(os.path.join(directory, str(port + i)), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600) for i in range(count)]
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
