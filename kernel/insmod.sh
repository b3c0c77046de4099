#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the modules from this folder for the running Linux, against the installed NVIDIA driver, and loads them until the
# next boot, without packages and DKMS. Requires root, except with --build.
#   usage: kernel/insmod.sh [--peermem] [--build | --remove]
#   --peermem   gdrkit_peermem as well
#   --build     only builds, in build/kernel/insmod
#   --remove    unloads what it loaded
# dkms_prepare.sh finds the driver; its variables apply here, too.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
out=$here/../build/kernel/insmod
linux=$(uname -r)
modules=(gdrkit_p2p_lock gdrdrv) # in the order of loading
what=load

usage() {
  printf 'error: %s\n' "$1" >&2
  sed -n 's/^#   usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

stop() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

unload() { # of those that are loaded, in the opposite order
  local name
  for name in gdrkit_peermem gdrdrv gdrkit_p2p_lock; do
    [ ! -d "${GDRKIT_ROOT:-}/sys/module/$name" ] || rmmod "$name" ||
      stop "$name does not unload: end the programs that use it (fuser -v /dev/gdrdrv), then try again"
  done
}

build() {
  local headers=${GDRKIT_ROOT:-}/lib/modules/$linux/build name
  [ -e "$headers/Makefile" ] || stop "no headers of the running Linux ($linux): install linux-headers-$linux or kernel-devel-$linux"
  rm -rf "$out"
  mkdir -p "$out"
  cp -r "$here"/{Kbuild,Makefile,dkms_prepare.sh,compat,include} "${modules[@]/#/$here/}" "$out/"
  "$out/dkms_prepare.sh" "$linux"
  make -C "$out" KDIR="$headers" MODULES="${modules[*]}" >"$out/build.log" 2>&1 || {
    grep -E 'error|ERROR|undefined' "$out/build.log" | head -20 >&2
    stop "the modules were not built; see $out/build.log"
  }
  for name in "${modules[@]}"; do echo "built $out/$name/$name.ko"; done
}

for argument in "$@"; do
  case "$argument" in
    --peermem) modules+=(gdrkit_peermem) ;;
    --build) what=build ;;
    --remove) what=remove ;;
    *) usage "unknown argument '$argument'" ;;
  esac
done
if [ "$what" = remove ]; then
  unload
  exit 0
fi
build
[ "$what" = load ] || exit 0
unload
for name in "${modules[@]}"; do
  insmod "$out/$name/$name.ko" || stop "cannot load $name; see the log: dmesg | tail. With secure boot a module needs a signature: docs/packages.md"
done
echo "loaded ${modules[*]}, until the next boot; $0 --remove unloads them"
