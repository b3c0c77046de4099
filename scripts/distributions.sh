# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs the whole test suite on clean Debian systems, which have other compilers and libraries than this machine.

distributions=${GDRKIT_DISTRIBUTIONS:-bookworm trixie} # Debian 12 and 13
distributions_folder=${GDRKIT_DISTRIBUTIONS_FOLDER:-/var/tmp/gdrkit-distributions}

# Prints the times and the last lines of ./run test: skipped tests by reason, names of failed tests, and the counts.
report_distribution() { # release, its exit code
  local wall user system results
  read -r wall user system < <(tail -n 1 "build/$1.times")
  print_step "$1: $(awk "BEGIN { printf \"%.1f minutes, %.1f CPU minutes\", $wall / 60, ($user + $system) / 60 }"), exit code $2"
  results=$(sed '1,/^== all tests$/d' "build/$1.log")
  echo "${results:-the tests did not finish}"
  [ "$2" = 0 ] && [ -n "$results" ] || {
    note "full output: build/$1.log"
    return 1
  }
}

run_tests_of_distributions() {
  local release arguments=() failed=0 code TIMEFORMAT="%R %U %S"
  [ "$offline" = 0 ] || die "cannot test on clean Debian systems: packages must be downloaded; omit --offline"
  provide debootstrap
  [ "$(id -u)" -eq 0 ] || die "cannot make a Debian system: root is required"
  ! is_missing debootstrap || die "cannot test on clean Debian systems: debootstrap is missing, see above"
  [ "$full" = 0 ] || arguments+=(--full)
  [ "$sanitizers" = 1 ] || arguments+=(--no-sanitizers)
  mkdir -p build
  for release in $distributions; do
    print_step "testing the last commit on a clean Debian $release, in $distributions_folder/$release"
    code=0
    { time bash scripts/clean_debian.sh --release "$release" "$distributions_folder/$release" ./run test "${arguments[@]}" 2>&1 |
      tee "build/$release.log"; } 2>"build/$release.times" || code=$?
    echo "$code" >"build/$release.code"
  done
  for release in $distributions; do
    report_distribution "$release" "$(cat "build/$release.code")" || failed=1
  done
  return "$failed"
}
