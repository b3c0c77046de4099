#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds all kernel modules against one directory of Linux headers, with warnings as errors, outside the source tree.
#   usage: kernel/build.sh <directory of Linux headers> [--flavour open|proprietary|both] [--out directory]
# Results: <out>/<version>/<flavour>/<module>/<module>.ko. <out> defaults to build/kernel.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
out=$here/../build/kernel
flavours="open proprietary"
headers=""

usage() {
  printf 'error: %s\nusage: kernel/build.sh <directory of Linux headers> [--flavour open|proprietary|both] [--out directory]\n' "$*" >&2
  exit 2
}

stop() {
  echo "error: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case "$1" in
    --flavour)
      case "${2:-}" in
        open | proprietary) flavours=$2 ;;
        both) flavours="open proprietary" ;;
      *) usage "invalid --flavour '${2:-}': use open, proprietary or both" ;;
      esac
      shift
      ;;
    --out)
      [ -n "${2:-}" ] || usage "--out requires a directory"
      out=$2
      shift
      ;;
    -*) usage "unknown option '$1'" ;;
    *)
      [ -z "$headers" ] || usage "unexpected argument '$1': only one directory of Linux headers is accepted"
      headers=$1
      ;;
  esac
  shift
done
[ -n "$headers" ] || usage "missing directory of Linux headers, for example /lib/modules/$(uname -r)/build"
[ -e "$headers/Makefile" ] || stop "cannot build against $headers: no Makefile found; give a directory of Linux headers (linux-headers-...)"
headers=$(cd "$headers" && pwd)

release_of_headers() {
  local file=$headers/include/generated/utsrelease.h
  [ -r "$file" ] || stop "cannot build against $headers: include/generated/utsrelease.h is missing, so it was never configured"
  sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' "$file"
}

# Copies only changed files, so that a rebuild compiles only those. Removes modules that no longer exist.
copy_sources() { # directory
  local directory=$1 name
  mkdir -p "$directory"
  for name in Kbuild Makefile include compat; do cp -pru "$here/$name" "$directory/"; done
  for name in "$here"/*/Kbuild; do
    [ -e "$name" ] || stop "no Kbuild found in the subdirectories of $here"
    cp -pru "${name%/Kbuild}" "$directory/"
  done
  for name in "$directory"/*/Kbuild; do
    name=${name#"$directory"/}
    [ -e "$here/$name" ] || rm -rf "${directory:?}/${name%/Kbuild}"
  done
}

build_flavour() { # flavour
  local directory=$out/$release/$1 log
  copy_sources "$directory"
  directory=$(cd "$directory" && pwd)
  log=$directory/build.log
  make -C "$directory" KDIR="$headers" FLAVOUR="$1" WERROR=1 --no-print-directory -j"$(nproc)" >"$log" 2>&1 || {
    grep -E 'error|ERROR|warning|undefined' "$log" | head -40 >&2 || tail -20 "$log" >&2
    stop "cannot build the $1 flavour for Linux $release; see $log"
  }
# Some tools of the build have no option that turns warnings into errors.
  if grep -iE 'warning' "$log" >&2; then stop "the build of the $1 flavour for Linux $release printed warnings; see $log"; fi
  printf 'built for Linux %s, %s:' "$release" "$1"
  find "$directory" -name '*.ko' -printf ' %f' | tr '\n' ' '
  echo
}

release=$(release_of_headers)
for flavour in $flavours; do build_flavour "$flavour"; done
