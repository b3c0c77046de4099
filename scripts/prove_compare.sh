#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Proves on this machine that `gdrkit bench --compare` finds a slowdown of 10 % planted at one size, and nothing where
# nothing was planted. Takes RUNS + 6 runs of the benchmark.
# usage: scripts/prove_compare.sh BUILD_FOLDER [RUNS] [bench options...]   RUNS: comparisons of one build, 10 if not said
set -u

if [ $# -lt 1 ] || [ ! -x "$1/bin/gdrkit" ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
program=$1/bin/gdrkit
runs=${2:-10}
shift
[ $# -eq 0 ] || shift
options=("$@")
plants=(4096:10:to_device 32768:10:to_device 32768:10:from_device 262144:10:from_device 2097152:10:to_device)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compare() { # name, more options: exit code of the comparison; its text is kept
  local name=$1
  shift
  "$program" bench --quiet "${options[@]}" --compare "$folder/base.json" "$@" >"$folder/$name.txt" 2>&1
}

"$program" bench --quiet "${options[@]}" --json "$folder/base.json" >"$folder/base.txt" 2>&1 || {
  cat "$folder/base.txt"
  echo "no base could be recorded"
  exit 1
}
alarms=0
for ((run = 1; run <= runs; run++)); do
  compare "same$run"
  code=$?
  if [ "$code" -ne 0 ]; then
    alarms=$((alarms + 1))
    echo "ALARM in run $run (exit code $code):"
    grep -E '^SLOWER|^gdrkit' "$folder/same$run.txt"
  fi
done
echo "same build: $alarms of $runs comparisons raised an alarm; of these $(cat "$folder"/base.txt "$folder"/same*.txt 2>/dev/null |
  grep -c 'stood out once') measured something again, and found nothing"

missed=0
for plant in "${plants[@]}"; do
  IFS=: read -r size percent direction <<<"$plant"
  compare planted --inject-slowdown "$plant"
  code=$?
  if [ "$code" -eq 1 ] && grep -q "^SLOWER *copies/$direction/mapping at $size " "$folder/planted.txt"; then
    echo "caught: $percent % at $size bytes $direction"
  else
    missed=$((missed + 1))
    echo "MISSED: $percent % at $size bytes $direction (exit code $code)"
  fi
  grep -E '^SLOWER' "$folder/planted.txt" | sed 's/^/    /'
  # Threads and busy sections copy that size too.
  others=$(grep '^SLOWER' "$folder/planted.txt" | grep -vcE "/mapping at $size |/$size/mapping at ")
  if [ "$others" -ne 0 ]; then
    alarms=$((alarms + 1))
    echo "ALARM beside it: $others points"
  fi
done
echo "planted: $((${#plants[@]} - missed)) of ${#plants[@]} caught"
[ "$alarms" -eq 0 ] && [ "$missed" -eq 0 ]
