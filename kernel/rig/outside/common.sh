# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# What every test here begins with: the directory of the sources, a scratch directory, and checks.
set -euo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*"
  exit 1
}

# Creates the source of a driver as installed in $root.
plant_driver() { # version, licence
  mkdir -p "$root/usr/src/nvidia-$1/nvidia"
  cp "$kernel/include/nv-p2p.h" "$root/usr/src/nvidia-$1/nvidia/"
  echo "MODULE_LICENSE(\"$2\");" >"$root/usr/src/nvidia-$1/nvidia/nv.c"
}

# Runs a command and checks its exit status and a fragment of its output.
expect_of() { # rc, fragment, command...
  local rc=0 expected=$1 fragment=$2 output
  shift 2
  output=$("$@" 2>&1) || rc=$?
  if [ "$rc" != "$expected" ] || [[ $output != *"$fragment"* ]]; then
    fail "$*: exit status $rc, expected $expected and \"$fragment\" in:"$'\n'"$output"
  fi
}
