#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Compiles every variant of each feature in features.txt against a Linux build tree and writes the header of macros.
# Fails with the compiler's message unless exactly one variant compiles, so an unrelated error never reads as "absent".
#   usage: probe.sh <headers folder> <scratch folder> <header to write>
set -euo pipefail

headers=$1 scratch=$2 header=$3
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

stop() {
  echo "error: $*" >&2
  exit 1
}

compile_all() { # compiles every probe, also after one fails
  local source objects=() compiler
  compiler=$("$here/compiler.sh" "$headers") || exit 1
  eval "compiler=($compiler)"
  mkdir -p "$scratch"
  scratch=$(cd "$scratch" && pwd)
  cp "$here"/probes/*.c "$scratch/"
  for source in "$here"/probes/*.c; do
    source=${source##*/}
    objects+=("${source%.c}.o")
    rm -f "$scratch/${source%.c}.o"
  done
  printf 'obj-m := %s\nccflags-y := -Werror -Wno-missing-prototypes\n' "${objects[*]}" >"$scratch/Kbuild"
  # Each probe is a module of one object. modpost never runs, because canary_refused.c fails every build.
  make -k -C "$headers" M="$scratch" "${compiler[@]}" modules >"$scratch/log" 2>&1 && stop "canary_refused.c compiled but must not; see $scratch/log"
  return 0
}

compiled() { [ -s "$scratch/$1.o" ]; }

show_and_stop() {
  grep -E 'error|Error|No such|not found|fatal' "$scratch/log" | head -20 >&2 || true
  stop "$1; see $scratch/log"
}

select_variants() {
  local feature variants pair found
  while IFS=: read -r feature variants; do
    case "$feature" in '#'* | '') continue ;; esac
    found=""
    for pair in $variants; do
      compiled "$feature.${pair%%=*}" && found="$found ${pair%%=*}"
    done
    read -ra found_list <<<"$found"
    [ "${#found_list[@]}" -eq 1 ] ||
      show_and_stop "compat: ${#found_list[@]} variants of '$feature' compile (${found:-none}); expected exactly one of: $variants"
    for pair in $variants; do
      if [ "${pair%%=*}" = "${found_list[0]}" ]; then echo "#define ${pair#*=} 1"; else echo "#define ${pair#*=} 0"; fi
    done
  done <"$here/features.txt"
}

[ -e "$headers/Makefile" ] || stop "cannot probe $headers: no Makefile found; give the headers folder of a Linux build (linux-headers-...)"
compile_all
compiled canary || show_and_stop "compat: even the simplest module does not compile against $headers"
compiled canary_refused && stop "compat: a source that must not compile did compile; see $scratch/log"
macros=$(select_variants)
{
  echo "/* Written by compat/probe.sh for $headers. Do not edit. */"
  echo "$macros"
} >"$header.new"
cmp -s "$header.new" "$header" || cp "$header.new" "$header"
rm -f "$header.new"
