#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The pre-build check against planted installations, and a build of the two modules in place, like with DKMS.
set -euo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
root=$scratch/root

expect() { # rc, fragment, variables...
  local rc=0 wanted=$1 fragment=$2 output
  shift 2
  output=$(env GDRKIT_ROOT="$root" "$@" "$tree/dkms_prepare.sh" "$RIG_RELEASE" 2>&1) || rc=$?
  if [ "$rc" != "$wanted" ] || [[ $output != *"$fragment"* ]]; then
    printf 'dkms_prepare.sh with %s: exit status %s, expected %s and "%s" in:\n%s\n' "$*" "$rc" "$wanted" "$fragment" "$output"
    exit 1
  fi
}

plant_driver() { # version, licence
  mkdir -p "$root/usr/src/nvidia-$1/nvidia"
  cp "$kernel/include/nv-p2p.h" "$root/usr/src/nvidia-$1/nvidia/"
  echo "MODULE_LICENSE(\"$2\");" >"$root/usr/src/nvidia-$1/nvidia/nv.c"
}

mkdir "$tree" "$root"
cp -r "$kernel"/{Kbuild,Makefile,dkms.conf,dkms_prepare.sh,compat,include,gdrkit_p2p_lock,gdrdrv,gdrkit_peermem} "$tree/"
expect 1 "found no source of NVIDIA's driver under /usr/src"
expect 1 "contains no nvidia/nv-p2p.h" GDRKIT_NVIDIA_SOURCE="$scratch"
plant_driver 580.1 "Dual MIT/GPL"
expect 1 "neither the Module.symvers of its build nor a module"
echo "0x1 unrelated" >"$root/usr/src/nvidia-580.1/Module.symvers"
expect 1 "neither the Module.symvers of its build nor a module"
plant_driver 570.2 NVIDIA
expect 1 "several NVIDIA drivers"
mkdir -p "$root/sys/module/nvidia"
echo 999.9 >"$root/sys/module/nvidia/version"
expect 1 "the NVIDIA driver here is 999.9, but /usr/src has only"

# Found by the loaded version; the flavour is that of its source.
for flavour in open proprietary; do
  version=580.1
  [ "$flavour" = open ] || version=570.2
  echo "$version" >"$root/sys/module/nvidia/version"
  grep 'nvidia_p2p' "$RIG_BUILD/$flavour/Module.symvers" >"$root/usr/src/nvidia-$version/Module.symvers"
  # Packages run the check first, which must leave nothing in /usr/src.
  rm -f "$tree/installed.mk"
  GDRKIT_ROOT=$root "$tree/dkms_prepare.sh" --check "$RIG_RELEASE"
  [ ! -e "$tree/installed.mk" ] || { echo "dkms_prepare.sh --check writes"; exit 1; }
  # DKMS leaves only the module itself, which distributions compress: its versions are those that its build wrote.
  module=$root/lib/modules/$RIG_RELEASE/updates/dkms/nvidia.ko
  mkdir -p "$(dirname "$module")"
  gzip -c "$RIG_BUILD/$flavour/fake_p2p/fake_p2p.ko" >"$module.gz"
  mv "$root/usr/src/nvidia-$version/Module.symvers" "$scratch/symvers"
  expect 0 "symbol versions from $tree/nvidia.symvers"
  versions() { cut -f 1,2,4 "$1" | LC_ALL=C sort; }
  diff <(versions "$scratch/symvers") <(versions "$tree/nvidia.symvers") || { echo "the versions of $module.gz are not those of its build"; exit 1; }
  mv "$scratch/symvers" "$root/usr/src/nvidia-$version/Module.symvers"
  rm "$module.gz"
  expect 0 "building the $flavour flavour against $root/usr/src/nvidia-$version"
  # shellcheck disable=SC1091 # DKMS reads its settings the same way
  (export kernelver=$RIG_RELEASE kernel_source_dir=$RIG_HEADERS && source "$tree/dkms.conf" && cd "$tree" &&
    eval "$CLEAN" >"$scratch/output" 2>&1 && eval "${MAKE[0]}" >>"$scratch/output" 2>&1) || {
    echo "the $flavour build failed:"
    grep -E 'error|ERROR|warning' "$scratch/output" | head -20
    exit 1
  }
  for module in gdrkit_p2p_lock gdrdrv gdrkit_peermem; do
    [ -e "$tree/$module/$module.ko" ] || { echo "DKMS would find no $module/$module.ko"; exit 1; }
  done
  [ ! -e "$tree/fake_p2p" ] || { echo "a fake is part of what DKMS builds"; exit 1; }
done
