# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The commands build, test and bench.

configure() { # preset [cmake options...]
  local preset=$1 directory
  shift
  directory=$(directory_of "$preset")
  # A tree that was moved after a build: CMake rejects a cache of another path.
  if [ -e "$directory/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$directory/CMakeCache.txt"; then
    rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles"
  fi
  mkdir -p "$directory"
  cmake --preset "$preset" -DGDRKIT_UNITY=ON "$@" >"$directory/configure.log" 2>&1 || {
    cat "$directory/configure.log"
    die "cannot configure preset '$preset'; see the messages above"
  }
}

directory_of() { if [ "$1" = release ]; then echo build; else echo "build-$1"; fi; }

launcher=() # prefix of the commands that build and test

compile() { # preset [targets...]
  local preset=$1 directory
  shift
  directory=$(directory_of "$preset")
  build_directory "$directory" "$directory/build.log" ${1:+--target "$@"} || die "cannot build preset '$preset'; see $directory/build.log"
}

build_directory() { # directory log [options of cmake --build...]
  local directory=$1 log=$2
  shift 2
  NINJA_STATUS='[%f/%t] ' "${launcher[@]}" cmake --build "$directory" --parallel "$(jobs_here)" "$@" 2>&1 |
    tee "$log" | progress_of_ninja | show_progress && return 0
  failures_in "$log" >&2
  return 1
}

on_or_off() { if "$@"; then echo ON; else echo OFF; fi; }

# The commands differ in their targets only: one configuration of build/ serves build, bench and test.
configure_release() { # cmake options...
  local options=(-DGDRKIT_GPU_KERNELS=AUTO "$@")
  lacks_any_of "${needs_of_library[@]}" && die "cannot build: the programs and libraries listed above are missing"
  local programs tests
  programs=$(on_or_off has_all "${needs_of_programs[@]}")
  tests=$(on_or_off has_googletest)
  options+=("-DGDRKIT_BUILD_TOOLS=$programs" "-DGDRKIT_BUILD_TESTS=$tests")
  local python
  python=$(python_for_package)
  options+=("-DGDRKIT_BUILD_PYTHON=$(on_or_off [ -n "$python" ])" "-DPython_EXECUTABLE=$python")
  # Warnings are errors in CI only: a user's compiler may have warnings that we have not seen.
  options+=("-DGDRKIT_WARNINGS_AS_ERRORS=$(on_or_off [ "${CI:-}" = true ])")
  configure release "${options[@]}"
}

build_programs() { # cmake options...
  configure_release "$@"
  local targets=(lib/all examples/all)
  if has_all "${needs_of_programs[@]}"; then targets+=(cli/all); fi
  if [ -n "$(python_for_package)" ]; then targets+=(python/all); fi
  compile release "${targets[@]}"
}

build_release() {
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_users[@]}"
  provide_python
  print_step "building the release"
  build_programs
  compile release gdrkit_installed # including the man pages
  print_step "programs in build/bin, libraries in build/lib"
}

# Thousands of lines with "Passed" hide the few others; skipped tests are listed at the end.
without_passed() { grep --line-buffered -vE '^ +Start +[0-9]+: |\.(  *Passed|\*\*\*Skipped) +[0-9.]+ sec$'; }

run_ctest() { # preset results-file
  rm -f "$2"
  "${launcher[@]}" ctest --preset "$1" --parallel "$(jobs_here)" --output-junit "$2" | without_passed
}

# Address and undefined behaviour: all C++ tests. The Python tests run the release's programs only. With clang++ where
# available, so that a second compiler compiles everything.
test_addresses() { # results directory
  local clang options=()
  clang=$(clang_with_sanitizers)
  [ -z "$clang" ] || options=("-DCMAKE_CXX_COMPILER=$clang" "-DCMAKE_C_COMPILER=${clang/++/}")
  print_step "building with the address and undefined-behaviour sanitizers${clang:+ and $clang}"
  configure asan "-DGDRKIT_BUILD_TOOLS=$(on_or_off has_all "${needs_of_programs[@]}")" "-DGDRKIT_BUILD_EXAMPLES=OFF" \
    "-DGDRKIT_GPU_KERNELS=OFF" "-DGDRKIT_WARNINGS_AS_ERRORS=$(on_or_off [ "${CI:-}" = true ])" "${options[@]}"
  compile asan
  print_step "running the unit, conformance and fuzz tests with these sanitizers"
  run_ctest asan "$1/asan.xml"
}

# Threads: builds and runs only the tests with the label "threads".
test_threads() { # results directory
  local launcher=() why
  print_step "building with the thread sanitizer"
  # The thread sanitizer of GCC 12 aborts every program if Linux uses more than 28 random bits for mappings
  # (vm.mmap_rnd_bits). Newer versions restart the program without randomisation, as this does for all.
  ! setarch "$(uname -m)" -R true 2>/dev/null || launcher=(setarch "$(uname -m)" -R)
  if ! why=$(can_sanitize_threads 2>&1); then
    note "skipped: the thread sanitizer does not work here: $(head -n 1 <<<"$why")"
    write_skip tsan "the thread sanitizer does not work here" >"$1/tsan.xml"
    return 0
  fi
  configure tsan "-DGDRKIT_BUILD_TOOLS=$(on_or_off has_all "${needs_of_programs[@]}")" "-DGDRKIT_BUILD_EXAMPLES=OFF" "-DGDRKIT_GPU_KERNELS=OFF"
  compile tsan threads_tests
  print_step "running the tests with threads under the thread sanitizer"
  run_ctest tsan "$1/tsan.xml"
}

