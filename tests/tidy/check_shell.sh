#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs shellcheck over ./run with all that it sources, and over every other shell script of the tree.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
command -v shellcheck >/dev/null || {
  echo "shellcheck is not here (Debian: shellcheck)"
  exit 77
}
mapfile -t scripts < <(grep -rlE --include='*.sh' '^#!/usr/bin/env bash' scripts tests tools bench examples kernel 2>/dev/null)
shellcheck -x run .ci/run kernel/check_nvidia_symbols "${scripts[@]}"
