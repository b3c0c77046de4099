#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Cross-compiles the kernel modules for arm64, both flavours, against Debian's headers. Runs nothing.
#   usage: kernel/rig/cross.sh <directory for the JUnit file>
# Exit status: 0 built, or not possible here (the result contains the reason); 1 failed. GDRKIT_OFFLINE=1 disables
# downloads.
set -uo pipefail

kernel=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$kernel/../build/kernel"
build=$(cd "$kernel/../build/kernel" && pwd)
downloads=$build/packages
results=${1:-}
why_not="" linux_release="" linux_headers=""

# shellcheck source=kernel/rig/packages.sh
source "$kernel/rig/packages.sh"

write_result() { # JUnit element or "", status, text
  printf '<testsuite name="kernel"><testcase name="kernel.cross.arm64" status="%s">%s<system-out>%s</system-out></testcase></testsuite>\n' \
    "$2" "$1" "$(printf '%s' "$3" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')" >"$results/cross-kernel.xml"
}

cannot() {
  echo "skipped: kernel modules for arm64: $*"
  write_result '<skipped message="SKIP_NOT_HERE"/>' notrun "$*"
  exit 0
}

# Package lists for arm64 in a separate directory, so that this machine's package manager is not changed.
ensure_arm64_package_lists() {
  local directory=$downloads/lists-arm64
  mkdir -p "$directory/lists/partial" "$directory/cache/archives/partial"
  printf 'APT::Architectures { "%s"; "arm64"; };\nDir::State::Lists "%s/lists";\nDir::Cache "%s/cache";\n' \
    "$(dpkg --print-architecture)" "$directory" "$directory" >"$directory/apt.conf"
  export APT_CONFIG=$directory/apt.conf
  apt-cache show linux-headers-arm64:arm64 >/dev/null 2>&1 && return 0
  [ "${GDRKIT_OFFLINE:-0}" = 0 ] || return 1
  apt-get update -qq >/dev/null 2>&1
  apt-cache show linux-headers-arm64:arm64 >/dev/null 2>&1
}

fetch_headers() { # sets `linux_release`, `linux_headers`
  local directory packages
  linux_release=$(dependencies_of linux-headers-arm64:arm64 | sed -n 's/^linux-headers-\(.*\):arm64$/\1/p' | head -n 1)
  [ -n "$linux_release" ] || {
    why_not="cannot find the Debian package linux-headers-arm64"
    return 1
  }
  directory=$downloads/linux-$linux_release
  # The tools of the build run on this machine, so they have its architecture.
  mapfile -t packages < <(apt-cache show --no-all-versions "linux-headers-$linux_release:arm64" |
    sed -n 's/^Depends: //p' | grep -oE 'linux-(headers|kbuild)-[^ ,]+')
  packages+=("linux-headers-$linux_release:arm64")
  unpack "$directory" "${packages[@]}" || {
    why_not="cannot download the packages: ${packages[*]}"
    return 1
  }
  linux_headers=$directory/usr/src/linux-headers-$linux_release
}

[ -n "$results" ] || {
  echo "usage: kernel/rig/cross.sh <directory for the JUnit file>" >&2
  exit 2
}
mkdir -p "$results"
for tool in aarch64-linux-gnu-gcc-12 apt-get dpkg-deb make; do
  command -v "$tool" >/dev/null || cannot "$tool is not installed"
done
ensure_arm64_package_lists || cannot "cannot download the lists of Debian's packages for arm64"
fetch_headers || cannot "$why_not"
if output=$(CROSS_COMPILE=aarch64-linux-gnu- "$kernel/build.sh" "$linux_headers" --out "$build" 2>&1); then
  echo "$output"
  write_result "" run "$output"
else
  echo "FAIL kernel.cross.arm64: $output"
  write_result '<failure message="see the output"/>' fail "$output"
  exit 1
fi
