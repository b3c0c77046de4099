#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Installs, uses, upgrades and removes the packages in a fresh Debian, as root: ./run test package starts it there. Prints a line
# for each test, "PASS name" or "FAIL name: reason"; the first failure ends it.
#   usage: in_debian.sh FILES     FILES: a directory with new/ and old/ (debs), archive.tar.gz, version, and if they could be
#                                 made modules/ (the deb of prebuilt modules) and cert.pem (the signing certificate)
set -uo pipefail

files=$(cd -- "$1" && pwd)
tree=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
fakes=$files/fakes # fakes of NVIDIA's and GDRCopy's packages
pages=$tree/docs/packages.md
version=$(cat "$files/version")
export DEBIAN_FRONTEND=noninteractive

# shellcheck source=tests/package/fake_packages.sh
source "$tree/tests/package/fake_packages.sh"

fail() {
  echo "FAIL $test: $*"
  exit 1
}

# Runs a command that must succeed; prints its output if it fails.
must() {
  "$@" >"$files/output" 2>&1 || {
    tail -n 40 "$files/output"
    fail "'$*' failed"
  }
}

must_print() { # fragment command...
  local fragment=$1
  shift
  must "$@"
  grep -F -- "$fragment" "$files/output" >/dev/null || {
    tail -n 40 "$files/output"
    fail "the output of '$*' does not contain '$fragment'"
  }
}

install_debs() { must apt-get install -y --no-install-recommends "$@"; }

# Prints a command of docs/packages.md, selected by its first words.
written() { # words
  local command
  command=$(grep -oE "\`(sudo )?$1[^\`]*\`" "$pages" | head -n 1 | tr -d '\`')
  [ -n "$command" ] || fail "docs/packages.md contains no command that begins with '$1'"
  sed 's/^sudo //; s/^\(apt [a-z]*\)/\1 -y/' <<<"$command"
}

is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed >/dev/null; }
module() { echo "/lib/modules/$linux/updates/dkms/$1.ko"; }

# Lists every file except those that Debian's own tools keep, which differ after any installation.
list_system() {
  find / -xdev \( -path /root -o -path /tmp -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
    -o -path /run -o -path /proc -o -path /sys -o -path /dev -o -path '/lib/modules/*/modules.*' -o -path '/usr/lib/modules/*/modules.*' \
    -o -path /var/lib/dkms/mok.key -o -path /var/lib/dkms/mok.pub \) -prune -o -print | LC_ALL=C sort
}

expect_nothing_left() {
  list_system >"$files/after"
  diff "$files/before" "$files/after" >"$files/output" || {
    cat "$files/output"
    fail "files were left or removed"
  }
}

test_dkms_waits_for_the_driver() {
  install_debs "$files/new/"gdrkit-dkms_*.deb
  [ ! -e "$(module gdrdrv)" ] || fail "a module was built without a driver"
  # The driver is installed later: its package triggers ours.
  install_debs "$fakes/"nvidia-fake_*.deb
  [ -e "$(module gdrdrv)" ] || fail "the driver was installed, but no module was built"
  must apt-get purge -y gdrkit-dkms
}

# The compiler of Linux fails: dpkg must have the package configured, and build once the compiler works.
test_failed_build_leaves_dpkg_configured() {
  local compiler
  compiler=/usr/local/bin/gcc-$(sed -n 's/^CONFIG_GCC_VERSION=\(.*\)0[0-9]0[0-9]$/\1/p' "/lib/modules/$linux/build/include/config/auto.conf")
  # shellcheck disable=SC2016 # expanded by the compiler
  printf '#!/bin/sh\n[ "$1" = -dumpversion ] && exec /usr/bin/%s "$@"\nexit 1\n' "${compiler##*/}" >"$compiler"
  chmod +x "$compiler"
  must_print "gdrkit-dkms: cannot build the kernel modules" apt-get install -y "$files/new/"gdrkit-dkms_*.deb
  is_installed gdrkit-dkms || fail "the package is half-configured"
  [ ! -e "$(module gdrdrv)" ] || fail "a module was built without a compiler"
  rm "$compiler"
  must "/usr/src/gdrkit-$version/dkms_install.sh" add
  [ -e "$(module gdrdrv)" ] || fail "no module was built"
  must apt-get purge -y gdrkit-dkms
}

