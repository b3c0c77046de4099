#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Compiles every variant of each feature in features.txt against a Linux build tree and writes the header of macros.
# Fails with the compiler's message unless exactly one variant compiles, so an unrelated error never reads as "absent".
#   usage: probe.sh <directory of Linux headers> <scratch directory> <header to write>
set -euo pipefail

headers=$1 scratch=$2 header=$3
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

stop() {
  echo "error: $*" >&2
  exit 1
}

compile_all() { # compiles every probe, also after one fails
  local name names objects=() compiler
  compiler=$("$here/compiler.sh" "$headers") || exit 1
  eval "compiler=($compiler)"
  mkdir -p "$scratch"
  scratch=$(cd "$scratch" && pwd)
  names=$(sed -n 's/^[^#:]*: //p' "$here/features.txt")
  for name in CANARY CANARY_REFUSED $names; do
    printf '#define %s\n#include "%s/probes.c"\n' "$name" "$here" >"$scratch/$name.c"
    objects+=("$name.o")
    rm -f "$scratch/$name.o"
  done
  printf 'obj-m := %s\nccflags-y := -Werror -Wno-missing-prototypes\n' "${objects[*]}" >"$scratch/Kbuild"
  # Each probe is a module of one object. modpost never runs, because CANARY_REFUSED fails every build.
  make -k -C "$headers" M="$scratch" "${compiler[@]}" modules >"$scratch/log" 2>&1 && stop "CANARY_REFUSED compiled but must not; see $scratch/log"
  return 0
}

compiled() { [ -s "$scratch/$1.o" ]; }

show_and_stop() {
  grep -E 'error|Error|No such|not found|fatal' "$scratch/log" | head -20 >&2 || true
  stop "$1; see $scratch/log"
}

select_variants() {
  local feature variants variant found
  while IFS=: read -r feature variants; do
    case "$feature" in '#'* | '') continue ;; esac
    found=()
    for variant in $variants; do
      compiled "$variant" && found+=("$variant")
    done
    [ "${#found[@]}" -eq 1 ] ||
      show_and_stop "compat: ${#found[@]} variants of '$feature' compile (${found[*]:-none}); expected exactly one of:$variants"
    for variant in $variants; do
      if [ "$variant" = "${found[0]}" ]; then echo "#define $variant 1"; else echo "#define $variant 0"; fi
    done
  done <"$here/features.txt"
}

[ -e "$headers/Makefile" ] || stop "cannot probe $headers: no Makefile found; give a directory of Linux headers (linux-headers-...)"
compile_all
compiled CANARY || show_and_stop "compat: even the simplest module does not compile against $headers"
compiled CANARY_REFUSED && stop "compat: a source that must not compile did compile; see $scratch/log"
macros=$(select_variants)
{
  echo "/* Written by compat/probe.sh for $headers. Do not edit. */"
  echo "$macros"
} >"$header.new"
cmp -s "$header.new" "$header" || cp "$header.new" "$header"
rm -f "$header.new"
