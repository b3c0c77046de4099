#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# ./run rejects invalid arguments with exit code 2 and a reference to its help, before it changes anything.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
expect() { # rc fragment arguments...
  local rc=0 expected=$1 fragment=$2 output
  shift 2
  output=$(./run "$@" 2>&1) || rc=$?
  if [ "$rc" != "$expected" ] || [[ $output != *"$fragment"* ]]; then
    printf './run %s: exit code %s, expected %s and "%s" in:\n%s\n' "$*" "$rc" "$expected" "$fragment" "$output"
    exit 1
  fi
}
expect 0 "usage: ./run" help
expect 0 "usage: ./run" --help
expect 0 "usage: ./run" build --help
expect 2 "missing command"
expect 2 "missing command" --offline
expect 2 "unknown command 'deploy'" deploy
expect 2 "unknown option '--ofline'" build --ofline
expect 2 "more than one command" build test
expect 2 "valid only for the command test" bench --no-sanitizers
expect 2 "valid only for the command test" build --full
expect 2 "valid only after the command test" build kernel
expect 2 "valid only after the command test" build package
expect 2 "valid only after the command test" distributions
expect 1 "packages must be downloaded" test distributions --offline
expect 2 "valid only for the command test" package --full
