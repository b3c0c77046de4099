# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# A debug build of Linux from Debian's source: KASAN, lockdep, kmemleak, fault injection. Minimal, because it only has
# to run this virtual machine. It builds in about ten minutes on two processors, once per version of the source.

lacks_tool() { # sets why_not for the first one that is missing
  local tool
  for tool in flex bison bc xz make gcc; do
    command -v "$tool" >/dev/null || {
      why_not="cannot build the debug Linux: $tool is not installed"
      return 0
    }
  done
  return 1
}

# Kbuild silently drops options that it does not recognize or that conflict with others.
check_options() { # directory of the build
  local line missing=""
  while read -r line; do
    case "$line" in
      '' | '#'*) ;;
      *=n) ! grep -q "^${line%=n}=" "$1/.config" || missing+=" $line" ;;
      *) grep -qxF "$line" "$1/.config" || missing+=" $line" ;;
    esac
  done <"$kernel/rig/checked.config"
  [ -z "$missing" ] || {
    why_not="cannot configure the debug Linux:$missing"
    return 1
  }
}

configure_checked_linux() { # directory of the source
  make -s -C "$1" allnoconfig &&
    (cd "$1" && scripts/kconfig/merge_config.sh -m .config "$kernel/rig/checked.config") && make -s -C "$1" olddefconfig
}

# Sets linux_release, linux_headers and linux_image, as fetch_linux does.
build_checked_linux() {
  local package directory=$build/checked mark
  lacks_tool && return 1
  package=$(dependencies_of linux-source | grep -m 1 '^linux-source-')
  unpack "$downloads/linux-source" "${package:-linux-source}" || {
    why_not="cannot download the source of Linux: ${package:-linux-source}"
    return 1
  }
  mark=$(cat "$downloads/linux-source/.unpacked" "$kernel/rig/checked.config" | sha256sum)
  if [ "$(cat "$directory/.built" 2>/dev/null)" != "$mark" ]; then
    echo "building $package with KASAN, lockdep, kmemleak and fault injection; log in $directory.log"
    rm -rf "$directory"
    mkdir -p "$directory"
    if ! tar -C "$directory" --strip-components=1 -xf "$downloads/linux-source/usr/src/$package.tar.xz" ||
      ! configure_checked_linux "$directory" >"$directory.log" 2>&1; then
      why_not="cannot configure the debug Linux; see $directory.log"
      return 1
    fi
    check_options "$directory" || return 1
    make -C "$directory" -j"$(nproc)" bzImage modules >>"$directory.log" 2>&1 || {
      why_not="cannot build the debug Linux; see $directory.log"
      return 1
    }
    printf '%s\n' "$mark" >"$directory/.built"
  fi
  linux_headers=$directory
  linux_release=$(cat "$directory/include/config/kernel.release")
  linux_image=$directory/arch/x86/boot/bzImage
}
