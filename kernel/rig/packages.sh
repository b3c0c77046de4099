# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Linux images, their headers and busybox as Debian packages, downloaded and unpacked under build/kernel, not installed.

run_as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

ensure_package_lists() { # downloads apt's lists if they are empty, as in a fresh container
  apt-cache show busybox-static >/dev/null 2>&1 && return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  run_as_root apt-get update -qq >/dev/null 2>&1
  apt-cache show busybox-static >/dev/null 2>&1
}

dependencies_of() { apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$1" 2>/dev/null | sed -n 's/^ *|\{0,1\}Depends: \([^<]*\)$/\1/p'; }

# Since Debian 13, names of libraries whose ABI depends on a 64-bit time_t end in t64, even if the library is the same.
name_here() { # package
  if [ -z "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ] && apt-cache show "$1t64" >/dev/null 2>&1; then echo "$1t64"; else echo "$1"; fi
}

# Unpacks the packages into a directory, once per version.
unpack() { # directory packages...
  local directory=$1 package mark names=()
  shift
  for package in "$@"; do names+=("$(name_here "$package")"); done
  set -- "${names[@]}"
  mark=$(apt-cache show --no-all-versions "$@" | sed -n 's/^SHA256: //p' | sort)
  [ -n "$mark" ] || return 1
  [ "$(cat "$directory/.unpacked" 2>/dev/null)" != "$mark" ] || return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  rm -rf "$directory"
  mkdir -p "$directory/.packages"
  (cd "$directory/.packages" && apt-get download -qq "$@" >"$directory/.log" 2>&1) || {
    cat "$directory/.log" >&2
    return 1
  }
  for package in "$directory"/.packages/*.deb; do dpkg-deb -x "$package" "$directory" || return 1; done
  rm -rf "$directory/.packages"
  # The headers' Makefiles include the common headers by their installed path.
  find "$directory/usr/src" -maxdepth 2 -name Makefile -type f -exec sed -i "s#^include /usr/src#include $directory/usr/src#" {} + 2>/dev/null
  printf '%s\n' "$mark" >"$directory/.unpacked"
}

release_of_package() { # name of Debian's Linux metapackage after "linux-image-", such as amd64 or rt-amd64
  dependencies_of "linux-image-$1" | sed -n 's/^linux-image-\([0-9].*\)$/\1/p' | head -n 1
}

# Sets `linux_release`, `linux_headers` and, for `image`, `linux_image`.
fetch_linux() { # name after "linux-image-"; image or headers
  local directory packages
  linux_release=$(release_of_package "$1")
  [ -n "$linux_release" ] || {
    why_not="cannot find the Debian package linux-image-$1"
    return 1
  }
  directory=$downloads/linux-$linux_release
  mapfile -t packages < <(dependencies_of "linux-headers-$linux_release" | grep -E '^linux-(headers|kbuild)-')
  packages+=("linux-headers-$linux_release")
  [ "$2" = headers ] || packages+=("linux-image-$linux_release")
  unpack "$directory" "${packages[@]}" || {
    why_not="cannot download the packages of Linux $linux_release: ${packages[*]}"
    return 1
  }
  linux_headers=$directory/usr/src/linux-headers-$linux_release
  linux_image=$directory/boot/vmlinuz-$linux_release
}

fetch_busybox() { # sets `busybox`
  unpack "$downloads/busybox" busybox-static || {
    why_not="cannot download the package busybox-static"
    return 1
  }
  busybox=$(find "$downloads/busybox" -path '*/bin/busybox' -type f) # in /usr since Debian 13
}

# Debian 13 compresses its Linux modules.
copy_module() { # directory of a Linux, name, target directory; returns 1 if the module does not exist
  local file
  file=$(find "$1" -name "$2.ko*" -o -name "${2//_/-}.ko*" | head -n 1)
  case "$file" in
    *.ko) cp "$file" "$3/$2.ko" ;;
    *.ko.xz) xz -dc "$file" >"$3/$2.ko" ;;
    *) return 1 ;;
  esac
}
