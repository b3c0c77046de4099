# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The commands build, test and bench.

configure() { # preset [cmake options...]
  local preset=$1 folder
  shift
  folder=$(folder_of "$preset")
  # A tree that was moved after a build: CMake refuses a cache made for another path.
  if [ -e "$folder/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  fi
  mkdir -p "$folder"
  cmake --preset "$preset" -DGDRKIT_UNITY=ON "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log"
    die "configuring preset '$preset' failed"
  }
}

folder_of() { if [ "$1" = release ]; then echo build; else echo "build-$1"; fi; }

launcher=() # what builds and tests are started by

compile() { # preset [targets...]
  local preset=$1 folder
  shift
  folder=$(folder_of "$preset")
  build_folder "$folder" "$folder/build.log" ${1:+--target "$@"} || die "cannot build preset '$preset'; the whole log is $folder/build.log"
}

build_folder() { # folder log [options of cmake --build...]
  local folder=$1 log=$2
  shift 2
  NINJA_STATUS='[%f/%t] ' "${launcher[@]}" cmake --build "$folder" --parallel "$(jobs_here)" "$@" 2>&1 |
    tee "$log" | progress_of_ninja | show_progress && return 0
  failures_in "$log" >&2
  return 1
}

on_or_off() { if "$@"; then echo ON; else echo OFF; fi; }

# The words differ in what is built, not in how: one configuration of build/ serves build, bench and test.
configure_release() { # cmake options...
  local options=(-DGDRKIT_GPU_KERNELS=AUTO "$@")
  lacks_any_of "${needs_of_library[@]}" && die "the build cannot start here without what is named above"
  local programs tests
  programs=$(on_or_off has_all "${needs_of_programs[@]}")
  tests=$(on_or_off has_googletest)
  options+=("-DGDRKIT_BUILD_TOOLS=$programs" "-DGDRKIT_BUILD_TESTS=$tests")
  local python
  python=$(python_for_package)
  options+=("-DGDRKIT_BUILD_PYTHON=$(on_or_off [ -n "$python" ])" "-DPython_EXECUTABLE=$python")
  # Warnings stop the build where the compiler is known, not on every compiler that a user may bring.
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
  say "building the release"
  build_programs
  compile release gdrkit_installed # pages of the manual too
  say "programs in build/bin, libraries in build/lib"
}

# A thousand lines that say "Passed" hide the few that do not; skipped ones are summed up at the end.
without_passed() { grep --line-buffered -vE '^ +Start +[0-9]+: |\.(  *Passed|\*\*\*Skipped) +[0-9.]+ sec$'; }

run_ctest() { # preset results-file
  rm -f "$2"
  "${launcher[@]}" ctest --preset "$1" --parallel "$(jobs_here)" --output-junit "$2" | without_passed
}

# Address and undefined behaviour: all tests that are C++. Those in Python run the program and stay with the release.
test_addresses() { # results folder
  say "building with the address and undefined-behaviour sanitizers"
  configure asan "-DGDRKIT_BUILD_TOOLS=$(on_or_off has_all "${needs_of_programs[@]}")" "-DGDRKIT_BUILD_EXAMPLES=OFF" "-DGDRKIT_GPU_KERNELS=OFF"
  compile asan
  say "testing with these sanitizers: unit, conformance, fuzz"
  run_ctest asan "$1/asan.xml"
}

