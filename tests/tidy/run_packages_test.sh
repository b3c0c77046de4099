#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The table of dependencies is complete, and ./run prints the packages of the system that it runs on.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/common.sh
source scripts/common.sh
# shellcheck source=scripts/dependencies.sh
source scripts/dependencies.sh
system=$(mktemp)
trap 'rm -f "$system"' EXIT

fail() {
  printf 'failed: %s\n' "$*"
  exit 1
}

# Every dependency has a line; every line has six fields; everything that a user needs to build has packages.
names=" "
while IFS='|' read -r name probe debian fedora suse loss rest; do
  [[ -n $loss && -z $rest ]] || fail "the line of '$name' must have six fields"
  for field in "$name" "$probe" "$debian" "$fedora" "$suse"; do
    [ -n "$field" ] || fail "the line of '$name' has an empty field"
  done
  for packages in "$debian" "$fedora" "$suse"; do
    [[ $packages =~ ^(-|[A-Za-z0-9_.+() -]+)$ ]] || fail "invalid package names '$packages' of '$name'"
  done
  declare -F "${probe%% *}" >/dev/null || fail "the probe of '$name', ${probe%% *}, does not exist"
  names+="$name "
  case " ${needs_of_library[*]} ${needs_of_programs[*]} ${needs_of_tests[*]} " in
    *" $name "*) [[ " $debian $fedora $suse " != *" - "* ]] || fail "'$name' has no package, but builds require it" ;;
  esac
done < <(dependency_table)
for list in $(compgen -v needs_of_); do
  declare -n needs=$list
  for name in "${needs[@]}"; do
    [[ $names == *" $name "* ]] || fail "the table lacks '$name' of $list"
  done
done

message_on() { # text of os-release
  printf '%b\n' "$1" >"$system"
  os_release=$system
  missing=" ninja expected json"
  report_missing
}
expect() { # os-release, fragment
  local message
  message=$(message_on "$1")
  [[ $message == *"$2"* ]] || fail "'$2' is missing in the message for $1:"$'\n'"$message"
}
on_dnf="dnf install ninja-build expected-devel json-devel"
on_zypper="zypper install ninja 'cmake(tl-expected)' nlohmann_json-devel"
expect 'ID="rhel"\nID_LIKE="fedora"' "$on_dnf"
expect 'ID="rocky"\nID_LIKE="rhel centos fedora"' "$on_dnf"
expect 'ID=fedora' "$on_dnf"
expect 'ID="opensuse-leap"\nID_LIKE="suse opensuse"' "$on_zypper"
expect 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"' "$on_zypper"
expect 'ID="sles"\nID_LIKE="suse"' "$on_zypper"
expect 'ID=sles' "$on_zypper"
expect 'ID=ubuntu\nID_LIKE=debian' "apt-get install ninja-build libexpected-dev nlohmann-json3-dev"
expect 'ID=arch' "Debian's names are: ninja-build libexpected-dev nlohmann-json3-dev"
expect 'ID=rocky\nID_LIKE="rhel"' "json, required for the programs"

# An installation prints the size first, then the progress, and errors if it fails.
directory=$(mktemp -d)
trap 'rm -rf "$system" "$directory"' EXIT
cat >"$directory/apt-get" <<'TXT'
#!/bin/sh
case "$*" in
  update*) ;;
  *--print-uris*ninja-build*libexpected-dev*)
    echo "'http://host/ninja.deb' ninja-build_1_amd64.deb 1500000 MD5Sum:0"
    echo "'http://host/expected.deb' libexpected-dev_1_all.deb 20000 MD5Sum:0"
    ;;
  *Status-Fd=1*)
    echo "dlstatus:1:100.0000:Retrieving file 2 of 2"
    echo "pmstatus:ninja-build:50.0000:Installing ninja-build"
    [ ! -e "$FAILS" ] || { echo "E: Unable to correct problems"; exit 100; }
    ;;
esac
TXT
cat >"$directory/sudo" <<'TXT'
#!/bin/sh
[ "$1" != -n ] || shift
exec "$@"
TXT
chmod +x "$directory/apt-get" "$directory/sudo"
install_here() { # in a separate directory, which contains the log
  (cd "$directory" && export PATH=$directory:$PATH FAILS=$directory/fails && missing=" ninja expected" && install_missing) 2>&1
}
output=$(install_here)
for fragment in "installing ninja-build libexpected-dev: 2 packages, 1.5 MB to download" " 50 %" "75 %" "Installing ninja-build"; do
  [[ $output == *"$fragment"* ]] || fail "'$fragment' is missing in:"$'\n'"$output"
done
touch "$directory/fails"
output=$(install_here)
[[ $output == *"E: Unable to correct problems"*"apt-get install failed; see build/packages.log"* ]] ||
  fail "wrong output of a failed installation:"$'\n'"$output"
echo ok
