#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Finds out which of the known variants of each feature in questions.txt compiles against a Linux build tree, and writes
# the header of macros. Unless exactly one variant compiles, it stops and shows the compiler's output: a probe that fails
# for another reason never means "no".
#   usage: probe.sh <headers folder> <scratch folder> <header to write>
set -euo pipefail

headers=$1 scratch=$2 header=$3
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

stop() {
  echo "error: $*" >&2
  exit 1
}

compile_all() { # compiles every probe, and continues after failures
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
  # As modules of one object each; modpost is never reached, because the refused probe ends every build.
  make -k -C "$headers" M="$scratch" "${compiler[@]}" modules >"$scratch/log" 2>&1 && stop "the probe that must fail compiled; see $scratch/log"
  return 0
}

compiled() { [ -s "$scratch/$1.o" ]; }

show_and_stop() {
  grep -E 'error|Error|No such|not found|fatal' "$scratch/log" | head -20 >&2 || true
  stop "$1; see $scratch/log"
}

answer_all() {
  local question answers pair found
  while IFS=: read -r question answers; do
    case "$question" in '#'* | '') continue ;; esac
    found=""
    for pair in $answers; do
      compiled "$question.${pair%%=*}" && found="$found ${pair%%=*}"
    done
    read -ra found_list <<<"$found"
    [ "${#found_list[@]}" -eq 1 ] ||
      show_and_stop "compat: '$question' has ${#found_list[@]} answers that compile (${found:-none}), expected exactly one of: $answers"
    for pair in $answers; do
      if [ "${pair%%=*}" = "${found_list[0]}" ]; then echo "#define ${pair#*=} 1"; else echo "#define ${pair#*=} 0"; fi
    done
  done <"$here/questions.txt"
}

[ -e "$headers/Makefile" ] || stop "$headers contains no Makefile: give the headers folder of a Linux build (linux-headers-...)"
compile_all
compiled canary || show_and_stop "compat: even a minimal module does not compile against $headers"
compiled canary_refused && stop "compat: a source that must not compile did; see $scratch/log"
answers=$(answer_all)
{
  echo "/* Written by compat/probe.sh for $headers; not to be edited. */"
  echo "$answers"
} >"$header.new"
cmp -s "$header.new" "$header" || cp "$header.new" "$header"
rm -f "$header.new"
