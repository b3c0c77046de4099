#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# ./run prints the progress of ninja and apt-get: a line for each tenth in a pipe, one line on a terminal, and on a failure the
# compiler's messages.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/dependencies.sh
source scripts/dependencies.sh
# shellcheck source=scripts/build.sh
source scripts/build.sh
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

fail() {
  printf 'failed: %s\n' "$*"
  exit 1
}
expect() { # name expected actual
  [ "$2" = "$3" ] || fail "$1: expected"$'\n'"$2"$'\n'"got"$'\n'"$3"
}
without_times() { sed -E 's/ [0-9]+:[0-9]{2} / T /'; }

ninja_output() {
  echo '[0/2] Re-checking globbed directories...'
  for step in $(seq 309); do
    echo "[$step/309] Building CXX object lib/engine/CMakeFiles/gdrkit_engine.dir/mover/part$step.cpp.o"
  done
}
piped=$(ninja_output | progress_of_ninja | show_progress | without_times)
expect "lines in a pipe" 11 "$(wc -l <<<"$piped")"
expect "the first one" "  0 %  T  lib/engine/mover/part1.cpp" "$(head -n 1 <<<"$piped")"
expect "the last one" "100 %  T  lib/engine/mover/part309.cpp" "$(tail -n 1 <<<"$piped")"

# script(1) provides a terminal, but not in a system without /dev/pts.
export SHELL=$BASH # script(1) starts it, and dash does not pass exported functions on
if has_tool script && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  export -f show_progress progress_of_ninja ninja_output
  on_terminal() { TERM=$1 script -qec "bash -c 'ninja_output | progress_of_ninja | show_progress'" /dev/null </dev/null; }
  on_terminal xterm >"$directory/terminal" || fail "on a terminal: $(cat "$directory/terminal")"
  expect "lines on a terminal" 1 "$(grep -c . "$directory/terminal")"
  [[ $(tail -c 80 "$directory/terminal") == *"100 %"*"part309.cpp"* ]] || fail "no end on a terminal: $(tail -c 80 "$directory/terminal")"
  expect "lines on a terminal that cannot rewrite one" "$piped" "$(on_terminal dumb | tr -d '\r' | without_times)"
fi

apt_output() {
  echo 'Selecting previously unselected package cmake.'
  for percent in 5.0000 50.0000 100.0000; do echo "dlstatus:1:$percent:Retrieving file 1 of 2"; done
  for percent in 0.0000 60.0000 100.0000; do echo "pmstatus:cmake:$percent:Unpacking cmake (amd64)"; done
}
expect "packages" "  2 %  T  download: Retrieving file 1 of 2
 25 %  T  download: Retrieving file 1 of 2
 50 %  T  download: Retrieving file 1 of 2
 80 %  T  Unpacking cmake (amd64)
100 %  T  Unpacking cmake (amd64)" "$(apt_output | progress_of_apt | show_progress | without_times)"

# A failed build prints the compiler's messages, and keeps the full output in the log.
mkdir "$directory/bin"
cat >"$directory/bin/cmake" <<'TXT'
#!/bin/sh
echo "$NINJA_STATUS" >&2
echo '[1/3] Building CXX object a.cpp.o'
echo '[2/3] Building CXX object b.cpp.o'
echo 'FAILED: b.cpp.o'
echo '/usr/bin/c++ -O3 -c b.cpp'
echo 'b.cpp:7:1: error: wrong'
echo '[3/3] Building CXX object c.cpp.o'
exit 1
TXT
chmod +x "$directory/bin/cmake"
if PATH=$directory/bin:$PATH build_directory "$directory" "$directory/build.log" >"$directory/out" 2>"$directory/err"; then
  fail "a failed build returned success"
fi
expect "the failure" "FAILED: b.cpp.o
b.cpp:7:1: error: wrong" "$(cat "$directory/err")"
grep -q '^/usr/bin/c++ -O3 -c b.cpp$' "$directory/build.log" || fail "the log lacks the command"

# Detection of a GPU.
gpu_nodes=$directory
! has_gpu || fail "found a GPU without a device node"
touch "$directory/nvidiactl"
! has_gpu || fail "found a GPU with nvidiactl only"
touch "$directory/nvidia0"
has_gpu || fail "did not find the GPU nvidia0"

expect "a table without its note" $'emulated\n  8 B 1.0\nNOTE: of the table' \
  "$(printf 'NOTE: running on the emulated device:\n  no GPU\nemulated\n  8 B 1.0\nNOTE: of the table\n' | without_note)"
expect "a table of a GPU" $'NVIDIA H100\n  8 B 1.0' "$(printf 'NVIDIA H100\n  8 B 1.0\n' | without_note)"
echo ok
