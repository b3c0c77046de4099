#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the modules from this directory for the running Linux, against the installed NVIDIA driver, and loads them until
# the next boot, without packages and DKMS. Requires root, except with --build.
#   usage: kernel/insmod.sh [--peermem] [--build | --remove]
#   --peermem   also gdrkit_peermem
#   --build     only build, in build/kernel/insmod
#   --remove    unload the modules
# dkms_prepare.sh finds the driver; its environment variables apply here too.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
out=$here/../build/kernel/insmod
linux=$(uname -r)
modules=(gdrkit_p2p_lock gdrdrv) # in load order
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

unload() { # all loaded modules, in reverse order
  local name
  for name in gdrkit_peermem gdrdrv gdrkit_p2p_lock; do
    [ ! -d "${GDRKIT_ROOT:-}/sys/module/$name" ] || rmmod "$name" ||
      stop "cannot unload $name: end the programs that use it (fuser -v /dev/gdrdrv), then try again"
  done
}

build() {
  local headers=${GDRKIT_ROOT:-}/lib/modules/$linux/build name
  [ -e "$headers/Makefile" ] || stop "cannot build: the headers of the running Linux ($linux) are missing; install linux-headers-$linux or kernel-devel-$linux"
  rm -rf "$out"
  mkdir -p "$out"
  cp -r "$here"/{Kbuild,Makefile,dkms_prepare.sh,compat,include} "${modules[@]/#/$here/}" "$out/"
  "$out/dkms_prepare.sh" "$linux"
  make -C "$out" KDIR="$headers" MODULES="${modules[*]}" >"$out/build.log" 2>&1 || {
    grep -E 'error|ERROR|undefined' "$out/build.log" | head -20 >&2
    stop "cannot build the modules; see $out/build.log"
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
  insmod "$out/$name/$name.ko" || stop "cannot load $name: see dmesg for the reason; with secure boot, sign the module (docs/packages.md)"
done
echo "loaded ${modules[*]} until the next boot; unload with $0 --remove"