can_sanitize_threads() {
  mkdir -p build-tsan
  printf 'int main() { return 0; }\n' | "$CXX" -fsanitize=thread -x c++ - -o build-tsan/starts && "${launcher[@]}" build-tsan/starts
}

write_skip() { # name reason
  printf '<testsuite name="%s"><testcase name="%s" status="notrun"><skipped message="SKIP_NOT_HERE"/><system-out>%s</system-out></testcase></testsuite>\n' \
    "$1" "$1" "$2"
}

# Runs a command that writes JUnit files to the directory in its first argument, and summarises them.
run_and_summarise() { # pattern of its JUnit files, command [arguments after the directory...]
  local results=$root/build/test-results pattern=$1 command=$2 failed=0
  shift 2
  mkdir -p "$results"
  rm -f "$results"/$pattern
  "$command" "$results" "$@" || failed=1
  python3 scripts/summarise_tests.py "$results"/$pattern || failed=1
  return "$failed"
}

run_tests() {
  local results=$root/build/test-results failed=0
  # Extends some tests: more simulated runs, browser window sizes and seeds.
  [ "$full" = 0 ] || export GDRKIT_FULL=1
  [ "$full" = 0 ] || provide "${needs_of_slurm_tests[@]}"
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_tests[@]}" "${needs_of_browser_tests[@]}" \
    "${needs_of_kernel_tests[@]}" "${needs_of_trace_tests[@]}" "${needs_of_format_tests[@]}" "${needs_of_install_tests[@]}" \
    "${needs_of_remote_tests[@]}" "${needs_of_mpi_tests[@]}" "${needs_of_container_tests[@]}" "${needs_of_arm64[@]}" "${needs_of_compiler_tests[@]}" "${needs_of_docs[@]}" "${needs_of_abi_tests[@]}" "${needs_of_wheel[@]}"
  [ "$offline" = 1 ] || bash scripts/clang_format.sh --fetch >/dev/null || note "skipped: the format check, for the reason above"
  is_missing googletest && die "cannot build the tests: GoogleTest is missing, see above"
  provide_python
  mkdir -p "$results"
  rm -f "$results"/*.xml
  print_step "building the release and its tests"
  configure_release
  compile release
  print_step "testing the release"
  run_ctest release "$results/release.xml" || failed=1
  start_kernel_tests "$results" "$full"
  if [ "$sanitizers" = 1 ]; then
    test_addresses "$results" || failed=1
    test_threads "$results" || failed=1
  fi
  run_cross_tests "$results" "$full" || failed=1
  finish_kernel_tests || failed=1
  if [ "$full" = 1 ]; then run_tests_of_containers || failed=1; fi
  if [ "$full" = 1 ]; then
    provide "${needs_of_packages[@]}" "${needs_of_package_tests[@]}"
    (run_package_tests "$results") || failed=1
    run_doc_tests "$results" || failed=1
  fi
  print_step "all tests"
  if has_tool python3; then
    python3 scripts/summarise_tests.py "$results"/*.xml || failed=1
  fi
  return "$failed"
}

# Whether a GPU driver is loaded: that of Linux, of a Jetson or of WSL.
has_gpu() {
  compgen -G "${gpu_nodes:-/dev}/nvidia[0-9]*" >/dev/null || [ -e "${gpu_nodes:-/dev}/nvhost-gpu" ] || [ -e "${gpu_nodes:-/dev}/dxg" ]
}

# Sets `gdrkit` to a program with the subcommands bench and tune.
build_bench_program() {
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}"
  if ! lacks_any_of "${needs_of_library[@]}" "${needs_of_programs[@]}"; then
    print_step "building the benchmark"
    configure_release
    compile release gdrkit_bench_program
    gdrkit=build/bench/gdrkit
  elif [ -x build/bin/gdrkit ]; then
    note "cannot build here; using the programs in build/bin"
    gdrkit=build/bin/gdrkit
  else
    die "cannot run the benchmark: build/bin contains no programs, and the dependencies listed above are missing"
  fi
}

run_benchmarks() {
  local gdrkit files="build/bench.json" code=0
  build_bench_program
  if [ -z "${GDRKIT_BACKEND:-}" ] && ! has_gpu; then
    note "no GPU found: measuring the emulated device (GDRKIT_BACKEND=emulated)"
    export GDRKIT_BACKEND=emulated
  fi
  print_step "measuring first results (a few seconds)"
  "$gdrkit" bench --quick --only copies,costs
  print_step "measuring everything (about a minute; prints the table at the end)"
  "$gdrkit" bench --json build/bench.json --csv build/bench.csv | without_note
  if [ "${GDRKIT_BACKEND:-}" != emulated ]; then
    print_step "measuring the copy engines (a few seconds)"
    # The benchmark leaves no profile in the user's cache directory; only gdrkit tune does.
    XDG_CACHE_HOME=$PWD/build/cache "$gdrkit" tune --json build/engines.json || code=$?
    case $code in
      0) files+=" build/engines.json" ;;
      77) note "skipped: the copy engines cannot run here, for the reason above" ;;
      *) return "$code" ;;
    esac
  fi
  print_step "all results: $files, build/bench.csv"
  print_step "as an HTML page: ./run build, then build/bin/gdrkit report $files -o build/bench.html"
}

# Removes the note about the emulated device, which the first results already printed.
without_note() { awk 'NR == 1 && /^NOTE: / { in_note = 1; next } in_note && /^  / { next } { in_note = 0; print }'; }
