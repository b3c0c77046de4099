#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Prepares a build against the installed NVIDIA driver: finds its source, flavour and symbol versions and writes
# installed.mk, which the Makefile reads. Fails and names the missing part, which may also be the compiler that built
# Linux. DKMS does not keep NVIDIA's Module.symvers; then the versions are read from the built module and written to
# nvidia.symvers.
#   usage: dkms_prepare.sh [--check] <Linux version> [directory of Linux headers]
#          --check: only report whether the modules can be built; write nothing
#   GDRKIT_NVIDIA_SOURCE, GDRKIT_NVIDIA_SYMVERS: directory and file that replace the search
#   GDRKIT_ROOT: prefix of /usr/src and all other system paths, for tests
set -euo pipefail

only_check=0
[ "${1:-}" != --check ] || { only_check=1 && shift; }
linux=${1:?usage: dkms_prepare.sh [--check] <Linux version> [directory of Linux headers]}
top=${GDRKIT_ROOT:-}
headers=${2:-$top/lib/modules/$linux/build}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

stop() {
  echo "error: $*" >&2
  exit 1
}

# The header's location differs between packages. In the open modules' own repository it is one directory deeper.
header_in() { # source directory
  local name
  for name in nvidia/nv-p2p.h kernel-open/nvidia/nv-p2p.h kernel/nvidia/nv-p2p.h; do
    [ -r "$1/$name" ] && echo "$1/$name" && return 0
  done
  return 1
}

installed_version() { # of the loaded module, or of the one installed for this Linux; empty if there is none
  cat "$top/sys/module/nvidia/version" 2>/dev/null && return 0
  [ -n "$top" ] || modinfo -k "$linux" -F version nvidia 2>/dev/null || true
}

find_source() {
  local directory version found=()
  if [ -n "${GDRKIT_NVIDIA_SOURCE:-}" ]; then
    header_in "$GDRKIT_NVIDIA_SOURCE" >/dev/null || stop "no nvidia/nv-p2p.h in GDRKIT_NVIDIA_SOURCE=$GDRKIT_NVIDIA_SOURCE"
    echo "$GDRKIT_NVIDIA_SOURCE"
    return
  fi
  for directory in "$top"/usr/src/nvidia-* "$top"/usr/src/kernel-modules/nvidia-*; do
    header_in "$directory" >/dev/null && found+=("$directory")
  done
  [ "${#found[@]}" -gt 0 ] ||
    stop "cannot find the source of NVIDIA's driver under /usr/src: install its DKMS package (nvidia-dkms, nvidia-open-dkms), or set GDRKIT_NVIDIA_SOURCE to the directory"
  version=$(installed_version)
  if [ -n "$version" ]; then
    for directory in "${found[@]}"; do
      case "$directory" in *-"$version" | *-"$version"-*) echo "$directory" && return ;; esac
    done
    stop "the installed NVIDIA driver is $version, but /usr/src only contains ${found[*]##*/}: install the matching source, or set GDRKIT_NVIDIA_SOURCE to the directory"
  fi
  [ "${#found[@]}" -eq 1 ] || stop "cannot choose between several NVIDIA drivers under /usr/src, none of which is loaded: ${found[*]##*/}; set GDRKIT_NVIDIA_SOURCE to one"
  echo "${found[0]}"
}

flavour_of() { # source directory
  if grep -rhs --include='*.c' 'MODULE_LICENSE' "$(dirname "$(header_in "$1")")" | grep 'GPL' >/dev/null; then
    echo open
  else
    echo proprietary
  fi
}

built_module() { # path of this Linux's nvidia.ko; packages install it in different directories
  find "$top/lib/modules/$linux/" \( -name 'nvidia.ko' -o -name 'nvidia.ko.[gxz]*' -o -name 'nvidia-current.ko' \) 2>/dev/null | sort | head -n 1
}

# Prints Module.symvers lines for the nvidia_p2p_* functions of a built module. The value of the symbol __crc_<name> is
# the version; since Linux 5.19, and earlier on some processors, it is an offset into a section that holds the version.
symvers_of() { # module, scratch directory
  local module=$2/module.ko name value section crc kind
  case "$1" in
    *.xz) xz -dc "$1" ;;
    *.zst) zstd -dcq "$1" ;;
    *.gz) gzip -dc "$1" ;;
    *) cat "$1" ;;
  esac >"$module" || return 1
  readelf -sW "$module" | awk '$8 ~ /^__crc_nvidia_p2p_/ { print substr($8, 7), $2, $7 }' | while read -r name value section; do
    if [ "$section" = ABS ]; then
      crc=${value: -8}
    else
      section=$(section_name "$module" "$section")
      [ -e "$2/$section" ] || objcopy -O binary --set-section-flags "$section=alloc" --only-section="$section" "$module" "$2/$section"
      crc=$(od -An -tx4 -j "$((16#$value))" -N 4 "$2/$section" | tr -d ' ')
    fi
    kind=$(readelf -sW "$module" | awk -v name="__ksymtab_$name" '$8 == name { print $7 }')
    kind=$(section_name "$module" "$kind")
    printf '0x%s\t%s\tnvidia\t%s\t\n' "$crc" "$name" "$(case "$kind" in *gpl*) echo EXPORT_SYMBOL_GPL ;; *) echo EXPORT_SYMBOL ;; esac)"
  done
}

section_name() { # module, number
  readelf -SW "$1" | sed -n "s/^ *\[ *$2\] \([^ ]*\) .*/\1/p"
}

# Writes nvidia.symvers; with --check only tests whether that is possible.
symvers_from_built_module() {
  local module scratch result=1
  module=$(built_module)
  [ -n "$module" ] || return 1
  scratch=$(mktemp -d)
  symvers_of "$module" "$scratch" >"$scratch/symvers" 2>/dev/null
  if grep -w nvidia_p2p_get_pages "$scratch/symvers" >/dev/null; then
    [ "$only_check" = 1 ] || cp "$scratch/symvers" "$here/nvidia.symvers"
    echo "$here/nvidia.symvers"
    result=0
  fi
  rm -rf "$scratch"
  return "$result"
}

find_symvers() { # source directory
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
  symvers_from_built_module && return
  stop "cannot read the symbol versions of NVIDIA's driver: it is not built for Linux $linux (no Module.symvers and no nvidia.ko found); install its modules, or run 'make -C $1 SYSSRC=<headers of Linux $linux> modules' and set GDRKIT_NVIDIA_SYMVERS to the Module.symvers that it writes"
}

# Module.symvers of the RDMA stack, if gdrkit_peermem is built against one. The module's Kbuild finds the header.
ofed_symvers() {
  local directory
  for directory in "$top/usr/src/ofa_kernel/$(uname -m)/$linux" "$top/usr/src/ofa_kernel/$linux" "$top/usr/src/ofa_kernel/default"; do
    if [ -r "$directory/Module.symvers" ]; then
      echo "$directory/Module.symvers"
      return
    fi
  done
}

source_directory=$(find_source)
symvers=$(find_symvers "$source_directory")
flavour=$(flavour_of "$source_directory")
ofed=$(ofed_symvers)
compiler=$("$here/compat/compiler.sh" "$headers") || exit 1
[ "$only_check" = 0 ] || exit 0
printf '# Written by dkms_prepare.sh for Linux %s and %s.\nFLAVOUR := %s\nSYMVERS := %s\n' \
  "$linux" "$source_directory" "$flavour" "$symvers${ofed:+ $ofed}" >"$here/installed.mk"
echo "building the $flavour flavour against $source_directory, symbol versions from $symvers${ofed:+ and $ofed}${compiler:+, with $compiler}"
