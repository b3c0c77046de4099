# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The CPU stores into device memory, and the driver's copy reads it back. Runs on a GPU, or on any machine with
GDRKIT_BACKEND=emulated. In your program the memory is a tensor: gdrkit.map(tensor)."""
import gdrkit

buffer = gdrkit.allocate(64 * 1024)
with gdrkit.map(buffer) as mapping:
    data = bytes(range(256)) * 16
    mapping.write(0, data)  # CPU stores: no system call, no driver call
    mapping.store_flag(8192, 1)  # one store, visible after everything written before it
    seen = buffer.copy_to_host(0, len(data))
    flag = mapping.load_flag(8192)
is_right = seen == data and flag == 1
print(f"{gdrkit.context().info.backend}: the device has {'what the CPU stored' if is_right else 'something else'}")
raise SystemExit(0 if is_right else 1)
