#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Builds the kernel modules against Debian's Linux and tests them in a virtual machine.
#   usage: kernel/rig/run.sh [--full] <directory for the JUnit files>
# Exit status: 0 passed, or not possible here (the results contain the reason); 1 failed, or not possible although
# GDRKIT_REQUIRE contains "kernel". GDRKIT_OFFLINE=1 disables downloads. GDRKIT_KERNEL_LINUX selects the Linux to boot:
# the name of Debian's package after "linux-image-" (amd64), or "checked" for the debug build of checked.sh.
# GDRKIT_KERNEL_INSTALLED: a directory with unpacked packages, modules included; then only they are tested.
set -uo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$kernel/../build/kernel"
build=$(cd "$kernel/../build/kernel" && pwd)
downloads=$build/packages
programs=$build/tests
scratch=$build/rig
full=0
checked=0 # 1 while the debug Linux of checked.sh runs
results=""
limit_s=600 # for one machine on a busy host; on two idle processors a machine needs less than a third
why_not=""
linux_release="" linux_headers="" linux_image="" busybox=""

# shellcheck source=kernel/rig/packages.sh
source "$kernel/rig/packages.sh"
# shellcheck source=kernel/rig/machine.sh
source "$kernel/rig/machine.sh"
# shellcheck source=kernel/rig/checked.sh
source "$kernel/rig/checked.sh"

# Records a failure outside the machine in the results.
failed_outside() { # name
  printf '<testsuite name="kernel"><testcase name="kernel.%s" status="fail"><failure message="see the output"/></testcase></testsuite>\n' \
    "$1" >"$results/kernel-$1.xml"
  echo "FAIL kernel.$1" >&2
}

cannot() { skip_all kernel kernel "$@"; } # reason

usage() {
  printf 'error: %s\nusage: kernel/rig/run.sh [--full] <directory for the JUnit files>\n' "$*" >&2
  exit 2
}

for argument in "$@"; do
  case "$argument" in
    --full) full=1 ;;
    -*) usage "unknown option '$argument'" ;;
    *) results=$argument ;;
  esac
done
[ -n "$results" ] || usage "missing directory for the JUnit files"
[ "$full" = 0 ] || limit_s=3000

check_tools() {
  local tool
  [ "$(uname -m)" = x86_64 ] || cannot "the virtual machine requires x86-64, but this machine is $(uname -m)"
  for tool in qemu-system-x86_64 apt-get dpkg-deb cpio make gcc strip; do
    command -v "$tool" >/dev/null || cannot "$tool is not installed"
  done
  ensure_package_lists || cannot "cannot download the lists of Debian packages"
}

# Tests of the finished build. Each is a script that prints nothing unless it fails. They run concurrently, because most
# of them build modules, which keeps one processor busy.
test_outside() {
  local script name failed=0 cases="" output=$scratch/outside
  rm -rf "$output"
  mkdir -p "$output"
  # shellcheck disable=SC2016 # expanded by the inner bash
  printf '%s\n' "$kernel"/rig/outside/*_test.sh |
    RIG_HEADERS=$linux_headers RIG_RELEASE=$linux_release RIG_BUILD=$build/$linux_release RIG_OUTPUT=$output \
      xargs -P "$(nproc)" -I '{}' bash -c 'bash "$1" >"$RIG_OUTPUT/${1##*/}" 2>&1 && : >"$RIG_OUTPUT/${1##*/}.passed"' bash '{}'
  for script in "$kernel"/rig/outside/*_test.sh; do
    name=kernel.outside.$(basename "$script" _test.sh)
    if [ -e "$output/${script##*/}.passed" ]; then
      cases+="<testcase name=\"$name\" status=\"run\"/>"
    else
      cases+="<testcase name=\"$name\" status=\"fail\"><failure message=\"see the output\"/></testcase>"
      printf 'FAIL %s: %s\n' "$name" "$(cat "$output/${script##*/}")"
      failed=1
    fi
  done
  printf '<testsuite name="kernel">%s</testsuite>\n' "$cases" >"$results/kernel-outside.xml"
  return "$failed"
}

# Boots one Linux with both flavours.
test_in_machine() { # name after "linux-image-"
  fetch_linux "$1" image || return 77
  if [ -n "${GDRKIT_KERNEL_INSTALLED:-}" ]; then test_fetched open; else test_fetched "open proprietary"; fi
}

# Boots the debug Linux with the open flavour: loading a proprietary module disables lockdep. Skips the long tests,
# which are too slow there.
test_in_checked_machine() {
  local full=0 limit_s=3000 checked=1 memory_mb=1280
  build_checked_linux || return 77
  test_fetched open
}

build_modules() { # flavour
  "$kernel/build.sh" "$linux_headers" --flavour "$1" --out "$build" && return
  failed_outside "build-$linux_release"
  return 1
}

# Builds for and boots the Linux that fetch_linux or build_checked_linux has selected.
test_fetched() { # flavours
  local began=$SECONDS status flavour=both
  [ "$1" = "open proprietary" ] || flavour=$1
  build_modules "$flavour" || return 1
  make_file_system "$linux_release" "$1" "$scratch/$linux_release.cpio.gz" || return 1
  run_machine "$linux_image" "$scratch/$linux_release.cpio.gz" "$scratch/$linux_release.log" "$limit_s"
  status=$?
  [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || echo "the machine was stopped after its time limit of $limit_s s"
  python3 "$kernel/rig/console_to_junit.py" "$scratch/$linux_release.log" "$linux_release" \
    "$results/kernel-$linux_release.xml" || return 1
  echo "Linux $linux_release took $((SECONDS - began)) s including builds"
}

# Omits Debian 12's newer Linux if it is the default "amd64", as in Debian 13.
other_versions() { # names after "linux-image-"
  local name
  for name in "$@"; do
    [[ $(release_of_package amd64) == "${name%%-*}".* ]] || echo "$name"
  done
}

# shellcheck disable=SC2317 # called by attempt
build_only() { # name after "linux-image-"
  fetch_linux "$1" headers || return 77
  build_modules both
}

# For more versions: what is impossible here is a failure, too.
attempt() { # command...
  "$@" && return
  [ -z "$why_not" ] || echo "$why_not"
  failed=1
}

check_tools
fetch_busybox || cannot "$why_not"
mkdir -p "$results" "$scratch"
build_programs_of_groups "$programs" || {
  failed_outside programs
  exit 1
}
failed=0
if [ "${GDRKIT_KERNEL_LINUX:-amd64}" = checked ]; then test_in_checked_machine; else test_in_machine "${GDRKIT_KERNEL_LINUX:-amd64}"; fi
case $? in
  0) ;;
  77) cannot "$why_not" ;;
  *) failed=1 ;;
esac
# GDRKIT_KERNEL_TESTS selects tests in the machine only.
if [ -z "${GDRKIT_KERNEL_TESTS:-}${GDRKIT_KERNEL_INSTALLED:-}" ] && [ "${GDRKIT_KERNEL_LINUX:-}" != checked ] && [ ! -e "$results/kernel-build-$linux_release.xml" ]; then test_outside || failed=1; fi
if [ "$full" = 1 ]; then
  for name in $(other_versions rt-amd64 6.12-amd64); do attempt test_in_machine "$name"; done
  attempt test_in_checked_machine
  for name in $(other_versions cloud-amd64 6.12-rt-amd64); do attempt build_only "$name"; done
fi
exit "$failed"
