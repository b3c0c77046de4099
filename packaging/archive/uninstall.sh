#!/bin/sh
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Removes what install.sh put into the prefix of this file, and then the empty directories.
#   usage: uninstall.sh
set -eu
prefix=$(cd -- "$(dirname -- "$0")/../.." && pwd)
own=$prefix/share/gdrkit

# Removes files, then the installed directories, deepest first. A directory with other content stays.
remove_listed() { # list, directory
  grep -v '/$' "$1" | while IFS= read -r name; do rm -f "$2/$name"; done
  grep '/$' "$1" | LC_ALL=C sort -r | while IFS= read -r name; do rmdir "$2/$name" 2>/dev/null || true; done
}

[ -r "$own/installed" ] || {
  echo "error: cannot remove gdrkit: the list of installed files, $own/installed, is missing" >&2
  exit 1
}
if [ -e "$own/installed_modules" ]; then
  # Only the version of this archive: other versions belong to a package or another archive.
  sed -n 's#^\(src/gdrkit-[^/]*/dkms_install.sh\)$#/usr/\1#p' "$own/installed_modules" | while IFS= read -r script; do
    [ ! -x "$script" ] || "$script" remove
  done
  remove_listed "$own/installed_modules" /usr
  rm "$own/installed_modules"
fi
list=$(mktemp)
mv "$own/installed" "$list"
remove_listed "$list" "$prefix"
rm -f "$list"
[ "$(id -u)" -ne 0 ] || ldconfig
echo "removed gdrkit from $prefix"
