#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# ./run bundle rejects programs that need other libraries than every Linux has, but not the MPI plug-ins of gdrkit osu.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/bundle.sh
source scripts/bundle.sh

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cp "$BASH" "$directory/program" # needs libtinfo.so.6
cp "$directory/program" "$directory/gdrkit_osu_openmpi.so"
check_self_contained "$directory/gdrkit_osu_openmpi.so"
message=$( (check_self_contained "$directory/program") 2>&1) && {
  echo "failed: a program that needs other libraries was accepted"
  exit 1
}
grep -F "which another machine may lack" <<<"$message" >/dev/null
echo ok
