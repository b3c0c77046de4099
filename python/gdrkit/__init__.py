# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""gdrkit: the CPU reads and writes GPU memory with its own loads and stores.

    mapping = gdrkit.map(tensor)        # PyTorch, CuPy, JAX, or gdrkit.allocate(size)
    mapping.write(0, data)
    mapping.store_flag(4096, 1)

gdrkit.shmem is communication between GPUs.
"""
from gdrkit import _core
from gdrkit._context import (
    BackendReport,
    Buffer,
    Context,
    ContextInfo,
    Mapping,
    MappingInfo,
    allocate,
    backends,
    context,
    copy_kernels,
    map,
)
from gdrkit._core import Copy
from gdrkit._errors import Error, Timeout

__version__: str = _core.version()

__all__ = [
    "BackendReport",
    "Buffer",
    "Context",
    "ContextInfo",
    "Copy",
    "Error",
    "Mapping",
    "MappingInfo",
    "Timeout",
    "allocate",
    "backends",
    "context",
    "copy_kernels",
    "map",
]
