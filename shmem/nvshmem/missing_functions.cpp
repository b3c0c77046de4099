// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions of libnvshmem_host.so.3 that gdrkit does not have. They print the reason and return an error.
#include <nvshmem.h>

#include <cstdio>

#undef nvshmemx_qp_create

#pragma GCC visibility push(default)
extern "C" {
int nvshmemx_qp_create(int count, int** handles);
}
#pragma GCC visibility pop

static int reject(const char* message) {
  std::fputs(message, stderr);
  return NVSHMEMX_ERROR_NOT_SUPPORTED;
}

int nvshmemx_qp_create(int /*count*/, int** /*handles*/) {
  return reject("nvshmemx_qp_create: gdrkit has no queue pairs; use the functions without qp\n");
}
