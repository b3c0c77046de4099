#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# kernel/check_nvidia_symbols reports planted differences and no others.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

expect() { # rc, fragment, arguments...
  expect_of "$1" "$2" "$kernel/check_nvidia_symbols" "${@:3}"
}

plant() { # name, sed script: creates a driver's source tree whose header is ours with that change
  mkdir -p "$scratch/$1/nvidia"
  sed -e "$2" "$kernel/include/nv-p2p.h" >"$scratch/$1/nvidia/nv-p2p.h"
  [ "$2" = "" ] || ! cmp -s "$kernel/include/nv-p2p.h" "$scratch/$1/nvidia/nv-p2p.h" ||
    fail "the sed script '$2' changes nothing"
}

expect_for() { # sed script, rc, fragment
  plant changed "$1"
  expect "$2" "$3" "$scratch/changed"
}

expect 2 "usage:"
expect 2 "cannot read the directory" "$scratch/nowhere"
mkdir "$scratch/empty"
expect 2 "no nv-p2p.h found" "$scratch/empty"
plant same ''
expect 0 "no differences" "$scratch/same"
expect_for 's/nvidia_p2p_put_pages(u64 p2p_token, u32 va_space/nvidia_p2p_put_pages(u64 p2p_token, u64 va_space/' \
  1 "nvidia_p2p_put_pages has a different prototype"
expect_for 's/int nvidia_p2p_dma_unmap_pages/int nvidia_p2p_dma_unmap_pages_renamed/' 1 "nvidia_p2p_dma_unmap_pages is not declared"
expect_for 's/^\tu32 page_size;/\tu64 page_size;/' 1 "offsetof(struct nvidia_p2p_page_table, pages)"
expect_for 's/^\tu32 entries;/\tu64 entries;/' 1 "sizeof(((struct nvidia_p2p_page_table *)0)->entries)"
expect_for 's/u32 reserved\[3\]/u32 reserved[5]/' 1 "sizeof(struct nvidia_p2p_page)"
expect_for 's/NVIDIA_P2P_PAGE_SIZE_4KB = 0/NVIDIA_P2P_PAGE_SIZE_4KB = 1/' 1 "NVIDIA_P2P_PAGE_SIZE_64KB"
expect_for 's/PAGE_TABLE_VERSION 0x00020000/PAGE_TABLE_VERSION 0x00030000/' 1 "major version 3"
expect_for 's/PAGE_TABLE_VERSION 0x00020000/PAGE_TABLE_VERSION 0x00010002/; /^\tu32 flags;$/d' \
  0 "older     offsetof(struct nvidia_p2p_page_table, flags)"
expect_for 's/struct pci_dev;/struct pci_dev/' 2 "does not compile on its own"

# Symbol versions: first those of the modules' own build, then with one changed.
module=$RIG_BUILD/open/gdrdrv/gdrdrv.ko
expect 2 "cannot compare the symbol versions" "$scratch/same" "$module"
cp "$RIG_BUILD/open/Module.symvers" "$scratch/same/"
expect 0 "version   nvidia_p2p_get_pages 0x" "$scratch/same" "$module"
expect 2 "cannot read" "$scratch/same" "$scratch/none.ko"
sed -i 's/^0x[0-9a-f]*\(\tnvidia_p2p_put_pages\t\)/0x12345678\1/' "$scratch/same/Module.symvers"
expect 1 "has version" "$scratch/same" "$module"
sed -i '/\tnvidia_p2p_put_pages\t/d' "$scratch/same/Module.symvers"
expect 1 "is not exported by that build" "$scratch/same"
