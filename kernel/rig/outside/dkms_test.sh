#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The pre-build check with planted installations, and an in-tree build of the modules as DKMS does it.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
tree=$scratch/tree
log=$scratch/log
root=$scratch/root

expect() { # rc, fragment, variables...
  expect_of "$1" "$2" env GDRKIT_ROOT="$root" "${@:3}" "$tree/dkms_prepare.sh" "$RIG_RELEASE"
}

mkdir "$tree" "$root"
cp -r "$kernel"/{Kbuild,Makefile,dkms.conf,dkms_prepare.sh,compat,include,gdrkit_p2p_lock,gdrdrv,gdrkit_peermem} "$tree/"
expect 1 "cannot find the source of NVIDIA's driver under /usr/src"
expect 1 "no nvidia/nv-p2p.h in" GDRKIT_NVIDIA_SOURCE="$scratch"
plant_driver 580.1 "Dual MIT/GPL"
expect 1 "no Module.symvers and no nvidia.ko found"
echo "0x1 unrelated" >"$root/usr/src/nvidia-580.1/Module.symvers"
expect 1 "no Module.symvers and no nvidia.ko found"
plant_driver 570.2 NVIDIA
expect 1 "several NVIDIA drivers"
mkdir -p "$root/sys/module/nvidia"
echo 999.9 >"$root/sys/module/nvidia/version"
expect 1 "the installed NVIDIA driver is 999.9, but /usr/src only contains"

# The loaded module's version selects the source, and the source determines the flavour.
for flavour in open proprietary; do
  version=580.1
  [ "$flavour" = open ] || version=570.2
  echo "$version" >"$root/sys/module/nvidia/version"
  grep 'nvidia_p2p' "$RIG_BUILD/$flavour/Module.symvers" >"$root/usr/src/nvidia-$version/Module.symvers"
  # Packages run --check first, which must write nothing to /usr/src.
  rm -f "$tree/installed.mk"
  GDRKIT_ROOT=$root "$tree/dkms_prepare.sh" --check "$RIG_RELEASE"
  [ ! -e "$tree/installed.mk" ] || fail "dkms_prepare.sh --check wrote installed.mk"
  # DKMS keeps only the module, which distributions compress. Its symbol versions must equal those of its build.
  module=$root/lib/modules/$RIG_RELEASE/updates/dkms/nvidia.ko
  mkdir -p "$(dirname "$module")"
  gzip -c "$RIG_BUILD/$flavour/fake_p2p/fake_p2p.ko" >"$module.gz"
  mv "$root/usr/src/nvidia-$version/Module.symvers" "$scratch/symvers"
  expect 0 "symbol versions from $tree/nvidia.symvers"
  versions() { cut -f 1,2,4 "$1" | LC_ALL=C sort; }
  diff <(versions "$scratch/symvers") <(versions "$tree/nvidia.symvers") || fail "the symbol versions of $module.gz differ from those of its build"
  mv "$scratch/symvers" "$root/usr/src/nvidia-$version/Module.symvers"
  rm "$module.gz"
  expect 0 "building the $flavour flavour against $root/usr/src/nvidia-$version"
  # shellcheck disable=SC1091 # DKMS sources its settings the same way
  (export kernelver=$RIG_RELEASE kernel_source_dir=$RIG_HEADERS && source "$tree/dkms.conf" && cd "$tree" &&
    eval "$CLEAN" >"$log" 2>&1 && eval "${MAKE[0]}" >>"$log" 2>&1) ||
    fail "the $flavour build failed: $(grep -E 'error|ERROR|warning' "$log" | head -20)"
  for module in gdrkit_p2p_lock gdrdrv gdrkit_peermem; do
    [ -e "$tree/$module/$module.ko" ] || fail "the build did not create $module/$module.ko"
  done
  [ ! -e "$tree/fake_p2p" ] || fail "the DKMS sources contain fake_p2p"
done
