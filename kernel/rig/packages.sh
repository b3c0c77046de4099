# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Linux images, their headers and busybox as Debian packages: downloaded and unpacked under build/kernel, not installed.

run_as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

know_packages() { # fills apt's lists if they are empty, as in a fresh container
  apt-cache show busybox-static >/dev/null 2>&1 && return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  run_as_root apt-get update -qq >/dev/null 2>&1
  apt-cache show busybox-static >/dev/null 2>&1
}

dependencies_of() { apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" 2>/dev/null | sed -n 's/^ *|\{0,1\}Depends: \([^<]*\)$/\1/p'; }

# From Debian 13 on, names of libraries with a 64-bit type of time end in t64, even if the library is the same.
name_here() { # package
  if [ -z "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ] && apt-cache show "$1t64" >/dev/null 2>&1; then echo "$1t64"; else echo "$1"; fi
}

# Unpacks the named packages into a folder, once for each version of them.
unpack() { # folder packages...
  local folder=$1 package mark names=()
  shift
  for package in "$@"; do names+=("$(name_here "$package")"); done
  set -- "${names[@]}"
  mark=$(apt-cache show --no-all-versions "$@" | sed -n 's/^SHA256: //p' | sort)
  [ -n "$mark" ] || return 1
  [ "$(cat "$folder/.unpacked" 2>/dev/null)" != "$mark" ] || return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  rm -rf "$folder"
  mkdir -p "$folder/.packages"
  (cd "$folder/.packages" && apt-get download -qq "$@" >"$folder/.output" 2>&1) || {
    cat "$folder/.output" >&2
    return 1
  }
  for package in "$folder"/.packages/*.deb; do dpkg-deb -x "$package" "$folder" || return 1; done
  rm -rf "$folder/.packages"
  # Headers refer to their other half by the path of its installation.
  find "$folder/usr/src" -maxdepth 2 -name Makefile -type f -exec sed -i "s#^include /usr/src#include $folder/usr/src#" {} + 2>/dev/null
  printf '%s\n' "$mark" >"$folder/.unpacked"
}

release_behind() { # name of Debian's meta package for a Linux, behind "linux-image-", such as amd64 or rt-amd64
  dependencies_of "linux-image-$1" | sed -n 's/^linux-image-\([0-9].*\)$/\1/p' | head -n 1
}

# Sets `linux_release`, `linux_headers` and, unless only headers are wanted, `linux_image`.
fetch_linux() { # name behind "linux-image-", what: image or headers
  local folder packages
  linux_release=$(release_behind "$1")
  [ -n "$linux_release" ] || {
    why_not="the package lists contain no linux-image-$1"
    return 1
  }
  folder=$downloads/linux-$linux_release
  mapfile -t packages < <(dependencies_of "linux-headers-$linux_release" | grep -E '^linux-(headers|kbuild)-')
  packages+=("linux-headers-$linux_release")
  [ "$2" = headers ] || packages+=("linux-image-$linux_release")
  unpack "$folder" "${packages[@]}" || {
    why_not="the packages of Linux $linux_release could not be fetched: ${packages[*]}"
    return 1
  }
  linux_headers=$folder/usr/src/linux-headers-$linux_release
  linux_image=$folder/boot/vmlinuz-$linux_release
}

fetch_busybox() { # sets `busybox`
  unpack "$downloads/busybox" busybox-static || {
    why_not="the package busybox-static could not be fetched"
    return 1
  }
  busybox=$(find "$downloads/busybox" -path '*/bin/busybox' -type f) # in /usr from Debian 13 on
}

# Debian 13 compresses the modules of its Linux.
copy_module() { # folder with a Linux, name, folder; 1 if there is no such module
  local file
  file=$(find "$1" -name "$2.ko*" -o -name "${2//_/-}.ko*" | head -n 1)
  case "$file" in
    *.ko) cp "$file" "$3/$2.ko" ;;
    *.ko.xz) xz -dc "$file" >"$3/$2.ko" ;;
    *) return 1 ;;
  esac
}
