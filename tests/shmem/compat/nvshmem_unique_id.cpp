// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A C++ program for NVSHMEM with a unique id: a job of one PE.
#include <nvshmem.h>
#include <nvshmemx.h>

int main() {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (nvshmemx_get_uniqueid(&id) != 0) return 1;
  nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attributes);
  if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) return 1;
  auto* const number = static_cast<double*>(nvshmem_malloc(sizeof(double)));
  nvshmem_double_p(number, 1.5, 0);
  const bool is_there = nvshmem_double_g(number, 0) == 1.5 && nvshmem_n_pes() == 1;
  nvshmem_free(number);
  int provided = -1;
  nvshmem_query_thread(&provided);
  nvshmem_finalize();
  return is_there && provided == NVSHMEM_THREAD_MULTIPLE ? 0 : 1;
}
