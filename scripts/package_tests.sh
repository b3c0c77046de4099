# shellcheck shell=bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests the packages: builds them twice and compares the bytes, lints them, and compares rpms with debs. Then uses them
# in a fresh Debian system (tests/package/in_debian.sh) with an older version, fakes of GDRCopy's packages, and DKMS.

package_cases=""
package_failed=0

step() { print_step "$((SECONDS / 60)) min: $*"; }

package_result() { # name, status, text
  local text
  text=$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"${3:-}")
  case "$2" in
    pass) package_cases+="<testcase name=\"package.$1\" status=\"run\"/>" ;;
    skip)
      echo "skipped: package.$1: ${3:-}"
      package_cases+="<testcase name=\"package.$1\" status=\"notrun\"><skipped message=\"SKIP_NOT_HERE\"/><system-out>$text</system-out></testcase>"
      ;;
    *)
      echo "FAIL package.$1: ${3:-}"
      package_failed=1
      package_cases+="<testcase name=\"package.$1\" status=\"fail\"><failure message=\"see the output\"/><system-out>$text</system-out></testcase>"
      ;;
  esac
}

# Passes if the command succeeds. Its output is the text of a failure.
package_check() { # name, tool that it requires, command...
  local name=$1 tool=$2 output
  shift 2
  if ! has_tool "$tool"; then
    package_result "$name" skip "$tool is missing (Debian: $tool)"
  elif output=$("$@" 2>&1); then
    package_result "$name" pass
  else
    package_result "$name" fail "$output"
  fi
}

# Makes the packages from a copy of the tree in another directory, so that a path in a package causes a difference.
packages_made_elsewhere() { # directory, environment...
  local directory=$1
  shift
  mkdir -p "$directory"
  list_sources | tar -cf - --null --no-recursion -T - | tar -xf - -C "$directory"
  [ ! -d third_party ] || cp -r third_party "$directory/"
  if [ -d build-package/python-venv ]; then mkdir -p "$directory/build-package" && cp -a build-package/python-venv "$directory/build-package/"; fi
  (cd "$directory" && env "$@" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" ./run package --offline) >"$directory.log" 2>&1 || {
    tail -n 20 "$directory.log"
    return 1
  }
}

test_reproducible() { # directory
  local differ
  if packages_made_elsewhere "$1"; then
    differ=$(diff <(cd dist/packages && sha256sum -- *) <(cd "$1/dist/packages" && sha256sum -- *)) && package_result reproducible pass ||
      package_result reproducible fail "two builds differ: $(sed -n 's/^> [0-9a-f]* *//p' <<<"$differ" | tr '\n' ' ')"
  else
    package_result reproducible fail "the second build failed"
  fi
}

