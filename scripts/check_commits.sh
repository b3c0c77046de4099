#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Checks the subjects of commits: "area: imperative summary", at most 72 characters.
# usage: scripts/check_commits.sh [range]   (default: all commits)
set -euo pipefail

pattern='^[a-z0-9_./-]+: [a-z]'
limit=72
failed=0
while IFS= read -r line; do
  sha=${line%% *}
  subject=${line#* }
  if ! [[ $subject =~ $pattern ]]; then
    echo "$sha: not \"area: summary\" in lower case: $subject"
    failed=1
  fi
  if [ "${#subject}" -gt "$limit" ]; then
    echo "$sha: ${#subject} characters; the limit is $limit: $subject"
    failed=1
  fi
done < <(git log --no-merges --format='%h %s' "${1:-HEAD}")
exit "$failed"
