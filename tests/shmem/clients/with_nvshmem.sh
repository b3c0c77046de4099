#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests that need the headers and the device library of NVSHMEM, which gdrkit does not contain.
# usage: with_nvshmem.sh layout CXX PROJECT              compares state_layout.hpp with the headers
#        with_nvshmem.sh run NVCC LIBRARY_DIRECTORY         runs device_library.cu on LIBRARY_DIRECTORY/libnvshmem_host.so.3
# NVSHMEM_HOME, or the Python package nvidia.nvshmem, has include/ and lib/. Exits with 77 if a part is missing.
set -eu
skip() {
  echo "skipped: $1"
  exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
home=${NVSHMEM_HOME:-$(python3 -c 'import nvidia.nvshmem as it; print(list(it.__path__)[0])' 2>/dev/null || true)}
test -f "$home/include/device_host/nvshmem_common.cuh" ||
  skip "no headers of NVSHMEM; set NVSHMEM_HOME or install nvidia-nvshmem-cu13"
case $1 in
  layout)
    cuda=${CUDA_HOME:-/usr/local/cuda}/include
    test -f "$cuda/cuda_runtime.h" || skip "no headers of CUDA; set CUDA_HOME"
    "$2" -std=c++20 -fsyntax-only -w -I"$3" -I"$cuda" -I"$home/include" "$here/state_layout.cpp"
    echo "the layout is that of $home"
    ;;
  run)
    command -v "$2" >/dev/null || skip "no nvcc"
    test -f "$home/lib/libnvshmem_device.a" || skip "no device library of NVSHMEM in $home"
    test -e /dev/nvidiactl || skip "no GPU"
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    "$2" -std=c++17 -O2 -rdc=true -arch=native -w -I"$home/include" -o "$directory/device_library" \
      "$here/device_library.cu" -L"$home/lib" -lnvshmem_device -Xlinker "$3/libnvshmem_host.so.3" -lcuda
    "$2" -std=c++17 -O2 -rdc=true -arch=native -w -I"$home/include" -c -o "$directory/device_module.o" "$here/device_module.cu"
    "$2" -arch=native -w -dlink -cubin -o "$directory/device_module.cubin" "$directory/device_module.o" -L"$home/lib" \
      -lnvshmem_device
    LD_LIBRARY_PATH=$3:${LD_LIBRARY_PATH:-} "$directory/device_library" -m "$directory/device_module.cubin"
    ;;
esac
