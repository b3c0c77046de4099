#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs shellcheck on ./run with all the files that it sources, and on every other shell script of the tree.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
command -v shellcheck >/dev/null || {
  echo "shellcheck not found (Debian: shellcheck)"
  exit 77
}
mapfile -d '' -t scripts < <(grep -rlZ --exclude-dir='build*' --exclude-dir=.git --exclude-dir=third_party --exclude-dir=dist \
  -m 1 -E '^#!/usr/bin/env bash' .)
for script in ./run ./.ci/run ./scripts/check_commits.sh ./tests/tidy/check_shell.sh ./kernel/build.sh; do
  [[ " ${scripts[*]} " == *" $script "* ]] || {
    echo "$script is missing from the ${#scripts[@]} scripts to check"
    exit 1
  }
done
shellcheck -x "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
