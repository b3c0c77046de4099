#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# scripts/clean_debian.sh passes the release to debootstrap, and uses no directory that other users can change. A debootstrap in PATH
# replaces the real one: it prints its arguments and fails.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d /var/tmp/clean-debian-XXXXXX) # not below the tree, whose owner is trusted
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
printf '#!/bin/sh\necho "debootstrap: $*"\nexit 1\n' >"$work/bin/debootstrap"
chmod +x "$work/bin/debootstrap"

expect() { # rc fragment arguments...
  local rc=0 expected=$1 fragment=$2 output
  shift 2
  output=$(PATH=$work/bin:$PATH bash scripts/clean_debian.sh "$@" 2>&1) || rc=$?
  if [ "$rc" != "$expected" ] || [[ $output != *"$fragment"* ]]; then
    printf 'clean_debian.sh %s: exit code %s, expected %s and "%s" in:\n%s\n' "$*" "$rc" "$expected" "$fragment" "$output"
    exit 1
  fi
}
expect 2 "DIRECTORY is missing"
expect 2 "unknown option '--realease'" --realease trixie "$work/new"
expect 2 "invalid --release ''" --release
expect 2 "invalid --release '../etc'" --release ../etc "$work/new"
expect 2 "DIRECTORY is missing" --release trixie
if [ "$(id -u)" -ne 0 ]; then
  expect 2 "root is required" "$work/new"
  echo "the tests of the directories require root"
  exit 0
fi
expect 1 "debootstrap: --variant=minbase bookworm $work/new/base" "$work/new"
expect 1 "debootstrap: --variant=minbase trixie $work/new/base" --release trixie "$work/new"

complete_base() { # release: makes the result of a complete run
  rm -rf "$work/new/base"
  mkdir -p "$work/new/base"
  echo "$1" >"$work/new/base/.is_complete"
}
complete_base bookworm
expect 1 "debootstrap: --variant=minbase trixie" --release trixie "$work/new"
complete_base trixie
[ "$(stat -c %a "$work/new")" = 700 ] || {
  echo "users other than root can enter $work/new"
  exit 1
}
chmod o+x "$work/new"
expect 1 "users other than root can enter it; run chmod 700 $work/new" --release trixie "$work/new"
chmod 700 "$work/new"
chmod o+w "$work/new/base"
expect 1 "$work/new/base is not safe: users other than root can write to it" --release trixie "$work/new"
chmod o-w "$work/new/base"
chmod g+w "$work/new"
expect 1 "$work/new is not safe: users other than root can write to it" --release trixie "$work/new"
chmod g-w "$work/new"
chown 12345 "$work/new/base"
expect 1 "$work/new/base is not safe: it belongs to" --release trixie "$work/new"
chown 12345 "$work/new"
expect 1 "$work/new is not safe: it belongs to" --release trixie "$work/new/"
ln -s /etc "$work/link"
chown -h 12345 "$work/link"
expect 1 "$work/link is not safe: it belongs to" --release trixie "$work/link"
mkdir "$work/target"
chown 12345 "$work/target"
ln -s "$work/target" "$work/own_link"
expect 1 "$work/target is not safe: it belongs to" --release trixie "$work/own_link"
mkdir "$work/above"
chmod o+w "$work/above"
expect 1 "$work/above is not safe: users other than root can write to it" --release trixie "$work/above/new"
chmod +t "$work/above"
expect 1 "debootstrap: --variant=minbase trixie $work/above/new/base" --release trixie "$work/above/new"
echo "all directories were handled correctly"
