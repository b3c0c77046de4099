/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Must fail to compile, with a reason. */
#include <nvshmem.h>
#include <nvshmemx.h>

int main(void) { return nvshmemx_qp_create(1, NULL); }
