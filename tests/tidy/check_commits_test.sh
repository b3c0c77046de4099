#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Plants good and bad commit subjects in a temporary repository and expects scripts/check_commits.sh to distinguish
# them.
set -euo pipefail
script=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/check_commits.sh
command -v git >/dev/null || {
  echo "git not found (Debian: git)"
  exit 77
}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
git init -q .
commit() {
  git -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false commit -q --allow-empty -m "$1"
}
expect() { # rc subject
  commit "$2"
  local rc=0
  bash "$script" -1 >out || rc=$?
  [ "$rc" = "$1" ] || {
    echo "expected exit code $1 and got $rc for: $2"
    exit 1
  }
}
expect 0 "backend/rm: refuse managed memory by name"
expect 0 "$(printf 'core: %066d' 0 | tr 0 a)"
expect 1 "$(printf 'core: %067d' 0 | tr 0 a)"
expect 1 "refuse managed memory"
expect 1 "core: Refuse managed memory"
expect 1 "Core: refuse managed memory"
expect 1 "core:refuse managed memory"
rc=0
bash "$script" >out || rc=$?
if [ "$rc" != 1 ] || [ "$(wc -l <out)" -ne 5 ]; then
  echo "expected 5 errors for the whole history:"
  cat out
  exit 1
fi
