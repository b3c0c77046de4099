/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A program written for GDRCopy (drop_in.h), on gdrkit's libgdrapi. The device memory is libgdrkit's, so that no CUDA
 * code is needed here; an application passes memory from cudaMalloc. */
#include "drop_in.h"

#include <gdrkit/gdrkit.h>

int main(void) {
  const size_t bytes = GPU_PAGE_SIZE;
  gdrkit_context_t context;
  gdrkit_buffer_t buffer;
  struct gdrkit_buffer_info info;
  int result;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  /* One page more than is pinned: gdr_map requires the start of a GPU page, and memory may begin inside one. */
  if (gdrkit_open(NULL, &context) != 0 || gdrkit_buffer_allocate(context, 0, bytes + GPU_PAGE_SIZE, &buffer) != 0 ||
      gdrkit_buffer_get_info(buffer, &info) != 0) {
    fprintf(stderr, "%s\n", gdrkit_last_error());
    return 1;
  }
  result = drop_in((info.device_address + GPU_PAGE_OFFSET) & GPU_PAGE_MASK, bytes);
  printf("%s\n",
         result == 0 ? "the CPU read back what it wrote to the device" : "the CPU read back other data than it wrote");
  gdrkit_close(context);
  return result;
}
