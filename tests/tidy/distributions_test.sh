#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# ./run test distributions runs ./run test once for each release, and reports the last lines of each. A script that prints
# results replaces scripts/clean_debian.sh.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/scripts"
cp run CMakeLists.txt "$work/"
cp scripts/*.sh "$work/scripts/"
mkdir "$work/bin"
# shellcheck disable=SC2016 # expanded by the script
printf '#!/bin/sh\n[ "$1" != -u ] || echo 0\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/debootstrap"
chmod +x "$work/bin"/*

cat >"$work/scripts/clean_debian.sh" <<'TXT'
echo "arguments: $*"
[ "$2" != sid ] || exit 3
printf '%s\n' "== all tests" "skipped: b: no GPU"
[ "$2" = trixie ] && echo "2 passed, 0 failed, 1 skipped" && exit 0
printf '%s\n' "failed: c" "1 passed, 1 failed, 1 skipped"
exit 1
TXT

expect() { # rc releases options patterns...
  local expected=$1 releases=$2 options=$3 rc=0 output pattern
  shift 3
  # shellcheck disable=SC2086 # several options
  output=$(PATH=$work/bin:$PATH GDRKIT_DISTRIBUTIONS=$releases GDRKIT_DISTRIBUTIONS_DIRECTORY=$work/systems \
    bash "$work/run" test distributions $options 2>&1) || rc=$?
  for pattern in "$@"; do
    grep -xE "$pattern" <<<"$output" >/dev/null || rc="$rc, no line '$pattern'"
  done
  if [ "$rc" != "$expected" ]; then
    printf './run test distributions %s of "%s": exit code %s, expected %s, from:\n%s\n' "$options" "$releases" "$rc" "$expected" "$output"
    exit 1
  fi
}
minutes='[0-9]+\.[0-9] minutes, [0-9]+\.[0-9] CPU minutes'
expect 0 trixie "" "arguments: --release trixie $work/systems/trixie ./run test" "== trixie: $minutes, exit code 0" \
  "skipped: b: no GPU" "2 passed, 0 failed, 1 skipped"
expect 0 trixie "--full --no-sanitizers" "arguments: .* ./run test --full --no-sanitizers"
expect 1 "bookworm trixie" "" "== bookworm: $minutes, exit code 1" "failed: c" "1 passed, 1 failed, 1 skipped" "2 passed, 0 failed, 1 skipped" \
  "note: full output: build/bookworm.log"
expect 1 "sid trixie" "" "== sid: $minutes, exit code 3" "the tests did not finish" \
  "2 passed, 0 failed, 1 skipped"
grep -x "arguments: --release trixie .*" "$work/build/trixie.log" >/dev/null
echo "all reports are correct"
