/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Must not compile; the error must contain the reason. */
#include <nvshmem.h>
#include <nvshmemx.h>

int main(void) { return nvshmemx_qp_create(1, NULL); }
