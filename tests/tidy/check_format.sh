#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Checks that .clang-format formats every C and C++ file outside kernel/ (which keeps Linux's own style). Exits with
# code 77 if the tree's version of clang-format is missing.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
formatter=$(bash scripts/clang_format.sh 2>&1) || {
  echo "SKIPPED: $formatter"
  exit 77
}

mapfile -d '' -t files < <(find . \( -path ./kernel -o -path './build*' -o -path ./third_party -o -path ./dist -o -name '.?*' \) -prune -o \
  -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0)
[ "${#files[@]}" -gt 0 ] || {
  echo "found no file to check"
  exit 1
}
printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" "$formatter" --dry-run -Werror
echo "${#files[@]} files are formatted"
