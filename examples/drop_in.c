/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Runs drop_in.h on the first GPU. Exit codes: 0 it works, 1 it does not, 77 there is no GPU to try it on. */
#include "drop_in.h"

#include <dlfcn.h>

/* The few functions of libcuda that are needed, loaded by hand so that the example builds without CUDA. */
struct cuda {
  int (*init)(unsigned flags);
  int (*device_get)(int* device, int ordinal);
  int (*primary_context_retain)(void** context, int device);
  int (*context_set_current)(void* context);
  int (*allocate)(uint64_t* address, size_t bytes);
  int (*free)(uint64_t address);
};

static int load(struct cuda* cuda) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return 0;
  *(void**)&cuda->init = dlsym(library, "cuInit");
  *(void**)&cuda->device_get = dlsym(library, "cuDeviceGet");
  *(void**)&cuda->primary_context_retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void**)&cuda->context_set_current = dlsym(library, "cuCtxSetCurrent");
  *(void**)&cuda->allocate = dlsym(library, "cuMemAlloc_v2");
  *(void**)&cuda->free = dlsym(library, "cuMemFree_v2");
  return cuda->init && cuda->device_get && cuda->primary_context_retain && cuda->context_set_current &&
         cuda->allocate && cuda->free;
}

int main(void) {
  const size_t bytes = GPU_PAGE_SIZE;
  struct cuda cuda;
  uint64_t address = 0;
  void* context = NULL;
  int device = 0;
  int result;
  if (!load(&cuda) || cuda.init(0) != 0 || cuda.device_get(&device, 0) != 0 ||
      cuda.primary_context_retain(&context, device) != 0 || cuda.context_set_current(context) != 0) {
    printf("no GPU to try this on\n");
    return 77;
  }
  /* One page more than needed, since an allocation may begin inside one. */
  if (cuda.allocate(&address, bytes + GPU_PAGE_SIZE) != 0) return 1;
  result = drop_in((address + GPU_PAGE_OFFSET) & GPU_PAGE_MASK, bytes);
  printf("%s\n", result == 0 ? "what was written to the GPU was read back" : "it does not work");
  cuda.free(address);
  return result;
}
