/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A libcuda.so.1 with what cuda.core calls to make a Buffer of a given address. Every other function does nothing and
 * succeeds. With it nvshmem4py runs on gdrkit's emulated device. */
#include <stddef.h>
#include <string.h>

static int nothing(void) { return 0; }
static int get_version(int* version) {
  *version = 13000;
  return 0;
}
static int get_context(void** context) {
  static char current;
  *context = &current;
  return 0;
}
enum { memory_type = 2, is_managed = 8, device_ordinal = 9, device_memory = 2 };
static int get_attribute(void* value, int attribute, unsigned long long address) {
  (void)address;
  switch (attribute) {
    case memory_type: *(unsigned*)value = device_memory; break;
    case is_managed:
    case device_ordinal: *(int*)value = 0; break;
    default: *(void**)value = NULL;
  }
  return 0;
}
static int get_attributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  for (unsigned i = 0; i < count; ++i) get_attribute(values[i], attributes[i], address);
  return 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status);
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static const struct {
    const char* name;
    void* function;
  } functions[] = {{"cuDriverGetVersion", (void*)get_version},
                   {"cuCtxGetCurrent", (void*)get_context},
                   {"cuPointerGetAttribute", (void*)get_attribute},
                   {"cuPointerGetAttributes", (void*)get_attributes},
                   {"cuGetProcAddress", (void*)cuGetProcAddress_v2}};
  (void)version, (void)flags;
  *function = (void*)nothing;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    if (strcmp(name, functions[i].name) == 0) *function = functions[i].function;
  }
  if (status != NULL) *status = 0;
  return 0;
}
