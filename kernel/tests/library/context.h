/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* gdrkit's C API; a call that fails also fails the test, with the library's message. */
#ifndef GDRKIT_KERNEL_CONTEXT_H
#define GDRKIT_KERNEL_CONTEXT_H

#include <gdrkit/gdrkit.h>

#include "../support/fake.h"
#include "../support/test.h"

#define GPU_PAGE ((size_t)FAKE_P2P_PAGE)

gdrkit_context_t opened(void);
gdrkit_pin_t pinned(gdrkit_context_t context, uint64_t va, size_t size);
unsigned char *mapped(gdrkit_pin_t pin);

#endif
