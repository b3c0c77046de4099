#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests on this machine that `gdrkit bench --compare` finds an injected slowdown of 10 % at one size, and reports
# nothing if nothing was injected. Records one base, compares RUNS runs of the same build with it, then five runs with a
# slowdown.
# The build's tests/bin/libslow_copies.so, loaded before libgdrapi, injects the slowdown. Takes about 3 minutes on an
# H200.
# The last line is the verdict: PROVEN (exit code 0) or NOT PROVEN (1).
# usage: scripts/prove_compare.sh BUILD_DIRECTORY [RUNS] [bench options...]   RUNS: 10 if not given; options: --quick
set -u

if [ $# -lt 1 ] || [ ! -x "$1/bin/gdrkit" ] || [ ! -e "$1/tests/bin/libslow_copies.so" ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
program=$1/bin/gdrkit
slow_copies=$1/tests/bin/libslow_copies.so
runs=${2:-10}
shift
[ $# -eq 0 ] || shift
options=("$@")
[ ${#options[@]} -gt 0 ] || options=(--quick)
# Slowdowns affect copies only, so nothing else is measured with them, unless the options select it.
case " ${options[*]} " in
  *" --only"* | *" --sections"*) copies=() ;;
  *) copies=(--only copies) ;;
esac
slowdowns=(4096:10:to_device 32768:10:to_device 32768:10:from_device 262144:10:from_device 2097152:10:to_device)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

compare() { # name, more options: returns the exit code of the comparison; stores its output
  local name=$1
  shift
  "$program" bench --quiet "${options[@]}" --compare "$directory/base.json" "$@" >"$directory/$name.txt" 2>&1
}

"$program" bench --quiet "${options[@]}" --json "$directory/base.json" >"$directory/base.txt" 2>&1 || {
  cat "$directory/base.txt"
  echo "NOT PROVEN: cannot record a base"
  exit 1
}
echo "base recorded in $SECONDS s"

alarms=0
unjudged=0
for ((run = 1; run <= runs; run++)); do
  compare "same$run"
  code=$?
  case $code in
    0) echo "same build, run $run of $runs: nothing is slower ($SECONDS s)" ;;
    2)
      unjudged=$((unjudged + 1))
      echo "same build, run $run of $runs: NO VERDICT ($SECONDS s)"
      grep -A5 -E '^NO VERDICT|^gdrkit bench:' "$directory/same$run.txt" | sed 's/^/    /'
      ;;
    *)
      alarms=$((alarms + 1))
      echo "same build, run $run of $runs: FALSE ALARM (exit code $code, $SECONDS s)"
      grep -E '^SLOWER|^gdrkit bench:' "$directory/same$run.txt" | sed 's/^/    /'
      ;;
  esac
  grep -E '^slower once|^the two runs differ' "$directory/same$run.txt" | sed 's/^/    /'
done

missed=0
for slowdown in "${slowdowns[@]}"; do
  IFS=: read -r size percent direction <<<"$slowdown"
  LD_PRELOAD=$slow_copies SLOW_COPIES=$slowdown compare injected "${copies[@]}"
  code=$?
  if [ "$code" -eq 1 ] && grep -q "^SLOWER *copies/$direction/mapping at $size " "$directory/injected.txt"; then
    echo "found: $percent % at $size bytes $direction ($SECONDS s)"
  else
    missed=$((missed + 1))
    echo "MISSED: $percent % at $size bytes $direction (exit code $code, $SECONDS s)"
    grep -E '^slower once|^unresolved|^[0-9]+ points? cannot be judged|^gdrkit bench:' "$directory/injected.txt" | sed 's/^/    /'
  fi
  grep -E '^SLOWER' "$directory/injected.txt" | sed 's/^/    /'
  others=$(grep '^SLOWER' "$directory/injected.txt" | grep -vc "copies/$direction/mapping at $size ")
  if [ "$others" -ne 0 ]; then
    alarms=$((alarms + 1))
    echo "    FALSE ALARM at $others other points"
  fi
done

summary="$alarms false alarms and $unjudged without verdict in $runs comparisons of one build; $((${#slowdowns[@]} - missed)) of ${#slowdowns[@]} injected slowdowns of 10 % found; $SECONDS s"
if [ "$alarms" -eq 0 ] && [ "$unjudged" -eq 0 ] && [ "$missed" -eq 0 ]; then
  echo "PROVEN: $summary"
else
  echo "NOT PROVEN: $summary"
  exit 1
fi
