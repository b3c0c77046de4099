/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * first_copy.cpp in C: every function returns 0 or a negative errno, and gdrkit_last_error() returns the cause.
 */
#include <gdrkit/gdrkit.h>
#include <stdio.h>
#include <string.h>

/* Returns 1 if the driver reads back what the CPU stored, 0 if not, or a negative errno if a call failed. */
static int copy_once(gdrkit_context_t context) {
  static const char text[] = "written by the CPU";
  char seen[sizeof text] = "";
  gdrkit_buffer_t buffer;
  struct gdrkit_buffer_info info;
  gdrkit_pin_t pin;
  void* address = NULL;
  int error = gdrkit_buffer_allocate(context, 0, 65536, &buffer); /* device 0 */
  if (error != 0) return error;

  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info; /* identifies the version of the struct to newer libraries */
  error = gdrkit_buffer_get_info(buffer, &info);
  if (error == 0) error = gdrkit_pin(context, info.device_address, info.size_bytes, &pin);
  if (error == 0) error = gdrkit_map(pin, NULL, &address);
  if (error == 0) error = gdrkit_write(pin, 100, text, sizeof text); /* any offset, any size */
  if (error == 0) error = gdrkit_buffer_copy_to_host(buffer, 100, seen, sizeof seen);
  if (error != 0) return error;
  return memcmp(seen, text, sizeof text) == 0;
}

int main(void) {
  gdrkit_context_t context;
  int result = gdrkit_open(NULL, &context);
  if (result == 0) {
    result = copy_once(context);
    if (result < 0) fprintf(stderr, "%s\n", gdrkit_last_error());
    gdrkit_close(context); /* unmaps, unpins and frees what the context still owns */
  } else {
    fprintf(stderr, "%s\n", gdrkit_last_error());
  }
  if (result == 1) printf("the device has what the CPU stored\n");
  return result == 1 ? 0 : 1;
}
