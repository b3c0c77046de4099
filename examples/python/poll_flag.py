# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""A thread polls a flag in device memory without the GIL, and reads the data after the flag. Here the driver's copies
write the data and the flag; in an application a GPU kernel writes them in this order."""
import struct
import threading

import gdrkit

DATA, FLAG, ACKNOWLEDGED, ROUNDS = 0, 32 * 1024, 40 * 1024, 100
buffer = gdrkit.allocate(64 * 1024)
mapping = gdrkit.map(buffer)
mapping.store_flag(FLAG, 0)
mapping.store_flag(ACKNOWLEDGED, 0)
received = 0


def consume() -> None:
    global received
    for turn in range(1, ROUNDS + 1):
        mapping.wait_flag(FLAG, turn, timeout=30)
        if mapping.read(DATA, 1024) != struct.pack("I", turn) * 256:  # never older than the flag
            break
        received = turn
        mapping.store_flag(ACKNOWLEDGED, turn)


consumer = threading.Thread(target=consume)
consumer.start()
for turn in range(1, ROUNDS + 1):
    buffer.copy_from_host(DATA, struct.pack("I", turn) * 256)
    buffer.copy_from_host(FLAG, struct.pack("I", turn))
    mapping.wait_flag(ACKNOWLEDGED, turn, timeout=30)
consumer.join()
print(f"{gdrkit.context().info.backend}: the CPU saw {received} of {ROUNDS} flags, each with its data")
raise SystemExit(0 if received == ROUNDS else 1)
