/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A C11 client of both C faces, compiled against the public headers alone. */
#include "consumer.h"

#include <string.h>

#include "examples/drop_in.h"
#include "gdrapi_layout.h"
#include "gdrkit/gdrkit.h"

int consumer_runs_the_drop_in_example(unsigned long device_address, size_t size_bytes) {
  return drop_in(device_address, size_bytes);
}

int consumer_sees_the_info_bits(unsigned long device_address, size_t size_bytes, unsigned char bits[2]) {
  gdr_info_t info;
  gdr_mh_t handle;
  void* va = NULL;
  gdr_t g = gdr_open();
  int result = g == NULL ? -1 : gdr_pin_buffer(g, device_address, size_bytes, 0, 0, &handle);
  memset(&info, 0, sizeof info);
  if (result == 0) result = gdr_get_info(g, handle, &info);
  bits[0] = ((unsigned char*)&info)[36];
  if (result == 0) result = gdr_map(g, handle, &va, size_bytes);
  if (result == 0) result = gdr_get_info(g, handle, &info);
  bits[1] = ((unsigned char*)&info)[36];
  if (result == 0 && info.mapping_type != GDR_MAPPING_TYPE_WC) result = -2;
  if (g != NULL && gdr_close(g) != 0) result = -3;
  return result;
}

int consumer_uses_the_own_api(unsigned long device_address, size_t size_bytes) {
  struct gdrkit_open_options options;
  gdrkit_context_t context;
  gdrkit_pin_t pin;
  void* address = NULL;
  const char text[] = "written by C";
  char seen[sizeof text];
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.backend = "emulated";
  if (gdrkit_open(&options, &context) != 0) return -1;
  if (gdrkit_pin(context, device_address + 3, size_bytes - 3, &pin) != 0) return -2;
  if (gdrkit_map(pin, NULL, &address) != 0) return -3;
  if (gdrkit_write(pin, 5, text, sizeof text) != 0 || gdrkit_read(pin, 5, seen, sizeof seen) != 0) return -4;
  if (memcmp(text, seen, sizeof text) != 0 || memcmp((char*)address + 5, text, sizeof text) != 0) return -5;
  return gdrkit_close(context);
}