test_old_version_replaces_gdrcopys() {
  install_debs "$fakes"/{libgdrapi,gdrdrv-dkms,gdrcopy-tests}_*.deb
  must_print "2.5.1" modinfo -F version "$(module gdrdrv)"
  install_debs "$files/old"/*.deb
  local package
  for package in libgdrapi gdrdrv-dkms gdrcopy-tests; do
    ! is_installed "$package" || fail "$package is still installed"
  done
  must_print "gdrkit/0.0.9" dkms status
  [ ! -e /var/lib/dkms/gdrdrv ] || fail "DKMS still has GDRCopy's module"
}

test_upgrade() {
  cd "$files/new" || fail "cannot enter the packages' directory"
  must bash -c "$(written "apt install \./\*")"
  cd "$tree" || fail "cannot enter the tree"
  must_print "gdrkit/$version, $linux, $(uname -m): installed" dkms status
  ! grep -F 0.0.9 "$files/output" || fail "DKMS still has the old version"
  [ ! -e /usr/src/gdrkit-0.0.9 ] || fail "the sources of the old version still exist"
  must_print "$version" gdrkit --version
}

test_modules_are_for_this_linux_and_signed() {
  local name
  for name in gdrkit_p2p_lock gdrdrv gdrkit_peermem; do
    must_print "$linux" modinfo -F vermagic "$(module "$name")"
    must_print "DKMS" modinfo -F signer "$(module "$name")"
  done
  must test -e "$(grep -o '/var/lib/dkms/[a-z.]*' "$pages")" # the key to enrol
  # modprobe loads both before gdrdrv.
  must_print "gdrkit_p2p_lock" modinfo -F depends "$(module gdrdrv)"
  must_print "nvidia" modinfo -F depends "$(module gdrdrv)"
  must_print "softdep gdrkit_peermem pre: ib_core nvidia" modprobe -c
  must grep -x gdrdrv /usr/lib/modules-load.d/gdrkit.conf
}

test_tools_run() {
  GDRKIT_BACKEND=emulated must_print "emulated" gdrkit info
  GDRKIT_BACKEND=emulated must gdrkit sanity --time-limit 600
  GDRKIT_BACKEND=emulated must gdrcopy_sanity -t basic_cumemalloc -t data_validation_cumemalloc
  must_print "libgdrapi.so.2 " ldconfig -p
}

test_every_command_and_function_has_a_page() {
  local file name
  for file in $(dpkg -L gdrkit | grep ^/usr/bin/.); do must man -w 1 "${file##*/}"; done
  must_print "Measures the latency" man -P cat gdrkit-copylat
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
  GDRKIT_BACKEND=emulated must_print "what the CPU stored" "$project/build/first_copy"
  GDRKIT_BACKEND=emulated must_print "PE 0 of 1: 100 rounds" "$project/build/shmem_ring"
  # shellcheck disable=SC2046 # options
  must gcc "$tree/examples/first_copy.c" $(pkg-config --cflags --libs gdrkit) -o "$project/first_copy_c"
  GDRKIT_BACKEND=emulated must_print "what the CPU stored" "$project/first_copy_c"
}

test_python_package() {
  local first
  # shellcheck disable=SC2016 # no variables
  first=$(sed -n '/^```python/,/^```/{/^```/!p}; /^It prints/q' "$tree/docs/python.md")
  GDRKIT_BACKEND=emulated must_print "b'hello GPU' 1" python3 -c "$first"
  GDRKIT_BACKEND=emulated must_print "emulated: the device has what the CPU stored" python3 "$tree/examples/python/first_copy.py"
  must_print "PE 1 of 2: 100 rounds" gdrkit run -n 2 --emulated -- python3 "$tree/examples/python/shmem_ring.py"
  must_print "/usr/lib/python3/dist-packages/gdrkit/" python3 -c 'import gdrkit; print(gdrkit.__file__)'
}

test_going_back_to_gdrcopys() {
  cd "$fakes" || fail "cannot enter the directory of the fake packages"
  must bash -c "$(written "apt install \./libgdrapi_")"
  cd "$tree" || fail "cannot enter the tree"
  local package
  for package in libgdrapi2 libgdrkit-dev gdrkit gdrkit-dkms; do
    ! is_installed "$package" || fail "$package is still installed"
  done
  must_print "2.5.1" modinfo -F version "$(module gdrdrv)"
  [ ! -e /var/lib/dkms/gdrkit ] || fail "DKMS still has our module"
  install_debs "$fakes"/gdrcopy-tests_*.deb
  must_print "fake tool" gdrcopy_sanity
}

