#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Before a build against the installed NVIDIA driver: finds its source, its flavour and the symbol versions of its build,
# and writes installed.mk, which the Makefile reads. Where one is missing it stops with a sentence.
#   usage: dkms_prepare.sh <Linux version>
#   GDRKIT_NVIDIA_SOURCE, GDRKIT_NVIDIA_SYMVERS: folder and file to take instead of those found
#   GDRKIT_ROOT: the folder to look in for /usr/src and so on, for tests
set -euo pipefail

linux=${1:?usage: dkms_prepare.sh <Linux version>}
top=${GDRKIT_ROOT:-}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

stop() {
  echo "error: $*" >&2
  exit 1
}

# The header's place differs between packages, and is one folder down in the open modules' own repository.
header_in() { # source folder
  local name
  for name in nvidia/nv-p2p.h kernel-open/nvidia/nv-p2p.h kernel/nvidia/nv-p2p.h; do
    [ -r "$1/$name" ] && echo "$1/$name" && return 0
  done
  return 1
}

installed_version() { # of the module that is loaded, or installed for this Linux; empty if neither is known
  cat "$top/sys/module/nvidia/version" 2>/dev/null && return 0
  [ -n "$top" ] || modinfo -k "$linux" -F version nvidia 2>/dev/null || true
}

find_source() {
  local folder version found=()
  if [ -n "${GDRKIT_NVIDIA_SOURCE:-}" ]; then
    header_in "$GDRKIT_NVIDIA_SOURCE" >/dev/null || stop "GDRKIT_NVIDIA_SOURCE=$GDRKIT_NVIDIA_SOURCE holds no nvidia/nv-p2p.h"
    echo "$GDRKIT_NVIDIA_SOURCE"
    return
  fi
  for folder in "$top"/usr/src/nvidia-* "$top"/usr/src/kernel-modules/nvidia-*; do
    header_in "$folder" >/dev/null && found+=("$folder")
  done
  [ "${#found[@]}" -gt 0 ] ||
    stop "no source of NVIDIA's driver under /usr/src: install its DKMS package (nvidia-dkms, nvidia-open-dkms), or name the folder in GDRKIT_NVIDIA_SOURCE"
  version=$(installed_version)
  if [ -n "$version" ]; then
    for folder in "${found[@]}"; do
      case "$folder" in *-"$version" | *-"$version"-*) echo "$folder" && return ;; esac
    done
    stop "the NVIDIA driver here is $version, but /usr/src has only: ${found[*]##*/}; install the matching source, or name the folder in GDRKIT_NVIDIA_SOURCE"
  fi
  [ "${#found[@]}" -eq 1 ] || stop "several NVIDIA drivers are under /usr/src and none is loaded: ${found[*]##*/}; name one in GDRKIT_NVIDIA_SOURCE"
  echo "${found[0]}"
}

flavour_of() { # source folder
  if grep -rhs --include='*.c' 'MODULE_LICENSE' "$(dirname "$(header_in "$1")")" | grep 'GPL' >/dev/null; then
    echo open
  else
    echo proprietary
  fi
}

find_symvers() { # source folder
  local file version=${1##*/}
  version=${version#nvidia-}
  for file in ${GDRKIT_NVIDIA_SYMVERS:+"$GDRKIT_NVIDIA_SYMVERS"} "$1/Module.symvers" "$1/kernel-open/Module.symvers" \
    "$top"/var/lib/dkms/nvidia*/"$version"/build/Module.symvers \
    "$top"/var/lib/dkms/nvidia*/"$version"/"$linux"/*/Module.symvers \
    "$top"/usr/src/nvidia-"$version"/"$linux"/Module.symvers; do
    if [ -r "$file" ] && grep -w 'nvidia_p2p_get_pages' "$file" >/dev/null; then
      echo "$file"
      return
    fi
  done
  stop "NVIDIA's driver has been built for Linux $linux, if at all, without leaving its Module.symvers, so its symbol versions are not known: run 'make -C $1 SYSSRC=<headers of Linux $linux> modules' and give the Module.symvers that it writes in GDRKIT_NVIDIA_SYMVERS"
}

# An RDMA stack's, where gdrkit_peermem is built against one; the module's own Kbuild finds the header.
ofed_symvers() {
  local folder
  for folder in "$top/usr/src/ofa_kernel/$(uname -m)/$linux" "$top/usr/src/ofa_kernel/$linux" "$top/usr/src/ofa_kernel/default"; do
    if [ -r "$folder/Module.symvers" ]; then
      echo "$folder/Module.symvers"
      return
    fi
  done
}

source_folder=$(find_source)
symvers=$(find_symvers "$source_folder")
flavour=$(flavour_of "$source_folder")
ofed=$(ofed_symvers)
printf '# Written by dkms_prepare.sh for Linux %s and %s.\nFLAVOUR := %s\nSYMVERS := %s\n' \
  "$linux" "$source_folder" "$flavour" "$symvers${ofed:+ $ofed}" >"$here/installed.mk"
echo "building the $flavour flavour against $source_folder, symbol versions from $symvers${ofed:+ and $ofed}"
