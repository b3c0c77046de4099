#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Installs gdrkit from this archive, without a package manager.
#   usage: ./install.sh [--prefix DIR] [--modules]
#   --prefix DIR   target (default: /usr/local); the installed tree is relocatable as a whole
#   --modules         also install the kernel modules, by DKMS; requires root, dkms, and NVIDIA's driver
# DIR/share/gdrkit/uninstall.sh removes everything.
set -eu

usage() {
  echo "error: $1" >&2
  sed -n 's/^#   usage: /usage: /p' "$0" >&2
  exit 2
}

here=$(cd -- "$(dirname -- "$0")" && pwd)
prefix=/usr/local
modules=0
while [ $# -gt 0 ]; do
  case "$1" in
    --prefix)
      [ -n "${2:-}" ] || usage "--prefix requires a directory"
      prefix=$2
      shift
      ;;
    --modules) modules=1 ;;
    *) usage "unknown argument '$1'" ;;
  esac
  shift
done
if [ "$modules" = 1 ] && [ "$(id -u)" -ne 0 ]; then usage "--modules requires root"; fi
sources=src/$(basename "$here"/modules/src/gdrkit-*)
if [ "$modules" = 1 ] && [ -e "/usr/$sources" ] && ! grep -q "^$sources/" "$prefix/share/gdrkit/installed_modules" 2>/dev/null; then
  echo "error: cannot install the kernel modules: /usr/$sources comes from a package or another prefix; remove that installation or omit --modules" >&2
  exit 1
fi
mkdir -p "$prefix"
prefix=$(cd -- "$prefix" && pwd)
list=$prefix/share/gdrkit/installed
if [ -e "$list" ]; then
  echo "removing the previous installation in $prefix"
  sh "$prefix/share/gdrkit/uninstall.sh"
fi

# Copies one tree into another. The list then contains the new files, and with a trailing slash the new directories.
put() { # tree, target, list
  new=$(mktemp)
  (cd "$1" && find . ! -type d) | sed 's,^\./,,' >"$new"
  (cd "$1" && find . -mindepth 1 -type d) | sed 's,^\./,,' | while IFS= read -r directory; do
    [ -d "$2/$directory" ] || echo "$directory/" >>"$new"
  done
  (cd "$1" && tar -cf - .) | (cd "$2" && tar -xf - --no-same-owner --no-overwrite-dir)
  LC_ALL=C sort "$new" >"$3"
  rm -f "$new"
}

put "$here/files" "$prefix" "$list"
echo "installed gdrkit in $prefix; run $prefix/share/gdrkit/uninstall.sh to remove it"
case "$prefix" in
  /usr | /usr/local) [ "$(id -u)" -ne 0 ] || ldconfig ;;
  *) echo "add $prefix/bin to PATH; for NCCL, UCX and MPI add $prefix/lib to LD_LIBRARY_PATH" ;;
esac
if [ "$modules" = 1 ]; then
  put "$here/modules" /usr "${list}_modules"
  # Only this version: modules of other versions may be installed, too.
  exec "/usr/$sources/dkms_install.sh" add
fi
