#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Prints the name of a clang-format of the version that formats this tree, because versions differ. Exits with code 77
# if it is missing.
# usage: scripts/clang_format.sh [--fetch]     --fetch: installs it from PyPI into build/ if it is missing
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
version=14.0.6
venv=$PWD/build/clang-format

find_formatter() {
  local name
  for name in "clang-format-${version%%.*}" clang-format "$venv/bin/clang-format"; do
    if [[ $("$name" --version 2>/dev/null) =~ version\ ${version%%.*}\. ]]; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

find_formatter && exit 0
if [ "${1:-}" = --fetch ]; then
  python3 -m venv "$venv" && "$venv/bin/pip" --quiet --disable-pip-version-check --timeout 10 --retries 1 install "clang-format==$version" &&
    find_formatter && exit 0
fi
echo "cannot find clang-format ${version%%.*}; install it (Debian 12: clang-format; PyPI: clang-format==$version)" >&2
exit 77
