#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs a command on the last commit inside a Debian 12 that has nothing but its smallest set of packages, for what the
# README promises of one. Exits as the command does. Needs root and debootstrap; uses a network for packages.
# usage: scripts/clean_debian.sh FOLDER [COMMAND [ARGUMENT...]]      e.g. scripts/clean_debian.sh /var/tmp/clean ./run test
#   FOLDER    holds the fresh system (base/, made once) and the copy that the command changes (system/, made each time)
#   COMMAND   run in the repository's copy by bash; ./run build if not said. A single argument may be a whole script.
#   GDRKIT_DEBIAN_FILES    a folder whose copy is /root/files inside
#   GDRKIT_DEBIAN_MIRROR   where packages come from, else debootstrap's own choice
set -euo pipefail

usage() {
  printf 'error: %s\n' "$1" >&2
  sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

[ $# -ge 1 ] || usage "a folder is needed"
case $1 in -*) usage "unknown option '$1'" ;; esac
[ "$(id -u)" -eq 0 ] || usage "only root can make a system and change into it"
command -v debootstrap >/dev/null || usage "debootstrap is not here (Debian: debootstrap)"
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
folder=$(cd -- "$1" && pwd)
shift
[ $# -ge 1 ] || set -- ./run build

# A system that was not finished has no mark, and is made again.
if [ ! -e "$folder/base/.is_complete" ]; then
  rm -rf "$folder/base"
  debootstrap --variant=minbase bookworm "$folder/base" ${GDRKIT_DEBIAN_MIRROR:+"$GDRKIT_DEBIAN_MIRROR"} >"$folder/debootstrap.log" 2>&1 || {
    tail -n 20 "$folder/debootstrap.log"
    exit 1
  }
  touch "$folder/base/.is_complete"
fi
rm -rf "$folder/system"
cp -a --reflink=auto "$folder/base" "$folder/system"
rm "$folder/system/.is_complete"
cp -L /etc/resolv.conf "$folder/system/etc/resolv.conf"
git -c safe.directory="$root" clone -q --no-hardlinks "$root" "$folder/system/root/gdrkit"
[ -z "${GDRKIT_DEBIAN_FILES:-}" ] || cp -r "$GDRKIT_DEBIAN_FILES" "$folder/system/root/files"
if [ $# -eq 1 ]; then script=$1; else script=$(printf '%q ' "$@"); fi
echo "== Debian $(cat "$folder/system/etc/debian_version"), $(find "$folder/system/var/lib/dpkg/info" -name '*.list' | wc -l) packages: $script"

# In mount and process namespaces of its own, so that mounts and processes end with the command. The environment is that of a
# login: nothing of the caller's gets in.
# shellcheck disable=SC2016 # expanded inside
exec unshare --mount --pid --fork --propagation private bash -c '
  set -e
  system=$1
  mount -t proc proc "$system/proc"
  mount -t sysfs -o ro sysfs "$system/sys"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs tmpfs "$system/run"
  exec chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 TERM=dumb bash -c "cd /root/gdrkit && $2"
' clean_debian "$folder/system" "$script"
