#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# A probe's unrelated error never reads as "absent": a broken compiler, no variant or two variants stop the build.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

expect() { # rc, fragment, headers
  expect_of "$1" "$2" "$scratch/compat/probe.sh" "$3" "$scratch/probes" "$scratch/probed.h"
}

fresh() {
  rm -rf "$scratch/compat" "$scratch/probes" "$scratch/probed.h"
  cp -r "$kernel/compat" "$scratch/compat"
}

fresh
expect 0 "" "$RIG_HEADERS"
grep -c '^#define GDRKIT_[A-Z_]* [01]$' "$scratch/probed.h" >/dev/null
expect 1 "no Makefile found" "$scratch"
fresh
echo 'not C code' >>"$scratch/compat/probes.c"
expect 1 "even the simplest module does not compile" "$RIG_HEADERS"
fresh
sed -i 's/return vma->gdrkit_no_such_member;/return 0;/' "$scratch/compat/probes.c"
expect 1 "must not compile did compile" "$RIG_HEADERS"
fresh
sed -i 's/_split = refuse_split/_no_such = refuse_split/; s/\.split = refuse_split/.no_such = refuse_split/' "$scratch/compat/probes.c"
expect 1 "0 variants of 'vma_split' compile" "$RIG_HEADERS"
fresh
sed -i 's/\.split = refuse_split/.may_split = refuse_split/' "$scratch/compat/probes.c"
expect 1 "2 variants of 'vma_split' compile" "$RIG_HEADERS"
