#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Installs, exchanges and removes the rpms by the commands of docs/packages.md, in a root that contains only a fake of
# the system. The packages' scripts do not run, because the root contains no shell. Prints nothing unless it fails.
#   usage: with_dnf.sh RPMS DIRECTORY     RPMS: the directory of the packages; DIRECTORY: for the root and the fake packages
set -euo pipefail

rpms=$(cd -- "$1" && pwd)
mkdir -p "$2"
directory=$(cd -- "$2" && pwd)
pages=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)/docs/packages.md
fakes=$directory/top/RPMS/noarch

fail() {
  echo "$*"
  exit 1
}

make_rpm() { # name, line of the spec
  printf '%s\n' "Name: $1" "Version: 2.5" "Release: 1" "Summary: a fake package" "License: MIT" "BuildArch: noarch" "$2" \
    "%description" "A fake package." "%files" >"$directory/$1.spec"
  rpmbuild -bb --quiet --define "_topdir $directory/top" "$directory/$1.spec" >"$directory/output" 2>&1 || fail "$(cat "$directory/output")"
}

dnf_in_root() { # directory with packages, words behind dnf
  (cd "$1" && bash -c "dnf -y --installroot='$directory/root' --releasever=1 --disablerepo='*' --nogpgcheck --noplugins \
    --setopt=tsflags=noscripts --setopt=cachedir='$directory/cache' $2") >"$directory/output" 2>&1 || fail "'dnf $2' failed: $(cat "$directory/output")"
}

# Runs a command of the page.
dnf_as_written() { # directory with packages, words it begins with
  local command
  command=$(grep -oE "\`$2[^\`]*\`" "$pages" | head -n 1 | tr -d '\`') || true
  [ -n "$command" ] || fail "docs/packages.md contains no command that begins with '$2'"
  dnf_in_root "$1" "${command#dnf }"
}

expect_installed() { # names in alphabetical order
  local names
  names=$(rpm --root "$directory/root" -qa --qf '%{NAME}\n' | LC_ALL=C sort | tr '\n' ' ')
  [ "$names" = "$* " ] || fail "installed '$names', expected '$*'"
}

rm -rf "$directory/root" "$directory/top" "$directory/ours"
ours=()
for rpm in "$rpms"/*.rpm; do
  case "${rpm##*/}" in kmod-*) ;; *) ours+=("$rpm") ;; esac # excludes gdrkit-dkms, as the page documents
done
mkdir "$directory/ours" && ln -s "${ours[@]}" "$directory/ours/"
make_rpm system "$(rpm -qp --requires "${ours[@]}" | grep -vE '^(rpmlib|gdrkit|libgdrkit|libgdrapi)' | sort -u | sed 's/^/Provides: /')"
for name in gdrcopy gdrcopy-kmod; do make_rpm "$name" ""; done
make_rpm gdrcopy-devel "Requires: gdrcopy = 2.5"
dnf_in_root "$fakes" "install ./*.rpm"
names=$(rpm -qp --qf '%{NAME}\n' "${ours[@]}" | LC_ALL=C sort)

dnf_as_written "$directory/ours" "dnf install --allowerasing \./\*"
# shellcheck disable=SC2086 # words
expect_installed $names system
dnf_as_written "$fakes" "dnf install --allowerasing \./gdrcopy"
# shellcheck disable=SC2046 # words
expect_installed gdrcopy gdrcopy-devel gdrcopy-kmod $(grep -xE 'gdrkit-shmem|libgdrkit0|python3-gdrkit' <<<"$names") system
dnf_as_written "$directory/ours" "dnf install --allowerasing \./\*"
dnf_as_written "$directory/ours" "dnf remove"
expect_installed system
[ -z "$(find "$directory/root" -name '*gdr*' ! -path '*/var/*')" ] || fail "left: $(find "$directory/root" -name '*gdr*' ! -path '*/var/*')"
