# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests for other processors, built by cross compilers and run by qemu-user. They verify results, but neither speed
# nor the memory ordering of the real processors.

cross_architectures="arm64 ppc64le" # presets; cmake/toolchains has one file for each
needs_of_arm64=(cross_arm64 user_machine)
needs_of_ppc64le=(cross_ppc64le user_machine)

# Without the programs: only the libraries depend on the processor.
cross_configure() { # preset; nonzero on failure
  configure "$1" "-DGDRKIT_WARNINGS_AS_ERRORS=$(on_or_off [ "${CI:-}" = true ])"
}

cross_test() { # preset, results file, 1: also the drop-in's ABI tests
  local targets=(cpu_test copy_test copy_conformance_test) pattern='^(cpu_test|copy_test|copy_conformance_test)/' directory
  if [ "$3" = 1 ]; then
    # The layouts and the C program are only compiled: the emulated device needs mremap to duplicate a
    # mapping, which qemu-user does not support.
    targets+=(gdrapi gdrkit gdrkit_shmem gdrkit_gdrapi_layout gdrkit_abi_consumer abi_libraries_test)
    pattern='^((cpu_test|copy_test|copy_conformance_test|abi_libraries_test)/|abi/interface$)'
  fi
  directory=$(directory_of "$1")
  cross_configure "$1"
  compile "$1" "${targets[@]}"
  rm -f "$2"
  ctest --test-dir "$directory" --parallel "$(jobs_here)" --output-on-failure --no-tests=error -R "$pattern" --output-junit "$2" | without_passed
}

cross_lacks() { # preset: prints the missing Debian packages
  local needs="needs_of_$1[@]"
  find_missing "${!needs}"
  [ -e third_party/googletest/CMakeLists.txt ] || [ -e /usr/src/googletest/CMakeLists.txt ] || printf 'googletest '
  packages_of_missing debian | tr '\n' ' '
}

run_cross_tests() { # results directory, 1: the full range; true unless a test failed
  local failed=0 preset lacks presets=arm64
  [ "$2" = 0 ] || presets=$cross_architectures
  for preset in $presets; do
    lacks=$(cross_lacks "$preset")
    if [ -n "$lacks" ]; then
      note "skipped: tests for $preset: missing Debian packages: $lacks"
      write_skip "cross_$preset" "missing Debian packages: $lacks" >"$1/cross-$preset.xml"
      continue
    fi
    print_step "testing for $preset under qemu-user"
    (cross_test "$preset" "$1/cross-$preset.xml" "$2") || failed=1 # in a subshell, which a failed build ends
  done
  [ "$2" = 0 ] || GDRKIT_OFFLINE=${offline:-0} bash kernel/rig/cross.sh "$1" || failed=1
  return "$failed"
}

run_tests_of_cross() {
  provide "${needs_of_library[@]}" python make googletest "${needs_of_arm64[@]}" "${needs_of_ppc64le[@]}"
  run_and_summarise 'cross*.xml' run_cross_tests 1
}
