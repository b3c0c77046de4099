#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Creates the program of this group from run.sh, and <program>.files from the packages below GDRKIT_KERNEL_INSTALLED.
# Their modules replace the rig's, and cuda.c replaces libcuda.so.1. usage: build.sh <program>
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
installed=${GDRKIT_KERNEL_INSTALLED:?must be set to the directory with the unpacked packages}
program=$1
compiler=${CC:-gcc}

rm -rf "$program.files"
mkdir -p "$program.files/installed" "$program.files/lib64" "$program.files/modules/open"
cp "$here/run.sh" "$program"
cp -a "$installed"/usr/bin/gdr{kit,copy_sanity} "$program.files/installed/"
find "$installed/usr/lib" -name 'libgdr*.so*' -exec cp -a {} "$program.files/installed/" \;
find "$installed/usr/lib/modules" -name '*.ko' -exec cp {} "$program.files/modules/open/" \;
[ -e "$program.files/modules/open/gdrdrv.ko" ] || {
  echo "error: cannot find gdrdrv.ko in $installed; unpack a package of built modules there" >&2
  exit 1
}
"$compiler" -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -pthread -I"$here/../.." -Wl,-soname,libcuda.so.1 \
  -o "$program.files/installed/libcuda.so.1" "$here/cuda.c"
for library in libc.so.6 libm.so.6; do cp -L "$("$compiler" -print-file-name=$library)" "$program.files/installed/"; done
cp -L "$("$compiler" -print-file-name=ld-linux-x86-64.so.2)" "$program.files/lib64/"
