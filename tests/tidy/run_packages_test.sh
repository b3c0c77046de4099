#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The table of dependencies is complete, and ./run names the packages of the system that it runs on.
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

# Every name that is needed somewhere has a line; every line has six fields; what a user needs to build has packages.
names=" "
while IFS='|' read -r name probe debian fedora suse loss rest; do
  [[ -n $loss && -z $rest ]] || fail "the line of '$name' has not six fields"
  for field in "$name" "$probe" "$debian" "$fedora" "$suse"; do
    [ -n "$field" ] || fail "the line of '$name' has an empty field"
  done
  for packages in "$debian" "$fedora" "$suse"; do
    [[ $packages =~ ^(-|[A-Za-z0-9_.+() -]+)$ ]] || fail "'$packages' of '$name' are no names of packages"
  done
  declare -F "${probe%% *}" >/dev/null || fail "the probe of '$name', ${probe%% *}, does not exist"
  names+="$name "
  case " ${needs_of_library[*]} ${needs_of_programs[*]} ${needs_of_tests[*]} " in
    *" $name "*) [[ " $debian $fedora $suse " != *" - "* ]] || fail "'$name' has no package, but builds need it" ;;
  esac
done < <(dependency_table)
for list in $(compgen -v needs_of_); do
  declare -n needs=$list
  for name in "${needs[@]}"; do
    [[ $names == *" $name "* ]] || fail "$list has '$name', which the table lacks"
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
  [[ $message == *"$2"* ]] || fail "'$2' is not in the message for $1:"$'\n'"$message"
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
expect 'ID=arch' "Debian calls them: ninja-build libexpected-dev nlohmann-json3-dev"
expect 'ID=rocky\nID_LIKE="rhel"' "json, needed for the programs"
echo ok
