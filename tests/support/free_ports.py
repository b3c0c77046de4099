# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A rendezvous port for ranks of this machine."""
import socket


def two_free_ports():
    """A port whose successor, where libgdrkit_shmem meets under torchrun, is free too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port
