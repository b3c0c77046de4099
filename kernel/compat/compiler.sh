#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Finds the compiler that built a Linux: the flags in its configuration require that compiler and its major version.
# Prints variables for `make`, quoted for a shell: CC=gcc-16, CC=clang-19, LLVM=1 or LLVM=-19. Prints nothing if the
# headers do not name a compiler. CC and LLVM in the environment or on make's command line take precedence and are not
# checked.
#   usage: compiler.sh <directory of Linux headers>      CROSS_COMPILE: prefix of GCC's name, as in Linux builds
set -euo pipefail
shopt -s extglob

headers=${1:?usage: compiler.sh <directory of Linux headers>}
config=$headers/include/config/auto.conf
[ -r "$config" ] || config=$headers/.config

stop() {
  echo "error: cannot build kernel modules against $headers: $*" >&2
  exit 1
}

value_of() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" "$config" 2>/dev/null || true; }

# Examples: "gcc-16 (Debian 16.1.0-3) 16.1.0", "Ubuntu clang version 18.1.3 (1ubuntu1)". compile.h appends the linker's
# version.
text=$(value_of CONFIG_CC_VERSION_TEXT)
[ -n "$text" ] || text=$(sed -n 's/^#define LINUX_COMPILER "\(.*\)"$/\1/p' "$headers/include/generated/compile.h" 2>/dev/null || true)

is_major() { # version, tool
  local found
  found=$("$2" -dumpversion 2>/dev/null) && [ "${found%%.*}" = "$1" ]
}

gcc_of() { # major version
  local candidate name=${text%% *}
  [ -z "${CROSS_COMPILE:-}" ] || name=${CROSS_COMPILE}gcc
  for candidate in "${CROSS_COMPILE:-}gcc-$1" "$name" "${CROSS_COMPILE:-}gcc"; do
    if is_major "$1" "$candidate"; then
      echo "CC=$candidate"
      return
    fi
  done
  stop "GCC $1 built this Linux but is not installed; install ${CROSS_COMPILE:-}gcc-$1, or set CC to another compiler"
}

clang_of() { # major version
  local suffix tool missing=clang-$1
  for suffix in "-$1" ""; do
    is_major "$1" "clang$suffix" || continue
    if [ -z "$(value_of CONFIG_LD_IS_LLD)" ] && [[ $text != *LLD* ]]; then
      echo "CC=clang$suffix"
      return
    fi
    missing=""
    for tool in ld.lld llvm-ar llvm-nm llvm-objcopy; do
      command -v "$tool$suffix" >/dev/null || missing="${missing:+$missing, }$tool$suffix"
    done
    if [ -z "$missing" ]; then
      echo "LLVM=${suffix:-1}"
      return
    fi
  done
  stop "clang $1 built this Linux but $missing is not installed; install clang-$1, lld-$1 and llvm-$1, or set CC to another compiler"
}

if [ -n "${CC:-}${LLVM:-}" ]; then
  [ -z "${CC:-}" ] || printf 'CC=%q ' "$CC"
  [ -z "${LLVM:-}" ] || printf 'LLVM=%q' "$LLVM"
  echo
elif [[ ${text//\(*([^)])\)/} =~ ([0-9]+)\.[0-9]+\.[0-9]+ ]]; then
  case "$text" in *"clang version"*) clang_of "${BASH_REMATCH[1]}" ;; *) gcc_of "${BASH_REMATCH[1]}" ;; esac
fi
