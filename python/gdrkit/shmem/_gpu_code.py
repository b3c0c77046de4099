# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""GPU kernels that other compilers make: where the headers and the bitcode are, and how a loaded module gets the state of its PE."""
from __future__ import annotations

import os
from typing import Any

from gdrkit import _shmem

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INCLUDE = os.path.join(_PACKAGE, "include")


def include_path() -> list[str]:
    """Returns the directories of headers for NVRTC, as `-I` options name them.

    The first holds `gdrkit/shmem_device.cuh`, the second what NVRTC lacks of the C and C++ standard headers.
    """
    return [_INCLUDE, os.path.join(_INCLUDE, "gdrkit", "detail", "nvrtc")]


def bitcode_path(compute_capability: int) -> str:
    """Returns the LLVM bitcode of the device functions for a GPU of this compute capability (90 for 9.0)."""
    if compute_capability < 70:
        raise ValueError(f"no bitcode for compute capability {compute_capability / 10}: the device functions require 7.0 or newer")
    return os.path.join(_PACKAGE, "device", f"libgdrkit_shmem_device_sm_{90 if compute_capability >= 90 else 70}.bc")


def _handle_of(module: Any) -> tuple[int, bool]:
    """(handle, is a CUlibrary)"""
    if isinstance(module, int):
        return module, False
    if hasattr(module, "get_kernel") and hasattr(module, "handle"):  # cuda.core.ObjectCode
        return int(module.handle), True
    for name in ("module", "ptr", "handle"):  # CuPy's RawModule and Module; Triton's compiled kernel; Numba's module
        inner = getattr(module, name, None)
        if inner is not None:
            return _handle_of(inner)
    try:
        return int(module), False
    except (TypeError, ValueError):
        raise TypeError(f"cannot initialize a {type(module).__name__}: it is not a CUDA module; pass a loaded CUDA module") from None


def init_module(module: Any) -> None:
    """Stores the state of the calling thread's PE in a loaded module whose code includes `gdrkit/shmem_state.cuh`.

    Call it once, after the module is loaded and before its first launch. `module`: CuPy's RawModule, a
    cuda.core.ObjectCode, a compiled Triton kernel, or a CUmodule as an int. NVRTC code needs no macro; other compilers
    need GDRKIT_SHMEM_MODULE.
    """
    handle, is_library = _handle_of(module)
    if is_library:
        _shmem.library_init(handle)
    else:
        _shmem.module_init(handle)
