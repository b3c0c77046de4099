#!/usr/bin/env bash
# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_peermem builds against the header of an installed RDMA stack, old or new, with its symbol versions. Without a
# stack it also builds, and does not need the core's symbols to load.
# shellcheck source=kernel/rig/outside/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# Writes a stack's header: `plain` as before MLNX_OFED 5.1, otherwise with flags and 64-bit contexts.
write_header() { # file, kind
  local context="u64 core_context" kind=$2
  mkdir -p "$(dirname "$1")"
  {
    printf '#define IB_PEER_MEMORY_NAME_MAX 64\n#define IB_PEER_MEMORY_VER_MAX 16\n'
    if [ "$kind" = plain ]; then context="void *core_context"; else echo '#define PEER_MEM_U64_CORE_CONTEXT'; fi
    printf 'struct peer_memory_client {\n\tchar name[64], version[16];\n'
    printf '\tint (*acquire)(unsigned long, size_t, void *, char *, void **);\n'
    printf '\tint (*get_pages)(unsigned long, size_t, int, int, struct sg_table *, void *, %s);\n' "$context"
    printf '\tint (*dma_map)(struct sg_table *, void *, struct device *, int, int *);\n'
    printf '\tint (*dma_unmap)(struct sg_table *, void *, struct device *);\n'
    printf '\tvoid (*put_pages)(struct sg_table *, void *);\n'
    printf '\tunsigned long (*get_page_size)(void *);\n\tvoid (*release)(void *);\n'
    [ "$kind" = plain ] && printf '\tvoid *(*get_context_private_data)(u64);\n\tvoid (*put_context_private_data)(void *);\n'
    printf '};\n'
    [ "$kind" = plain ] || printf 'enum { PEER_MEM_INVALIDATE_UNMAPS = 1 };\nstruct peer_memory_client_ex { struct peer_memory_client client; size_t ex_size; u32 flags; };\n'
    printf 'typedef int (*invalidate_peer_memory)(void *, %s);\n' "$context"
    printf 'void *ib_register_peer_memory_client(const struct peer_memory_client *, invalidate_peer_memory *);\n'
    printf 'void ib_unregister_peer_memory_client(void *);\n'
  } >"$1"
}

build() { # name, symbol versions; OFED from the environment
  mkdir "$scratch/$1"
  cp -r "$kernel"/{Kbuild,Makefile,compat,include,gdrkit_peermem} "$scratch/$1/"
  make -C "$scratch/$1" KDIR="$RIG_HEADERS" FLAVOUR=open WERROR=1 MODULES=gdrkit_peermem SYMVERS="$2" >"$scratch/$1.log" 2>&1 ||
    fail "cannot build $1: $(grep -E 'error|ERROR' "$scratch/$1.log" | head -5)"
  ! grep -i 'warning' "$scratch/$1.log" || fail "the build of $1 printed warnings"
}

has_macro() { grep -q -- "-D$2\b" "$scratch/$1/gdrkit_peermem/.module.o.cmd"; }

has_version() { # name: whether the module has versions of the core's symbols
  objcopy -O binary --only-section=__versions "$scratch/$1/gdrkit_peermem/gdrkit_peermem.ko" "$scratch/versions"
  grep -qa ib_register_peer_memory_client "$scratch/versions"
}

symvers=$RIG_BUILD/open/Module.symvers
[ -r "$symvers" ] || fail "cannot read $symvers"
write_header "$scratch/flags/include/rdma/peer_mem.h" flags
write_header "$scratch/plain/include/rdma/peer_mem.h" plain

OFED=$scratch/flags build with_flags "$symvers"
has_macro with_flags GDRKIT_PEER_MEM_INSTALLED || fail "the stack's header was not used"
! has_macro with_flags GDRKIT_PEER_MEM_PLAIN || fail "a header with flags was detected as one without"
has_version with_flags || fail "the stack's symbol versions were not used"

OFED=$scratch/plain build without_flags "$symvers"
has_macro without_flags GDRKIT_PEER_MEM_PLAIN || fail "a header without flags was detected as one with flags"

grep -v peer_memory_client "$symvers" >"$scratch/driver.symvers"
OFED="" build no_stack "$scratch/driver.symvers"
! has_macro no_stack GDRKIT_PEER_MEM_INSTALLED || fail "a header was detected without a stack"
! has_version no_stack || fail "the module has symbol versions without a stack"
[ "$(nm "$scratch/no_stack/gdrkit_peermem/gdrkit_peermem.ko" | grep -c ' w ib_.*register_peer_memory_client$')" = 2 ] ||
  fail "the core's symbols are not weak: without a stack the module cannot load"
