# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests gdrkit perftest over soft RDMA in a virtual machine, without an RDMA device.

run_tests_of_rdma() {
  local results=$root/build/test-results failed=0 options=()
  [ "$full" = 0 ] || options+=(--full)
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" python machine cpio xz
  print_step "building the programs for the tests over soft RDMA"
  configure_release
  compile release gdrkit_program
  mkdir -p "$results"
  rm -f "$results"/soft_rdma.xml
  print_step "testing gdrkit perftest over soft RDMA in a virtual machine"
  GDRKIT_OFFLINE=$offline bash tests/transfer/soft_rdma/run.sh "${options[@]}" "$results" || failed=1
  python3 scripts/summarise_tests.py "$results"/soft_rdma.xml || failed=1
  return "$failed"
}
