#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the program of this group, linked with the shared libraries of build/lib, and <program>.files with everything
# that it needs in the machine. usage: build.sh <program>
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
kernel=$here/../..
root=$kernel/..
libraries=${GDRKIT_LIBRARIES:-$root/build/lib}
program=$1
compiler=${CC:-gcc}

for library in libgdrkit.so.0 libgdrapi.so.2; do
  [ -e "$libraries/$library" ] || {
    echo "error: cannot find $libraries/$library; build it with './run build' or './run test kernel'" >&2
    exit 1
  }
done

rm -rf "$program.files"
mkdir -p "$program.files/library"
# --export-dynamic: the libraries must call the program's ioctl (old_module.c).
"$compiler" -std=gnu11 -O1 -Wall -Wextra -Werror -pthread -I"$kernel" -I"$root/include" -o "$program" \
  "$kernel"/tests/support/*.c "$here"/*.c "$libraries/libgdrkit.so.0" "$libraries/libgdrapi.so.2" \
  -Wl,--export-dynamic -Wl,-rpath,/library -Wl,--dynamic-linker=/library/ld-linux-x86-64.so.2
for library in "$libraries/libgdrkit.so.0" "$libraries/libgdrapi.so.2" \
  "$("$compiler" -print-file-name=libc.so.6)" "$("$compiler" -print-file-name=ld-linux-x86-64.so.2)"; do
  cp -L "$library" "$program.files/library/"
done
strip -g "$program.files/library"/libgdr*