# Passes if rpmlint succeeds and counts 0 errors.
lint_rpms() { rpmlint -c packaging/rpm/rpmlint.toml dist/packages/*.rpm | tee /dev/stderr | grep " 0 errors" >/dev/null; }

# Omits what each system adds: licences, changelogs, the suffix of compressed pages.
files_of_deb() { dpkg-deb --fsys-tarfile "$1" | tar -tf - | sed 's,^\.,,; /\/$/d; /^\/usr\/share\/doc\//d; s,/usr/lib/[a-z0-9_]*-linux-gnu[a-z0-9]*/,/usr/lib64/,; s,/usr/lib/python3/dist-packages/,/python/,; s,\.gz$,,' | LC_ALL=C sort; }
files_of_rpm() { rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$1" | sed -n 's/^[^d][^ ]* //p' | sed '/^\/usr\/share\/\(doc\|licenses\)\//d; /__pycache__/d; s,/usr/lib64/python[0-9.]*/site-packages/,/python/,; s,\.gz$,,' | LC_ALL=C sort; }

test_rpms_hold_what_debs_hold() {
  local deb rpm name differ="" count=0
  for deb in dist/packages/*.deb; do
    name=$(dpkg-deb -f "$deb" Package)
    case "$name" in
      *-dev) name=${name}el ;;
      gdrkit-modules-*) name=kmod-gdrkit-${name#gdrkit-modules-} ;;
    esac
    rpm=$(ls dist/packages/"$name"-[0-9]*.rpm 2>/dev/null) || {
      differ+="rpm $name is missing; "
      continue
    }
    differ+=$(diff <(files_of_deb "$deb") <(files_of_rpm "$rpm")) || true
    count=$((count + 1))
  done
  if [ -z "$differ" ] && [ "$count" -ge 6 ]; then package_result rpm_contents pass; else package_result rpm_contents fail "$differ"; fi
}

in_system() { # root directory, command...
  # shellcheck disable=SC2016 # expanded inside
  unshare --mount --pid --fork --propagation private bash -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
    exec chroot "$0" /usr/bin/env -i GDRKIT_BACKEND=emulated PATH=/opt/gdrkit/bin:/usr/bin:/bin "$@"' "$@" 2>&1
}

# Tests that shipped files run on glibc 2.28 and newer: checks the versions of all symbols, and runs the archive's
# programs on Debian 11 (2.31).
test_old_glibc() { # directory
  local output file kind
  mkdir -p "$1/archive" "$1/rpms" "$1/debs"
  tar -xzf "dist/packages/gdrkit-$(project_version)-linux-$(uname -m).tar.gz" -C "$1/archive"
  for file in dist/packages/*.rpm; do rpm2cpio "$file" | (cd "$1/rpms" && cpio -idm --quiet); done
  for file in dist/packages/*.deb; do dpkg-deb -x "$file" "$1/debs"; done
  for kind in archive rpms debs; do
    package_check "symbol_versions_of_$kind" python3 python3 -B packaging/glibc/symbol_versions.py "$1/$kind"
  done
  if ! output=$(debootstrap --variant=minbase bullseye "$1/system" ${GDRKIT_DEBIAN_MIRROR:+"$GDRKIT_DEBIAN_MIRROR"} 2>&1); then
    package_result runs_on_debian_11 skip "Debian 11 cannot be installed: $(tail -n 1 <<<"$output")"
  elif cp -r "$1"/archive/gdrkit-* "$1/system/gdrkit" &&
    output=$(in_system "$1/system" /gdrkit/install.sh --prefix /opt/gdrkit && in_system "$1/system" gdrkit info &&
      in_system "$1/system" gdrkit sanity --time-limit 600 && in_system "$1/system" gdrkit run -n 2 --emulated -- gdrkit shmem check); then
    package_result runs_on_debian_11 pass
  else
    package_result runs_on_debian_11 fail "$output"
  fi
}

# Provides the Linux headers of the kernel modules' tests, and a fake driver source that has only the symbol versions
# of the fake provider.
find_linux_of_modules() { # directory for the driver
  local downloads=$root/build/kernel/packages linux_release="" linux_headers="" why_not="" symvers
  # shellcheck source=kernel/rig/packages.sh
  source kernel/rig/packages.sh
  ensure_package_lists && fetch_linux amd64 headers || return 1
  bash kernel/build.sh "$linux_headers" --flavour open >/dev/null || return 1
  symvers=$root/build/kernel/$linux_release/open/Module.symvers
  mkdir -p "$1/nvidia"
  cp kernel/include/nv-p2p.h "$1/nvidia/"
  echo 'MODULE_LICENSE("Dual MIT/GPL");' >"$1/nvidia/nv.c"
  export GDRKIT_PACKAGE_LINUX=$linux_headers GDRKIT_NVIDIA_SOURCE=$1 GDRKIT_NVIDIA_SYMVERS=$symvers
}

# Tests the installed program on the installed module, in a virtual machine.
test_in_machine() { # directory, directory for the JUnit file
  local tree=$1/installed deb
  mkdir -p "$tree" "$1/machine"
  for deb in dist/packages/*.deb; do dpkg-deb -x "$deb" "$tree"; done
  if GDRKIT_OFFLINE=${offline:-0} GDRKIT_KERNEL_INSTALLED=$tree bash kernel/rig/run.sh "$1/machine"; then
    package_result in_machine pass
  else
    package_result in_machine fail "see the output"
  fi
  for deb in "$1"/machine/*.xml; do cp "$deb" "$2/package-${deb##*/}"; done
}

# Runs the command of docs/packages.md; with relative paths, as there.
make_signing_key() { # directory
  local key=${1#"$root"/}/key.pem certificate=${1#"$root"/}/cert.pem command
  command=$(sed -n 's/ *#.*//; s/^\(openssl req .*\)/\1/p' docs/packages.md)
  (cd "$1" && eval "$command") >"$1/key.log" 2>&1 && [ -e "$certificate" ] || {
    package_result signing_key fail "cannot make a key and certificate by '$command': $(cat "$1/key.log")"
    return 0
  }
  export GDRKIT_PACKAGE_SIGN_KEY=$key GDRKIT_PACKAGE_SIGN_CERTIFICATE=$certificate
}

test_in_fresh_debian() { # directory
  local files=$1/files name line
  mkdir -p "$files/new" "$files/old" "$files/modules"
  cp dist/packages/*.deb "$files/new/"
  mv "$files"/new/gdrkit-modules-*.deb "$files/modules/" 2>/dev/null || rmdir "$files/modules"
  cp "$1"/elsewhere/dist/packages/*.deb "$files/old/"
  cp "dist/packages/gdrkit-$(project_version)-linux-$(uname -m).tar.gz" "$files/archive.tar.gz"
  project_version >"$files/version"
  [ ! -e "$1/cert.pem" ] || cp "$1/cert.pem" "$files/"
  GDRKIT_DEBIAN_FILES=$files bash scripts/clean_debian.sh "${GDRKIT_DEBIAN_DIRECTORY:-$1/debian}" \
    bash tests/package/in_debian.sh /root/files 2>&1 | tee "$1/debian.log"
  while read -r line; do
    name=${line#* }
    case "$line" in
      PASS*) package_result "$name" pass ;;
      FAIL*) package_result "${name%%:*}" fail "${name#*: }" ;;
    esac
  done < <(grep -E '^(PASS|FAIL) ' "$1/debian.log")
  grep -x "all tests of the packages ran" "$1/debian.log" >/dev/null || package_result in_debian fail "the tests did not finish"
}

run_package_tests() { # directory for the JUnit file
  local directory=$root/build-package/tests
  rm -rf "$directory"
  mkdir -p "$directory" "$1"
  if [ "$(id -u)" -ne 0 ] || ! has_administrators_tool debootstrap; then
    write_skip package "the tests of the packages require root and debootstrap, to make a fresh Debian system" >"$1/package.xml"
    echo "skipped: making a Debian system requires root and debootstrap (Debian: debootstrap)"
    return 0
  fi
  step "fetching the headers of Debian's Linux, and building a fake of NVIDIA's driver"
  if find_linux_of_modules "$directory/driver"; then
    make_signing_key "$directory"
  else
    package_result modules_built_before skip "cannot fetch the headers of Debian's Linux"
  fi
  step "making the packages"
  make_packages
  [ -n "$package_python" ] || package_result python_package skip "cannot make python3-gdrkit"
  step "making them again in another directory, to compare the bytes"
  test_reproducible "$directory/elsewhere"
  step "linting"
  package_check lintian lintian lintian --fail-on error dist/packages/*.deb
  package_check rpmlint rpmlint lint_rpms
  test_rpms_hold_what_debs_hold
  test_old_glibc "$directory/old_glibc"
  package_check rpms_with_dnf dnf bash tests/package/with_dnf.sh dist/packages "$directory/dnf"
  step "making the packages of an older version"
  rm -rf "$directory/elsewhere"
  packages_made_elsewhere "$directory/elsewhere" GDRKIT_PACKAGE_VERSION=0.0.9 GDRKIT_PACKAGE_KINDS=deb GDRKIT_PACKAGE_LINUX= ||
    package_result older_version fail "cannot make its packages"
  step "installing the packages in a fresh Debian system"
  test_in_fresh_debian "$directory"
  if [ -n "${GDRKIT_PACKAGE_LINUX:-}" ]; then
    step "testing the installed program on the installed kernel module in a virtual machine"
    test_in_machine "$directory" "$1"
  fi
  step "done"
  printf '<testsuite name="package">%s</testsuite>\n' "$package_cases" >"$1/package.xml"
  return "$package_failed"
}

run_tests_of_package() {
  provide "${needs_of_library[@]}" "${needs_of_programs[@]}" "${needs_of_packages[@]}" "${needs_of_package_tests[@]}"
  run_and_summarise 'package*.xml' run_package_tests
}
