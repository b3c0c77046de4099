# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests in clean Debian systems: the commands of the documentation, the run-time image, and the whole test suite with other
# compilers and libraries than this machine's. Also builds the documentation site.

container_directory=${GDRKIT_CONTAINER_DIRECTORY:-/var/tmp/gdrkit-containers}
distributions=${GDRKIT_DISTRIBUTIONS:-bookworm trixie} # Debian 12 and 13
distributions_directory=${GDRKIT_DISTRIBUTIONS_DIRECTORY:-/var/tmp/gdrkit-distributions}

build_docs() {
  provide "${needs_of_docs[@]}"
  lacks_any_of "${needs_of_docs[@]}" && die "cannot build the site: dependencies are missing, see above"
  print_step "building the documentation"
  python3 -B scripts/doc_site.py build/docs || die "doxygen reports warnings"
  print_step "the site is build/docs/html/index.html"
}

# Runs the commands of README and docs, unchanged (tests/package/run_pages.sh).
run_doc_tests() { # directory for the JUnit file; true unless a test failed
  local directory=$root/build/doc-tests line name cases="" failed=0
  mkdir -p "$1" "$directory"
  if [ "$(id -u)" -ne 0 ] || ! has_administrators_tool debootstrap; then
    write_skip docs "the tests of the documented commands require root and debootstrap, to make a clean Debian system" >"$1/docs.xml"
    echo "skipped: making a Debian system requires root and debootstrap (Debian: debootstrap)"
    return 0
  fi
  print_step "running the commands of README and docs in a clean Debian"
  rm -rf "$directory/files"
  python3 -B scripts/doc_commands.py "$directory/files"
  GDRKIT_DEBIAN_FILES=$directory/files bash scripts/clean_debian.sh "${GDRKIT_DEBIAN_DIRECTORY:-$directory/debian}" \
    bash tests/package/run_pages.sh /root/files 2>&1 | tee "$directory/log"
  grep -x "all pages ran" "$directory/log" >/dev/null || echo "FAIL docs: the pages did not finish" >>"$directory/log"
  while read -r line; do
    name=${line#* }
    case "$line" in
      PASS*) cases+="<testcase name=\"docs.${name%% *}\" status=\"run\"/>" ;;
      FAIL*)
        failed=1
        cases+="<testcase name=\"docs.${name%%: *}\" status=\"fail\"><failure message=\"see the output\"/></testcase>"
        ;;
    esac
  done < <(grep -E '^(PASS|FAIL) ' "$directory/log")
  printf '<testsuite name="docs">%s</testsuite>\n' "$cases" >"$1/docs.xml"
  return "$failed"
}

run_tests_of_docs() {
  provide python debootstrap
  run_and_summarise docs.xml run_doc_tests
}

# The run-time image as built by debootstrap and the recipe's own steps.
run_tests_of_containers() {
  local why=""
  provide python debootstrap "${needs_of_container_tests[@]}"
  [ "$(id -u)" -eq 0 ] || why="root is required to make a Debian system"
  has_tool debootstrap || has_administrators_tool debootstrap || why="debootstrap is missing (Debian: debootstrap)"
  has_tool python3 || why="python3 is missing"
  if [ -n "$why" ]; then
    note "skipped: the run-time image: $why"
    return 0
  fi
  print_step "building the run-time image's files in a clean Debian, in $container_directory (the last commit; about 10 minutes on two cores)"
  bash scripts/clean_debian.sh "$container_directory" packaging/containers/image.sh build /root/gdrkit /image || return 1
  make_image_root || return 1
  print_step "testing the run-time image"
  GDRKIT_IMAGE_ROOT=$container_directory/image GDRKIT_FULL=1 GDRKIT_BIN=$root/build/bin PYTHONPATH=$root/tests/support \
    python3 -B tests/containers/container_test.py
}

# Performs the Containerfile's second stage on the base of the first one.
make_image_root() {
  local image=$container_directory/image
  print_step "making the run-time image"
  rm -rf "$image"
  cp -a --reflink=auto "$container_directory/base" "$image"
  rm "$image/.is_complete"
  cp -L /etc/resolv.conf "$image/etc/resolv.conf"
  cp packaging/containers/image.sh "$image/tmp/image.sh"
  chroot "$image" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 /tmp/image.sh prepare >/dev/null || return 1
  rm "$image/tmp/image.sh"
  cp -a "$container_directory/system/image/." "$image/"
  # Mount points of the tests: runtimes create them, but a read-only root does not allow it.
  mkdir -p "$image/host" "$image/metrics"
}

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
    print_step "testing the last commit on a clean Debian $release, in $distributions_directory/$release"
    code=0
    { time bash scripts/clean_debian.sh --release "$release" "$distributions_directory/$release" ./run test "${arguments[@]}" 2>&1 |
      tee "build/$release.log"; } 2>"build/$release.times" || code=$?
    echo "$code" >"build/$release.code"
  done
  for release in $distributions; do
    report_distribution "$release" "$(cat "build/$release.code")" || failed=1
  done
  return "$failed"
}
