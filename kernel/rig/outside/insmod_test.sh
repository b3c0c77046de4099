#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# insmod.sh builds the modules, loads them in dependency order, and reports what is missing. insmod, rmmod and uname are
# fakes.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
root=$scratch/root
mkdir -p "$scratch/bin" "$scratch/tree" "$root/lib/modules/$RIG_RELEASE" "$root/usr/src"
cp -r "$kernel" "$scratch/tree/kernel"
# shellcheck disable=SC2016 # expanded by the fakes
for name in insmod rmmod; do
  printf '#!/bin/sh\necho %s "$(basename "$1" .ko)" >>%s\n[ ! -e %s ]\n' "$name" "$scratch/calls" "$scratch/fails" >"$scratch/bin/$name"
done
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" = -r ] && echo %s || exec /bin/uname "$@"\n' "$RIG_RELEASE" >"$scratch/bin/uname"
chmod +x "$scratch/bin"/*

expect() { # rc, fragment, arguments...
  expect_of "$1" "$2" env PATH="$scratch/bin:$PATH" GDRKIT_ROOT="$root" "$scratch/tree/kernel/insmod.sh" "${@:3}"
}

expect_calls() { # lines
  local calls
  calls=$(cat "$scratch/calls" 2>/dev/null || true)
  rm -f "$scratch/calls"
  [ "$calls" = "$1" ] || fail "called:"$'\n'"$calls"$'\n'"expected:"$'\n'"$1"
}

expect 2 "unknown argument '--peer'" --peer
expect 1 "the headers of the running Linux ($RIG_RELEASE) are missing"
ln -s "$RIG_HEADERS" "$root/lib/modules/$RIG_RELEASE/build"
expect 1 "cannot find the source of NVIDIA's driver"
plant_driver 580.1 "Dual MIT/GPL"
grep nvidia_p2p "$RIG_BUILD/open/Module.symvers" >"$root/usr/src/nvidia-580.1/Module.symvers"
expect 0 "gdrdrv.ko" --build
expect_calls ""
mkdir -p "$root/sys/module/gdrdrv" "$root/sys/module/gdrkit_p2p_lock"
expect 0 "loaded gdrkit_p2p_lock gdrdrv gdrkit_peermem" --peermem
expect_calls "rmmod gdrdrv
rmmod gdrkit_p2p_lock
insmod gdrkit_p2p_lock
insmod gdrdrv
insmod gdrkit_peermem"
touch "$scratch/fails"
expect 1 "cannot unload gdrdrv: end the programs that use it" --remove
