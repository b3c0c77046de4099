#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Every C and C++ file outside kernel/ (which keeps Linux's own style) is as .clang-format says. Versions of clang-format
# disagree, so only the one that the tree is formatted with judges; exit code 77 where it is not here.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
version=14

formatter=""
for name in "clang-format-$version" clang-format; do
  if [[ $("$name" --version 2>/dev/null) =~ version\ $version\. ]]; then
    formatter=$name
    break
  fi
done
if [ -z "$formatter" ]; then
  echo "SKIPPED: no clang-format $version (Debian 12: clang-format)"
  exit 77
fi

mapfile -d '' -t files < <(find . \( -path ./kernel -o -path './build*' -o -path ./third_party -o -path ./dist -o -name '.?*' \) -prune -o \
  -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0)
[ "${#files[@]}" -gt 0 ] || {
  echo "no file was found to check"
  exit 1
}
printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" "$formatter" --dry-run -Werror
echo "${#files[@]} files are formatted"
