#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Runs a command on the last commit inside a Debian with the minimal set of packages, to verify what README states
# about such a system. Exits with the command's exit code. Requires root and debootstrap; downloads packages.
# usage: scripts/clean_debian.sh [--release NAME] DIRECTORY [COMMAND [ARGUMENT...]]
#   NAME      Debian's name of the release, such as trixie (default: bookworm, Debian 12)
#   DIRECTORY    holds the fresh system (base/, made once) and the copy that the command changes (system/, made each time)
#   COMMAND   run in the repository's copy by bash (default: ./run build). A single argument may be a whole script.
#   GDRKIT_DEBIAN_FILES         a directory whose copy is /root/files inside
#   GDRKIT_DEBIAN_MIRROR        package mirror (default: debootstrap's)
#   GDRKIT_DEBIAN_CERTIFICATES  a file of certificates that pip trusts inside, for networks that inspect TLS
# For example: scripts/clean_debian.sh --release trixie /var/tmp/clean ./run test
set -euo pipefail
umask 022

usage() {
  printf 'error: %s\n' "$1" >&2
  sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# A user who can change the system, or rename a directory above it, can choose what runs as root. Directories above it may belong to the
# owner of these scripts, or have a sticky bit, such as /var/tmp, which protects the files of other users.
refuse_what_others_may_change() { # path, "above" for the directories above the system
  local owner why=""
  owner=$(stat -c %u "$1")
  if [ "$owner" != 0 ] && { [ "${2:-}" != above ] || [ "$owner" != "$(stat -c %u "$root")" ]; }; then
    why="it belongs to $(stat -c %U "$1")"
  elif [ ! -L "$1" ] && [ -n "$(find "$1" -maxdepth 0 -perm /022 "${@:3}")" ]; then
    why="users other than root can write to it"
  fi
  [ -z "$why" ] || {
    printf 'error: cannot make a Debian system in %s: %s is not safe: %s; remove it or name another directory\n' "$directory" "$1" "$why" >&2
    exit 1
  }
}

release=bookworm
if [ "${1:-}" = --release ]; then
  release=${2:-}
  [[ $release =~ ^[a-z]+$ ]] || usage "invalid --release '$release': use the name of a Debian release"
  shift 2
fi
[ $# -ge 1 ] || usage "DIRECTORY is missing"
case $1 in -*) usage "unknown option '$1'" ;; esac
[ "$(id -u)" -eq 0 ] || usage "cannot make a Debian system: root is required"
command -v debootstrap >/dev/null || usage "cannot make a Debian system: debootstrap is missing (Debian: debootstrap)"
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
(umask 077 && mkdir -p "$1")
directory=$(cd -- "$1" && pwd)
if [ -L "$directory" ]; then
  refuse_what_others_may_change "$directory"
  directory=$(cd -- "$directory" && pwd -P)
fi
shift
for made in "$directory" "$directory/base" "$directory/system"; do
  if [ -e "$made" ] || [ -L "$made" ]; then refuse_what_others_may_change "$made"; fi
done
# A user who can enter the directory could prepare files in the system's own /tmp that root opens.
if [ -n "$(find "$directory" -maxdepth 0 -perm /077)" ]; then
  printf 'error: cannot make a Debian system in %s: users other than root can enter it; run chmod 700 %s\n' "$directory" "$directory" >&2
  exit 1
fi
above=$(dirname "$directory")
while [ "$above" != / ] && [ "$above" != "$root" ]; do
  refuse_what_others_may_change "$above" above ! -perm -1000
  above=$(dirname "$above")
done
[ $# -ge 1 ] || set -- ./run build

# A system without the mark is incomplete. It is made again, and so is one of another release.
if [ "$(cat "$directory/base/.is_complete" 2>/dev/null)" != "$release" ]; then
  rm -rf "$directory/base"
  debootstrap --variant=minbase "$release" "$directory/base" ${GDRKIT_DEBIAN_MIRROR:+"$GDRKIT_DEBIAN_MIRROR"} >"$directory/debootstrap.log" 2>&1 || {
    tail -n 20 "$directory/debootstrap.log"
    exit 1
  }
  echo "$release" >"$directory/base/.is_complete"
fi
rm -rf "$directory/system"
cp -a --reflink=auto "$directory/base" "$directory/system"
rm "$directory/system/.is_complete"
cp -L /etc/resolv.conf "$directory/system/etc/resolv.conf"
git -c safe.directory="$root" clone -q --no-hardlinks "$root" "$directory/system/root/gdrkit"
[ -z "${GDRKIT_DEBIAN_FILES:-}" ] || cp -r "$GDRKIT_DEBIAN_FILES" "$directory/system/root/files"
if [ -n "${GDRKIT_DEBIAN_CERTIFICATES:-}" ]; then
  cp -L "$GDRKIT_DEBIAN_CERTIFICATES" "$directory/system/etc/pip-certificates.pem"
  printf '[global]\ncert = /etc/pip-certificates.pem\n' >"$directory/system/etc/pip.conf"
fi
if [ $# -eq 1 ]; then script=$1; else script=$(printf '%q ' "$@"); fi
echo "== Debian $(cat "$directory/system/etc/debian_version"), $(find "$directory/system/var/lib/dpkg/info" -name '*.list' | wc -l) packages: $script"

# Runs in its own mount and process namespaces, so that mounts and processes end with the command. Tests create user and
# network namespaces. Linux refuses user namespaces below chroot, so this uses pivot_root. It also refuses the sysfs of
# a network namespace next to a read-only one, so sysfs is writable. The environment is that of a login, without the
# caller's variables.
# shellcheck disable=SC2016 # expanded inside
exec unshare --mount --pid --fork --propagation private bash -c '
  set -e
  system=$1
  mount --bind "$system" "$system"
  mount -t proc proc "$system/proc"
  mount -t sysfs sysfs "$system/sys"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs tmpfs "$system/run"
  cd "$system"
  pivot_root . .
  umount -l .
  exec /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 TERM=dumb bash -c "cd /root/gdrkit && $2"
' clean_debian "$directory/system" "$script"
