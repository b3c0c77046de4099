#!/usr/bin/env python3
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""Compiles the functions of include/gdrkit/detail/shmem_plain_names.cuh to LLVM bitcode, which Triton links, and stores
one library per instruction set in cmake/gpu_bitcode.tar.xz.

The bitcode names no processor, because LLVM inlines only functions of the same processor.

usage: scripts/gpu_bitcode.py    makes the archive; needs clang 19 (Debian: clang-19)"""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import gpu_ptx

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARCHIVE = os.path.join(ROOT, "cmake", "gpu_bitcode.tar.xz")
COMPILER = "clang++-19"
ARCHITECTURES = (70, 90)  # the first with the memory model, the first with its own acquire and release fences
SOURCE = "#define GDRKIT_SHMEM_MODULE\n#include <gdrkit/detail/shmem_plain_names.cuh>\n"


def output_of(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, **options).stdout


def compile_bitcode(architecture):
    # Without these options, clang chooses the version of PTX by the CUDA that it finds on this machine.
    assembly = output_of(COMPILER, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch=sm_{architecture}", "-nocudalib", "-nocudainc",
                         "--cuda-path=/nonexistent", "--cuda-feature=+ptx78", "-std=c++17", "-O3", "-fomit-frame-pointer", "-include", "platform/gpu_code/clang_cuda.cuh",
                         "-Iinclude", "-S", "-emit-llvm", "-", "-o", "-", input=SOURCE.encode()).decode()
    assembly = re.sub(r' "(?:target-cpu|target-features|frame-pointer|no-trapping-math|stack-protector-buffer-size)"="[^"]*"', "", assembly)
    assembly = re.sub(r", !srcloc !\d+", "", assembly)  # places of inline assembly, which change with comments
    # Module flags of clang conflict with those of the module that links the library.
    assembly = re.sub(r"(?m)^(?:!llvm\.(?:module\.flags|ident) = |source_filename = ).*\n", "", assembly)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "library.bc")
        output_of(COMPILER, "-x", "ir", "-", "--target=nvptx64-nvidia-cuda", "-Wno-override-module", "-O0", "-emit-llvm", "-c", "-o", path,
                  input=assembly.encode())
        with open(path, "rb") as file:
            return file.read()


def compiler():
    return output_of(COMPILER, "--version").decode().splitlines()[0]


def read_archive():
    """Returns {file name: bitcode}, and the compiler as "compiler.txt"."""
    with tarfile.open(ARCHIVE) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def compile_all():
    files = {f"libgdrkit_shmem_device_sm_{architecture}.bc": compile_bitcode(architecture) for architecture in ARCHITECTURES}
    return {**files, "compiler.txt": compiler().encode()}


def main(arguments):
    if arguments:
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    if shutil.which(COMPILER) is None:
        print(f"cannot make bitcode: no {COMPILER} (Debian: clang-19)", file=sys.stderr)
        return 77
    files = compile_all()
    if not os.path.exists(ARCHIVE) or files != read_archive():
        gpu_ptx.write_archive(ARCHIVE, files)
    for name, content in files.items():
        print(f"{name}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
