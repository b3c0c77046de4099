/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * _dl_find_object for a glibc before 2.35: the unwinder in libgcc_eh.a calls it to find the frames of an address. This
 * version uses dl_iterate_phdr, as libgcc did before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <features.h>
#include <link.h>
#include <string.h>

#if __GLIBC_PREREQ(2, 35)
struct search {
  ElfW(Addr) address;
  struct dl_find_object* result;
};

static int find_in(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  ElfW(Addr) begin = 0, end = 0, frames = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const ElfW(Addr) at = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) frames = at;
    if (header->p_type != PT_LOAD || search->address < at || search->address >= at + header->p_memsz) continue;
    begin = at;
    end = at + header->p_memsz;
  }
  if (end == 0) return 0;
  memset(search->result, 0, sizeof *search->result);
  search->result->dlfo_map_start = (void*)begin;
  search->result->dlfo_map_end = (void*)end;
  search->result->dlfo_eh_frame = (void*)frames;
  return frames != 0 ? 1 : -1; /* any value other than 0 ends the iteration */
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(ElfW(Addr))address, result};
  return dl_iterate_phdr(find_in, &search) == 1 ? 0 : -1;
}
#endif