test_purge_leaves_nothing() {
  install_debs "$files/new"/*.deb
  must bash -c "$(written "apt purge")"
  must apt-get purge -y nvidia-fake
  expect_nothing_left
}

# What Linux checks before it loads a module: that the bytes after its last section are a signature, by the key, of all
# before.
is_signed() { # module
  local signature_size content_size
  signature_size=$((16#$(tail -c 32 "$1" | head -c 4 | od -An -tx1 | tr -d ' \n')))
  content_size=$(($(stat -c %s "$1") - 40 - signature_size))
  head -c "$content_size" "$1" >"$files/content"
  tail -c $((40 + signature_size)) "$1" | head -c "$signature_size" >"$files/signature"
  openssl cms -verify -binary -inform DER -in "$files/signature" -content "$files/content" -certfile "$files/cert.pem" -noverify \
    -out /dev/null 2>"$files/output"
}

expect_signature() { # module
  local signer
  signer=$(openssl x509 -in "$files/cert.pem" -noout -subject -nameopt multiline | sed -n 's/.*commonName *= //p')
  must_print "$signer" modinfo -F signer "$1"
  is_signed "$1" || fail "$1: the signature is not that of cert.pem: $(cat "$files/output")"
  cp "$1" "$files/changed.ko"
  printf 'x' | dd of="$files/changed.ko" bs=1 seek=4096 conv=notrunc status=none
  ! is_signed "$files/changed.ko" || fail "the signature does not cover the module's bytes"
}

test_modules_built_before() {
  local package release name
  package=$(dpkg-deb -f "$files"/modules/*.deb Package)
  release=${package#gdrkit-modules-}
  make_deb "$(mktemp -d)" "$fakes" "linux-image-$release" 1
  install_debs "$fakes/linux-image-$release"_*.deb "$files/modules"/*.deb
  must_print "$release" modinfo -F vermagic "/lib/modules/$release/updates/gdrkit/gdrdrv.ko"
  must_print "gdrdrv-dkms" dpkg-query -s "$package"
  if [ -e "$files/cert.pem" ]; then
    for name in gdrkit_p2p_lock gdrdrv gdrkit_peermem; do expect_signature "/lib/modules/$release/updates/gdrkit/$name.ko"; done
  fi
  must apt-get purge -y "$package" "linux-image-$release"
  expect_nothing_left
}

test_archive_leaves_nothing() {
  must tar -xzf "$files/archive.tar.gz" -C "$files"
  must "$files"/gdrkit-*/install.sh
  GDRKIT_BACKEND=emulated must_print "emulated" /usr/local/bin/gdrkit info
  must_print "libgdrapi.so.2 (libc6,x86-64) => /usr/local/lib/libgdrapi.so.2" ldconfig -p
  must /usr/local/share/gdrkit/uninstall.sh
  expect_nothing_left
}

test_archive_with_modules() {
  install_debs "$fakes/"nvidia-fake_*.deb
  # The scripts do not change a version that another package or archive installed.
  mkdir /usr/src/gdrkit-0.0.1
  printf '#!/bin/sh\ntouch /usr/src/gdrkit-0.0.1/was_called\n' >/usr/src/gdrkit-0.0.1/dkms_install.sh
  chmod +x /usr/src/gdrkit-0.0.1/dkms_install.sh
  must "$files"/gdrkit-*/install.sh --prefix /opt/gdrkit --modules
  must "$files"/gdrkit-*/install.sh --prefix /opt/gdrkit --modules
  # shellcheck disable=SC2016
  must_print "comes from a package or another prefix" sh -c '! "$0" --prefix /opt/other --modules' "$files"/gdrkit-*/install.sh
  [ -e "$(module gdrdrv)" ] || fail "no module was built"
  GDRKIT_BACKEND=emulated must_print "emulated" /opt/gdrkit/bin/gdrkit info
  must /opt/gdrkit/share/gdrkit/uninstall.sh
  if [ ! -e /usr/src/gdrkit-0.0.1/dkms_install.sh ] || [ -e /usr/src/gdrkit-0.0.1/was_called ]; then fail "another version was touched"; fi
  rm -r /usr/src/gdrkit-0.0.1
  must apt-get purge -y nvidia-fake
  [ ! -d /opt/gdrkit ] || rmdir /opt/gdrkit # the directory of --prefix stays
  expect_nothing_left
}

# The driver's source without its modules: the symbol versions come from another build.
test_symbol_versions_of_another_build() {
  install_debs "$fakes/"nvidia-fake_*.deb
  mv "/lib/modules/$linux/updates/nvidia.ko" "$files/"
  must_print "NVIDIA's driver is not built" apt-get install -y "$files/new/"gdrkit-dkms_*.deb
  [ ! -e "$(module gdrdrv)" ] || fail "a module was built without symbol versions"
  must env "GDRKIT_NVIDIA_SYMVERS=$fakes/nvidia.symvers" "/usr/src/gdrkit-$version/dkms_install.sh" add
  [ -e "$(module gdrdrv)" ] || fail "no module was built"
  mv "$files/nvidia.ko" "/lib/modules/$linux/updates/"
  must apt-get purge -y gdrkit-dkms nvidia-fake
  expect_nothing_left
}

test=preparation
must apt-get update -qq
echo "installing the dependencies of the tests"
install_debs dkms linux-headers-amd64 gcc g++ make cmake ninja-build pkg-config dpkg-dev man-db kmod binutils openssl python3
for linux in /lib/modules/*/build; do linux=$(basename "${linux%/build}"); done
make_fake_packages "$fakes" "$linux" "$tree"
list_system >"$files/before"
tests=(dkms_waits_for_the_driver failed_build_leaves_dpkg_configured old_version_replaces_gdrcopys upgrade modules_are_for_this_linux_and_signed tools_run
  every_command_and_function_has_a_page consumers_compile)
! compgen -G "$files/new/python3-gdrkit_*.deb" >/dev/null || tests+=(python_package)
tests+=(going_back_to_gdrcopys purge_leaves_nothing)
[ ! -d "$files/modules" ] || tests+=(modules_built_before)
tests+=(archive_leaves_nothing archive_with_modules symbol_versions_of_another_build)
for test in "${tests[@]}"; do
  began=$SECONDS
  "test_$test"
  echo "PASS $test"
  echo "   $((SECONDS - began)) s"
done
echo "all tests of the packages ran"
