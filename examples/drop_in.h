/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A client of GDRCopy's API, for gdrkit's libgdrapi.so.2 or GDRCopy's library: pins, maps, copies, sets a flag. */
#ifndef GDRKIT_EXAMPLES_DROP_IN_H
#define GDRKIT_EXAMPLES_DROP_IN_H

#include <gdrapi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline int report_error(const char* what, int error) {
  printf("%s: %s\n", what, strerror(error));
  return 1;
}

/* Returns 0 if the data read back equals the data written. `device_address` is 64 KiB aligned (gdr_map requires it),
 * `bytes` > 4096. */
static inline int drop_in(unsigned long device_address, size_t bytes) {
  static const char text[] = "written by the CPU";
  const uint32_t raised = 1;
  char seen[sizeof text] = "";
  uint32_t flag = 0;
  gdr_mh_t handle;
  void* mapping = NULL;
  char* start;
  gdr_info_t info;
  int error;

  gdr_t g = gdr_open();
  if (g == NULL) {
    printf("gdr_open failed; set GDRCOPY_ENABLE_LOGGING=1 to print the cause\n");
    return 1;
  }
  if ((error = gdr_pin_buffer(g, device_address, bytes, 0, 0, &handle)) != 0)
    return report_error("gdr_pin_buffer", error);
  if ((error = gdr_map(g, handle, &mapping, bytes)) != 0) return report_error("gdr_map", error);
  if ((error = gdr_get_info(g, handle, &info)) != 0) return report_error("gdr_get_info", error);
  start = (char*)mapping + (device_address - info.va); /* the mapping begins with the pinned page */

  error = gdr_copy_to_mapping(handle, start, text, sizeof text);
  if (error == 0) error = gdr_copy_to_mapping(handle, start + 4096, &raised, sizeof raised);
  if (error == 0) error = gdr_copy_from_mapping(handle, seen, start, sizeof seen);
  if (error == 0) error = gdr_copy_from_mapping(handle, &flag, start + 4096, sizeof flag);
  if (error != 0) return report_error("a copy", error);

  if ((error = gdr_unmap(g, handle, mapping, bytes)) != 0) return report_error("gdr_unmap", error);
  if ((error = gdr_unpin_buffer(g, handle)) != 0) return report_error("gdr_unpin_buffer", error);
  if ((error = gdr_close(g)) != 0) return report_error("gdr_close", error);
  return memcmp(seen, text, sizeof text) == 0 && flag == raised ? 0 : 1;
}

#endif
