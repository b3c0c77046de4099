# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Common functions of the commands of ./run: messages, progress, errors, the number of processors.

print_step() { printf '== %s\n' "$*"; }
note() { printf 'note: %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'error: %s\nTry "./run help".\n' "$*" >&2
  exit 2
}

# Reads lines "percent what". A terminal shows them on one line; otherwise, or if TERM is dumb, each tenth, and at
# least one line per minute, is printed on its own line.
show_progress() {
  local begin=$SECONDS printed=$SECONDS shown=-1 last="" columns=80 rewrites=0 percent what line
  if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then rewrites=1; fi
  if [ "$rewrites" = 1 ]; then read -r _ columns < <(stty size <&1 2>/dev/null) && [ "$columns" -gt 20 ] || columns=80; fi
  while read -r percent what; do
    printf -v line '%3d %%  %d:%02d  %s' "$percent" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)) "$what"
    last=$line
    if [ "$rewrites" = 1 ]; then
      printf '\r\033[K%s' "${line:0:$((columns - 1))}"
    elif ((percent / 10 > shown || SECONDS - printed >= 60)); then
      shown=$((percent / 10)) printed=$SECONDS
      printf '%s\n' "$line"
    fi
  done
  if [ "$rewrites" = 1 ] && [ -n "$last" ]; then printf '\n'; fi
}

# Converts ninja's output to "percent file", without "Building CXX object" and object directories.
progress_of_ninja() {
  sed -un -e '/^\[[0-9]*\/[0-9]*\] Re-/d' -e 's/^\[\([0-9]*\)\/\([0-9]*\)\] /\1 \2 /;T' \
    -e 's/Building [A-Z]* object //;s/CMakeFiles\/[^/]*\.dir\///;s/\.o$//;p' |
    while read -r done total what; do printf '%d %s\n' $((100 * done / total)) "$what"; done
}

# Prints the compiler's messages without the commands: the parts of ninja's output that begin with FAILED, or else its end.
failures_in() { # log
  if grep -q '^FAILED: ' "$1"; then
    awk '/^\[[0-9]+\/[0-9]+\] /{on=0} /^FAILED: /{on=1; print; getline; next} on' "$1"
  else
    tail -n 20 "$1"
  fi
}

jobs_here() { nproc 2>/dev/null || echo 2; }

project_version() { sed -n 's/^#define GDRKIT_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/gdrkit/version.h | paste -sd.; }
