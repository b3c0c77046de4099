#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# DKMS steps of a package that installs these sources, run from /usr/src/gdrkit-<version>.
#   usage: dkms_install.sh add builds and installs the modules for every installed Linux that has headers and NVIDIA's
#                                    driver; prints the reason for the others. Exit status 1: a build failed.
#          dkms_install.sh remove    removes everything that add created
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "$here/dkms.conf")

add() {
  local headers linux why failed=0 any=0
  for headers in /lib/modules/*/build; do
    [ -e "$headers/Makefile" ] || continue
    linux=${headers%/build}
    linux=${linux##*/}
    any=1
    if ! why=$("$here/dkms_prepare.sh" --check "$linux" 2>&1); then
      echo "gdrkit: no modules built for Linux $linux: ${why#error: }"
      continue
    fi
    dkms status -m gdrkit -v "$version" -k "$linux" | grep -w installed >/dev/null && continue
    dkms status -m gdrkit -v "$version" | grep . >/dev/null || dkms add -m gdrkit -v "$version" || return 1
    dkms install -m gdrkit -v "$version" -k "$linux" || failed=1
  done
  [ "$any" = 1 ] || echo "gdrkit: no modules built: no installed Linux has headers (/lib/modules/*/build)"
  return "$failed"
}

remove() {
  dkms status -m gdrkit -v "$version" | grep . >/dev/null || return 0
  dkms remove -m gdrkit -v "$version" --all
}

case "${1:-}" in
  add | remove) "$1" ;;
  *)
    echo "usage: dkms_install.sh add|remove" >&2
    exit 2
    ;;
esac
