#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Compiles a program with GPU kernels with the command of docs/shmem-from-nvshmem.md, as PTX for any GPU.
# usage: compile_device.sh NVCC INCLUDE_DIRECTORY LIBRARY_DIRECTORY PROGRAM SOURCES...    Exits with 77 if nvcc is missing
set -eu
nvcc=$1 include=$2 libraries=$3 program=$4
shift 4
if [ ! -x "$nvcc" ]; then
  echo "no nvcc: the program with GPU kernels is not compiled"
  exit 77
fi
"$nvcc" -std=c++17 -O2 -arch=compute_75 -code=compute_75 -Werror all-warnings -I"$include" -I"$include/gdrkit/compat" \
  "$@" -L"$libraries" -lgdrkit_shmem -lgdrkit \
  -Xlinker -rpath="$libraries" -o "$program"
