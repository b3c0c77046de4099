# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests the kernel modules in a virtual machine: requires no GPU and loads nothing on this machine.

run_kernel_tests() { # folder for the JUnit files, 1: the full range; true unless a test failed
  local options=() status=0
  [ "$2" = 0 ] || options+=(--full)
  print_step "testing the kernel modules in a virtual machine"
  GDRKIT_OFFLINE=${offline:-0} bash kernel/rig/run.sh "${options[@]}" "$1" || status=$?
  return "$status"
}

run_tests_of_kernel() {
  local results=$root/build/test-results failed=0
  provide "${needs_of_library[@]}" "${needs_of_kernel_tests[@]}"
  [ "$full" = 0 ] || provide "${needs_of_checked_linux[@]}"
  print_step "building the libraries for the tests on the kernel module"
  configure_release
  compile release gdrapi gdrkit
  mkdir -p "$results"
  rm -f "$results"/kernel*.xml
  run_kernel_tests "$results" "$full" || failed=1
  python3 scripts/summarise_tests.py "$results"/kernel*.xml || failed=1
  return "$failed"
}
