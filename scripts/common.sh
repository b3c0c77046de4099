# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# What every command of ./run needs: messages, errors, the number of processors.

say() { printf '== %s\n' "$*"; }
note() { printf 'note: %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'error: %s\nTry "./run help".\n' "$*" >&2
  exit 2
}

jobs_here() { nproc 2>/dev/null || echo 2; }

project_version() { sed -n 's/^project(gdrkit VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }
