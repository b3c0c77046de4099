#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Without QEMU, the run is one skip with its reason, or a failure if GDRKIT_REQUIRE requires it.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# A PATH with only the tools that the script needs to report the skip.
mkdir "$scratch/bin" "$scratch/results"
for tool in bash dirname mkdir uname sed cat; do ln -s "$(command -v "$tool")" "$scratch/bin/"; done

expect() { # rc, fragment of the output, fragment of the JUnit file, variables or arguments...
  rm -f "$scratch"/results/*
  expect_of "$1" "$2" env -u GDRKIT_REQUIRE PATH="$scratch/bin" "${@:4}"
  [ -z "$3" ] || grep -F "$3" "$scratch/results/kernel.xml" >/dev/null || fail "${*:4}: the results lack \"$3\""
}

run=("$scratch/bin/bash" "$kernel/rig/run.sh")
expect 0 "skipped: qemu-system-x86_64 is not installed" 'message="SKIP_NO_MACHINE"' "${run[@]}" "$scratch/results"
expect 0 "skipped: qemu-system-x86_64" 'status="notrun"' /usr/bin/env GDRKIT_REQUIRE=gpu "${run[@]}" "$scratch/results"
expect 1 "FAIL required (GDRKIT_REQUIRE), but: qemu-system-x86_64" 'status="fail"' \
  /usr/bin/env GDRKIT_REQUIRE=gpu,kernel "${run[@]}" "$scratch/results"
expect 2 "missing directory for the JUnit files" "" "${run[@]}"
expect 2 "unknown option '--ful'" "" "${run[@]}" --ful "$scratch/results"