# Threads: what has the label "threads", and only that is built.
test_threads() { # results folder
  local launcher=() why
  say "building with the thread sanitizer"
  # That of GCC 12 ends every program at its start where Linux places mappings in more than 28 random bits
  # (vm.mmap_rnd_bits); newer ones start such a program again without randomisation, as is done here for all.
  ! setarch "$(uname -m)" -R true 2>/dev/null || launcher=(setarch "$(uname -m)" -R)
  if ! why=$(can_sanitize_threads 2>&1); then
    note "skipped: the thread sanitizer does not work here: $(head -n 1 <<<"$why")"
    write_skip tsan "the thread sanitizer does not work here" >"$1/tsan.xml"
    return 0
  fi
  configure tsan "-DGDRKIT_BUILD_TOOLS=$(on_or_off has_all "${needs_of_programs[@]}")" "-DGDRKIT_BUILD_EXAMPLES=OFF" "-DGDRKIT_GPU_KERNELS=OFF"
  compile tsan threads_tests
  say "testing with the thread sanitizer: threads"
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

run_tests() {
  local results=$root/build/test-results failed=0
  # Tests that can do more do it when this is set: more simulated runs, sizes of a browser's window, seeds.
  [ "$full" = 0 ] || export GDRKIT_FULL=1
  [ "$full" = 0 ] || provide "${needs_of_slurm_tests[@]}"
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_tests[@]}" "${needs_of_browser_tests[@]}" \
    "${needs_of_kernel_tests[@]}" "${needs_of_trace_tests[@]}" "${needs_of_format_tests[@]}" "${needs_of_install_tests[@]}" \
    "${needs_of_remote_tests[@]}" "${needs_of_mpi_tests[@]}" "${needs_of_container_tests[@]}" "${needs_of_arm64[@]}" "${needs_of_compiler_tests[@]}" "${needs_of_abi_tests[@]}"
  [ "$offline" = 1 ] || bash scripts/clang_format.sh --fetch >/dev/null || note "the check of the format is left out, for the reason above"
  is_missing googletest && die "the tests cannot be built here without what is named above"
  mkdir -p "$results"
  rm -f "$results"/*.xml
  say "building the release and its tests"
  configure_release
  compile release
  say "testing the release"
  run_ctest release "$results/release.xml" || failed=1
  if [ "$sanitizers" = 1 ]; then
    test_addresses "$results" || failed=1
    test_threads "$results" || failed=1
  fi
  run_cross_tests "$results" "$full" || failed=1
  run_kernel_tests "$results" "$full" || failed=1
  if [ "$full" = 1 ]; then run_tests_of_containers || failed=1; fi
  if [ "$full" = 1 ]; then
    provide "${needs_of_packages[@]}" "${needs_of_package_tests[@]}"
    (run_package_tests "$results") || failed=1
    run_doc_tests "$results" || failed=1
  fi
  say "all tests"
  if has_tool python3; then
    python3 scripts/summarise_tests.py "$results"/*.xml || failed=1
  fi
  return "$failed"
}

# Whether a driver runs GPUs here: that of Linux, of a Jetson or of WSL.
has_gpu() {
  compgen -G "${gpu_nodes:-/dev}/nvidia[0-9]*" >/dev/null || [ -e "${gpu_nodes:-/dev}/nvhost-gpu" ] || [ -e "${gpu_nodes:-/dev}/dxg" ]
}

# Sets `gdrkit` to a program that has the subcommands bench and tune.
build_bench_program() {
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}"
  if ! lacks_any_of "${needs_of_library[@]}" "${needs_of_programs[@]}"; then
    say "building the benchmark"
    configure_release
    compile release gdrkit_bench_program
    gdrkit=build/bench/gdrkit
  elif [ -x build/bin/gdrkit ]; then
    note "nothing can be built here; using the programs that are in build/bin"
    gdrkit=build/bin/gdrkit
  else
    die "no programs in build/bin, and they cannot be built here without what is named above"
  fi
}

run_benchmarks() {
  local gdrkit files="build/bench.json" code=0
  build_bench_program
  if [ -z "${GDRKIT_BACKEND:-}" ] && ! has_gpu; then
    note "no GPU here: measuring the emulated device (GDRKIT_BACKEND=emulated)"
    export GDRKIT_BACKEND=emulated
  fi
  say "first figures (some seconds)"
  "$gdrkit" bench --quick --only copies,costs
  say "measuring everything (about a minute; the table comes at the end)"
  "$gdrkit" bench --json build/bench.json --csv build/bench.csv | without_note
  if [ "${GDRKIT_BACKEND:-}" != emulated ]; then
    say "measuring the engines of copies (some seconds)"
    # The benchmark leaves no profile in the user's cache folder; only gdrkit tune does.
    XDG_CACHE_HOME=$PWD/build/cache "$gdrkit" tune --json build/engines.json || code=$?
    case $code in
      0) files+=" build/engines.json" ;;
      77) note "skipped: the engines cannot run here, for the reason above" ;;
      *) return "$code" ;;
    esac
  fi
  say "all figures: $files, build/bench.csv"
  say "as a page: ./run build, then build/bin/gdrkit report $files -o build/bench.html"
}

# Removes the first lines about the emulated device, which the first figures had already.
without_note() { awk 'NR == 1 && /^NOTE: / { in_note = 1; next } in_note && /^  / { next } { in_note = 0; print }'; }
