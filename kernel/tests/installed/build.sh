#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The program of this group, run.sh, and <program>.files next to it: the files that packages installed below
# GDRKIT_KERNEL_INSTALLED, their modules in place of those of the rig, and the fake libcuda.so.1.   usage: build.sh <program>
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
installed=${GDRKIT_KERNEL_INSTALLED:?names the folder that packages were unpacked into}
program=$1
compiler=${CC:-gcc}

rm -rf "$program.files"
mkdir -p "$program.files/installed" "$program.files/lib64" "$program.files/modules/open"
cp "$here/run.sh" "$program"
cp -a "$installed"/usr/bin/gdr{kit,copy_sanity} "$program.files/installed/"
find "$installed/usr/lib" -name 'libgdr*.so*' -exec cp -a {} "$program.files/installed/" \;
find "$installed/usr/lib/modules" -name '*.ko' -exec cp {} "$program.files/modules/open/" \;
[ -e "$program.files/modules/open/gdrdrv.ko" ] || {
  echo "error: $installed contains no gdrdrv.ko: unpack a package of built modules there" >&2
  exit 1
}
"$compiler" -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -pthread -I"$here/../.." -Wl,-soname,libcuda.so.1 \
  -o "$program.files/installed/libcuda.so.1" "$here/cuda.c"
for library in libc.so.6 libm.so.6; do cp -L "$("$compiler" -print-file-name=$library)" "$program.files/installed/"; done
cp -L "$("$compiler" -print-file-name=ld-linux-x86-64.so.2)" "$program.files/lib64/"
