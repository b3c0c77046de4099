# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests in a virtual machine: the kernel modules, without a GPU and without loading a module on this machine, and gdrkit
# perftest over soft RDMA, without an RDMA adapter.

kernel_tests_id=""
kernel_tests_log=build/kernel_tests.log

# Starts them in the background, as one process group. The machine leaves processor time to builds at the same time.
start_kernel_tests() { # directory for the JUnit files, 1: the full range
  local options=()
  [ "$2" = 0 ] || options+=(--full)
  GDRKIT_OFFLINE=${offline:-0} setsid bash kernel/rig/run.sh "${options[@]}" "$1" >"$kernel_tests_log" 2>&1 &
  kernel_tests_id=$!
  trap 'kill -- "-$kernel_tests_id" 2>/dev/null || true' EXIT
}

finish_kernel_tests() { # true unless a test failed
  local status=0
  print_step "testing the kernel modules in a virtual machine"
  tail -n +1 -f --pid="$kernel_tests_id" "$kernel_tests_log"
  wait "$kernel_tests_id" || status=$?
  trap - EXIT
  return "$status"
}

run_kernel_tests() { # directory for the JUnit files, 1: the full range; true unless a test failed
  start_kernel_tests "$@"
  finish_kernel_tests
}

run_tests_of_kernel() {
  provide "${needs_of_library[@]}" "${needs_of_kernel_tests[@]}"
  [ "$full" = 0 ] || provide "${needs_of_checked_linux[@]}"
  print_step "building the libraries for the tests on the kernel module"
  configure_release
  compile release gdrapi gdrkit
  run_and_summarise 'kernel*.xml' run_kernel_tests "$full"
}

run_rdma_tests() { # directory for the JUnit files, 1: the full range; true unless a test failed
  local options=()
  [ "$2" = 0 ] || options+=(--full)
  print_step "testing gdrkit perftest over soft RDMA in a virtual machine"
  GDRKIT_OFFLINE=$offline bash tests/transfer/soft_rdma/run.sh "${options[@]}" "$1"
}

run_tests_of_rdma() {
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" python machine cpio xz
  print_step "building the programs for the tests over soft RDMA"
  configure_release
  compile release gdrkit_program
  run_and_summarise soft_rdma.xml run_rdma_tests "$full"
}
