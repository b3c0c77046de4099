#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Installs, uses, upgrades and removes the packages in a fresh Debian, as root: ./run test package starts it there. Prints a line
# for each test, "PASS name" or "FAIL name: why"; the first failure ends it.
#   usage: in_debian.sh FILES     FILES: a folder with new/ and old/ (debs), archive.tar.gz, and version
set -uo pipefail

files=$(cd -- "$1" && pwd)
tree=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
stands_in=$files/stands_in # debs that play NVIDIA's and GDRCopy's
version=$(cat "$files/version")
export DEBIAN_FRONTEND=noninteractive

# shellcheck source=tests/package/stand_ins.sh
source "$tree/tests/package/stand_ins.sh"

fail() {
  echo "FAIL $test: $*"
  exit 1
}

# A command that has to succeed; what it says is shown if it does not.
must() {
  "$@" >"$files/said" 2>&1 || {
    tail -n 40 "$files/said"
    fail "'$*' failed"
  }
}

must_say() { # fragment command...
  local fragment=$1
  shift
  must "$@"
  grep -F -- "$fragment" "$files/said" >/dev/null || {
    tail -n 40 "$files/said"
    fail "'$*' does not say '$fragment'"
  }
}

install_debs() { must apt-get install -y --no-install-recommends "$@"; }
is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed >/dev/null; }
module() { echo "/lib/modules/$linux/updates/dkms/$1.ko"; }

# Every file but those that Debian's own tools keep, which differ after any installation.
list_system() {
  find / -xdev \( -path /root -o -path /tmp -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
    -o -path /run -o -path /proc -o -path /sys -o -path /dev -o -path '/lib/modules/*/modules.*' -o -path '/usr/lib/modules/*/modules.*' \
    -o -path /var/lib/dkms/mok.key -o -path /var/lib/dkms/mok.pub \) -prune -o -print | LC_ALL=C sort
}

expect_nothing_left() {
  list_system >"$files/after"
  diff "$files/before" "$files/after" >"$files/said" || {
    cat "$files/said"
    fail "files were left, or went"
  }
}

test_dkms_waits_for_the_driver() {
  install_debs "$files/new/"gdrkit-dkms_*.deb
  [ ! -e "$(module gdrdrv)" ] || fail "a module was built without a driver"
  # The driver comes later: its package triggers ours.
  install_debs "$stands_in/"nvidia-stand-in_*.deb
  [ -e "$(module gdrdrv)" ] || fail "the driver came, and no module was built"
  must apt-get purge -y gdrkit-dkms
}

test_old_version_replaces_gdrcopys() {
  install_debs "$stands_in"/{libgdrapi,gdrdrv-dkms,gdrcopy-tests}_*.deb
  must_say "2.5.1" modinfo -F version "$(module gdrdrv)"
  install_debs "$files/old"/*.deb
  local package
  for package in libgdrapi gdrdrv-dkms gdrcopy-tests; do
    ! is_installed "$package" || fail "$package is still installed"
  done
  must_say "gdrkit/0.0.9" dkms status
  [ ! -e /var/lib/dkms/gdrdrv ] || fail "DKMS still has GDRCopy's module"
}

test_upgrade() {
  install_debs "$files/new"/*.deb
  must_say "gdrkit/$version, $linux, $(uname -m): installed" dkms status
  ! grep -F 0.0.9 "$files/said" || fail "DKMS still has the old version"
  [ ! -e /usr/src/gdrkit-0.0.9 ] || fail "the sources of the old version are left"
  must_say "$version" gdrkit --version
}

test_modules_are_for_this_linux_and_signed() {
  local name
  for name in gdrkit_p2p_lock gdrdrv gdrkit_peermem; do
    must_say "$linux" modinfo -F vermagic "$(module "$name")"
    must_say "DKMS" modinfo -F signer "$(module "$name")"
  done
  # modprobe loads both before gdrdrv.
  must_say "gdrkit_p2p_lock" modinfo -F depends "$(module gdrdrv)"
  must_say "nvidia" modinfo -F depends "$(module gdrdrv)"
  must_say "softdep gdrkit_peermem pre: ib_core nvidia" modprobe -c
  must grep -x gdrdrv /usr/lib/modules-load.d/gdrkit.conf
}

test_tools_run() {
  GDRKIT_BACKEND=emulated must_say "emulated" gdrkit info
  GDRKIT_BACKEND=emulated must gdrkit sanity --time-limit 600
  GDRKIT_BACKEND=emulated must gdrcopy_sanity -t basic_cumemalloc -t data_validation_cumemalloc
  must_say "libgdrapi.so.2 " ldconfig -p
}

test_every_command_and_function_has_a_page() {
  local file name
  for file in $(dpkg -L gdrkit | grep ^/usr/bin/.); do must man -w 1 "${file##*/}"; done
  must_say "Measures the latency" man -P cat gdrkit-copylat
  for file in libgdrapi.so libgdrkit.so libgdrkit_shmem.so; do
    for name in $(nm -D --defined-only "/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/$file" | sed -n 's/.* T \(gdr[a-z_0-9]*\).*/\1/p'); do
      must man -w 3 "$name"
    done
  done
}

