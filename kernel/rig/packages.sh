# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Linux images, their headers and busybox as Debian packages: downloaded and unpacked under build/kernel, not installed.

run_as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

know_packages() { # fills apt's lists where they are empty, as in a fresh container
  apt-cache show busybox-static >/dev/null 2>&1 && return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  run_as_root apt-get update -qq >/dev/null 2>&1
  apt-cache show busybox-static >/dev/null 2>&1
}

dependencies_of() { apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" 2>/dev/null | sed -n 's/^ *|\{0,1\}Depends: \([^<]*\)$/\1/p'; }

# Unpacks the named packages into a folder, once for each version of them.
unpack() { # folder packages...
  local folder=$1 package mark
  shift
  mark=$(apt-cache show --no-all-versions "$@" | sed -n 's/^SHA256: //p' | sort)
  [ -n "$mark" ] || return 1
  [ "$(cat "$folder/.unpacked" 2>/dev/null)" != "$mark" ] || return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  rm -rf "$folder"
  mkdir -p "$folder/.packages"
  (cd "$folder/.packages" && apt-get download -qq "$@" >"$folder/.said" 2>&1) || {
    cat "$folder/.said" >&2
    return 1
  }
  for package in "$folder"/.packages/*.deb; do dpkg-deb -x "$package" "$folder" || return 1; done
  rm -rf "$folder/.packages"
  # Headers name their other half by the path where it would be installed.
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
    why_not="no Debian package linux-image-$1 is known here"
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
  busybox=$downloads/busybox/bin/busybox
}
