#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Installs gdrkit from this archive, without a package manager.
#   usage: ./install.sh [--prefix FOLDER] [--modules]
#   --prefix FOLDER   where to (else /usr/local). Everything can be moved later, as a whole.
#   --modules         the kernel modules as well, by DKMS: needs root, dkms, and NVIDIA's driver
# FOLDER/share/gdrkit/uninstall.sh takes all of it away again.
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
      [ -n "${2:-}" ] || usage "--prefix takes a folder"
      prefix=$2
      shift
      ;;
    --modules) modules=1 ;;
    *) usage "unknown argument '$1'" ;;
  esac
  shift
done
if [ "$modules" = 1 ] && [ "$(id -u)" -ne 0 ]; then usage "--modules needs root"; fi
sources=src/$(basename "$here"/modules/src/gdrkit-*)
if [ "$modules" = 1 ] && [ -e "/usr/$sources" ] && ! grep -q "^$sources/" "$prefix/share/gdrkit/installed_modules" 2>/dev/null; then
  echo "error: /usr/$sources came from a package or from another prefix; remove that installation first, or install without --modules" >&2
  exit 1
fi
mkdir -p "$prefix"
prefix=$(cd -- "$prefix" && pwd)
list=$prefix/share/gdrkit/installed
if [ -e "$list" ]; then
  echo "removing the gdrkit that is in $prefix"
  sh "$prefix/share/gdrkit/uninstall.sh"
fi

# Puts one tree into another. The list then has what came: files, and with a slash at the end folders that were not there.
put() { # tree, target, list
  new=$(mktemp)
  (cd "$1" && find . ! -type d) | sed 's,^\./,,' >"$new"
  (cd "$1" && find . -mindepth 1 -type d) | sed 's,^\./,,' | while IFS= read -r folder; do
    [ -d "$2/$folder" ] || echo "$folder/" >>"$new"
  done
  (cd "$1" && tar -cf - .) | (cd "$2" && tar -xf - --no-same-owner --no-overwrite-dir)
  LC_ALL=C sort "$new" >"$3"
  rm -f "$new"
}

put "$here/files" "$prefix" "$list"
echo "gdrkit is in $prefix; $prefix/share/gdrkit/uninstall.sh removes it"
case "$prefix" in
  /usr | /usr/local) [ "$(id -u)" -ne 0 ] || ldconfig ;;
  *) echo "add $prefix/bin to PATH; for NCCL, UCX and MPI add $prefix/lib to LD_LIBRARY_PATH" ;;
esac
if [ "$modules" = 1 ]; then
  put "$here/modules" /usr "${list}_modules"
  # Only this version: modules of other versions may be installed, too.
  exec "/usr/$sources/dkms_install.sh" add
fi