test_consumers_compile() {
  local project=$files/consumer
  mkdir -p "$project"
  cp "$tree"/tests/install/consumer/* "$tree"/examples/{first_copy.cpp,first_copy.c,drop_in.c,drop_in.h,shmem_ring.c} \
    "$tree/tests/shmem/compat/nvshmem_host.c" "$project/"
  must cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
  must cmake --build "$project/build"
  GDRKIT_BACKEND=emulated must_say "what the CPU stored" "$project/build/first_copy"
  GDRKIT_BACKEND=emulated must_say "PE 0 of 1: 100 rounds" "$project/build/shmem_ring"
  # shellcheck disable=SC2046 # options
  must gcc "$tree/examples/first_copy.c" $(pkg-config --cflags --libs gdrkit) -o "$project/first_copy_c"
  GDRKIT_BACKEND=emulated must_say "what the CPU stored" "$project/first_copy_c"
}

test_going_back_to_gdrcopys() {
  install_debs "$stands_in"/{libgdrapi,gdrdrv-dkms,gdrcopy-tests}_*.deb
  local package
  for package in libgdrapi2 libgdrkit-dev gdrkit gdrkit-dkms; do
    ! is_installed "$package" || fail "$package is still installed"
  done
  must_say "2.5.1" modinfo -F version "$(module gdrdrv)"
  [ ! -e /var/lib/dkms/gdrkit ] || fail "DKMS still has ours"
  must_say "stands in" gdrcopy_sanity
}

test_purge_leaves_nothing() {
  install_debs "$files/new"/*.deb
  must apt-get purge -y libgdrapi2 libgdrkit0 gdrkit-shmem libgdrkit-dev gdrkit gdrkit-dkms nvidia-stand-in
  expect_nothing_left
}

test_modules_built_before() {
  [ -d "$files/modules" ] || return 0
  local package release
  package=$(dpkg-deb -f "$files"/modules/*.deb Package)
  release=${package#gdrkit-modules-}
  make_deb "$(mktemp -d)" "$stands_in" "linux-image-$release" 1
  install_debs "$stands_in/linux-image-$release"_*.deb "$files/modules"/*.deb
  must_say "$release" modinfo -F vermagic "/lib/modules/$release/updates/gdrkit/gdrdrv.ko"
  must_say "gdrdrv-dkms" dpkg-query -s "$package"
  must apt-get purge -y "$package" "linux-image-$release"
  expect_nothing_left
}

test_archive_leaves_nothing() {
  must tar -xzf "$files/archive.tar.gz" -C "$files"
  must "$files"/gdrkit-*/install.sh
  GDRKIT_BACKEND=emulated must_say "emulated" /usr/local/bin/gdrkit info
  must_say "libgdrapi.so.2 (libc6,x86-64) => /usr/local/lib/libgdrapi.so.2" ldconfig -p
  must /usr/local/share/gdrkit/uninstall.sh
  expect_nothing_left
}

test=preparation
must apt-get update -qq
install_debs dkms linux-headers-amd64 gcc g++ make cmake ninja-build pkg-config dpkg-dev man-db kmod binutils openssl
for linux in /lib/modules/*/build; do linux=$(basename "${linux%/build}"); done
make_stand_ins "$stands_in" "$linux" "$tree"
list_system >"$files/before"
for test in dkms_waits_for_the_driver old_version_replaces_gdrcopys upgrade modules_are_for_this_linux_and_signed tools_run \
  every_command_and_function_has_a_page consumers_compile going_back_to_gdrcopys purge_leaves_nothing modules_built_before \
  archive_leaves_nothing; do
  "test_$test"
  echo "PASS $test"
done
echo "all tests of the packages ran"
