#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Tests gdrkit perftest over Linux's soft RDMA (rdma_rxe) in a virtual machine, against itself and Debian's perftest, and
# gdrkit shmem and osu between two of its network namespaces, on links that lose packets.
#   usage: tests/transfer/soft_rdma/run.sh [--full] <directory for the JUnit files>
# Exit status: 0 passed or skipped with a reason; 1 failed, or skipped although
# GDRKIT_REQUIRE names "rdma". GDRKIT_OFFLINE=1: nothing is downloaded. GDRKIT_RDMA_TESTS selects among the tests.
set -uo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../../.." && pwd)
kernel=$root/kernel
build=$root/build/kernel
downloads=$build/packages
scratch=$root/build/soft_rdma
programs=${GDRKIT_PROGRAMS:-$root/build/bin}
libraries=${GDRKIT_LIBRARIES:-$root/build/lib}
full=0 results="" limit_s=900 why_not="" linux_release="" linux_image="" busybox=""

# shellcheck source=kernel/rig/packages.sh
source "$kernel/rig/packages.sh"
# shellcheck source=kernel/rig/machine.sh
source "$kernel/rig/machine.sh"
memory_mb=1536

cannot() { skip_all soft_rdma rdma "$@"; } # reason

for argument in "$@"; do
  case "$argument" in
    --full) full=1 limit_s=3600 ;;
    *) results=$argument ;;
  esac
done
[ -n "$results" ] || {
  echo "usage: tests/transfer/soft_rdma/run.sh [--full] <directory for the JUnit files>" >&2
  exit 2
}

packages=(rdma-core ibverbs-providers libibverbs1 librdmacm1 libibumad3 libnl-3-200 libnl-route-3-200 libmnl0 libpci3
  perftest iproute2 libelf1 libbpf1 libcap2 zlib1g libudev1 libucx0 libnuma1)
modules=(crc32_generic udp_tunnel ip6_udp_tunnel configfs ib_core ib_uverbs rdma_rxe ib_cm iw_cm rdma_cm rdma_ucm veth sch_netem sch_tbf)

check_tools() {
  local tool
  [ "$(uname -m)" = x86_64 ] || cannot "the virtual machine is an x86-64 one, and this is $(uname -m)"
  for tool in qemu-system-x86_64 apt-get dpkg-deb cpio ldd xz; do
    command -v "$tool" >/dev/null || cannot "$tool is not here"
  done
  [ -x "$programs/gdrkit" ] || cannot "$programs/gdrkit is not here; './run build' makes it"
  ensure_package_lists || cannot "no lists of Debian packages, and they cannot be fetched"
}

fetch() {
  local name
  mkdir -p "$downloads" "$scratch" "$results"
  fetch_busybox || cannot "$why_not"
  name=$(release_of_package amd64)
  [ -n "$name" ] || cannot "no Debian package linux-image-amd64 is known here"
  linux_release=$name
  unpack "$downloads/rdma-linux-$name" "linux-image-$name" || cannot "the package linux-image-$name could not be fetched"
  linux_image=$downloads/rdma-linux-$name/boot/vmlinuz-$name
  unpack "$downloads/rdma" "${packages[@]}" || cannot "packages could not be fetched: ${packages[*]}"
}

# A program with all shared libraries it needs, each where its loader looks.
add_program() { # file, directory in the machine
  local library
  mkdir -p "$directory/$2"
  cp -L "$1" "$directory/$2/"
  while read -r library; do
    cp -Ln "$library" "$directory/lib/"
  done < <(LD_LIBRARY_PATH=$libraries:$downloads/rdma/usr/lib/x86_64-linux-gnu:$downloads/rdma/lib/x86_64-linux-gnu ldd "$1" |
    awk '$2 == "=>" && $3 ~ /^\// {print $3}')
}

make_machine() { # result
  local directory=$scratch/file_system from=$downloads/rdma program module file
  rm -rf "$directory"
  mkdir -p "$directory"/{bin,lib,lib64,rig,modules,tools,etc/libibverbs.d,usr/lib/x86_64-linux-gnu/libibverbs}
  cp "$busybox" "$directory/bin/busybox"
  for program in write_bw write_lat read_bw read_lat send_bw send_lat atomic_bw atomic_lat; do
    add_program "$from/usr/bin/ib_$program" tools
  done
  for program in rdma ip tc; do
    file=$(find "$from" -path '*bin/*' -name "$program" -type f | head -n 1)
    add_program "$file" tools
  done
  add_program "$programs/gdrkit" tools
  for program in libucp libuct libucs libucm; do add_program "$from/usr/lib/x86_64-linux-gnu/$program.so.0" lib; done
  add_program "$from"/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so usr/lib/x86_64-linux-gnu/libibverbs
  cp "$from/etc/libibverbs.d/rxe.driver" "$directory/etc/libibverbs.d/"
  cp -L /lib64/ld-linux-x86-64.so.2 "$directory/lib64/"
  for module in "${modules[@]}"; do
    copy_module "$downloads/rdma-linux-$linux_release" "$module" "$directory/modules" || cannot "Linux $linux_release has no module $module"
    echo "$module" >>"$directory/rig/modules"
  done
  cp "$here/machine_init" "$directory/init"
  cp "$here/tests.sh" "$here/networks.sh" "$directory/rig/"
  chmod +x "$directory/init"
  {
    printf 'export LD_LIBRARY_PATH=/lib GDRKIT_FULL=%s\n' "$full"
    printf "pattern='%s'\n" "${GDRKIT_RDMA_TESTS:-*}"
  } >"$directory/rig/settings"
  (cd "$directory" && find . | cpio -o -H newc --quiet | gzip -1) >"$1"
}

check_tools
fetch
make_machine "$scratch/machine.cpio.gz"
run_machine "$linux_image" "$scratch/machine.cpio.gz" "$scratch/console.log" "$limit_s"
status=$?
[ "$status" -ne 124 ] && [ "$status" -ne 137 ] || echo "the machine was ended at its limit of $limit_s s"
python3 "$kernel/rig/console_to_junit.py" "$scratch/console.log" "soft-rdma-$linux_release" "$results/soft_rdma.xml"
