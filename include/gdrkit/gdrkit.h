/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief gdrkit's C API, for C and C++ of any standard. Names and layouts may change until version 1.0.
 *
 * Open a context, pin device memory, map the pin, then copy:
 * @code{.c}
 * int store_greeting(uint64_t device_address) {
 *   gdrkit_context_t context;
 *   gdrkit_pin_t pin;
 *   void* address;
 *   int error = gdrkit_open(NULL, &context);
 *   if (error != 0) return error;
 *   error = gdrkit_pin(context, device_address, 4096, &pin);
 *   if (error == 0) error = gdrkit_map(pin, NULL, &address);
 *   if (error == 0) error = gdrkit_write(pin, 100, "hello", 5);
 *   gdrkit_close(context);
 *   return error;
 * }
 * @endcode
 *
 * Return values: unless its documentation differs, a function returns 0 on success and a negative errno on
 * failure. gdrkit_last_error() then describes the failure. Output parameters are set only on success; the target of a
 * failed copy may be partly written. A handle is rejected with -EINVAL if its value is 0, if it is
 * already closed, or if it comes from another loaded copy of the library.
 *
 * Structs of options and of information start with their size: set struct_size to the sizeof of the struct and zero the
 * rest. A size below that of the first version, or above 4096, is rejected with -EINVAL. An option that a newer program
 * sets and this library does not have is rejected with -E2BIG.
 *
 * Threads: all functions are thread-safe, with one exception. While a thread accesses a mapping, or is in a copy call
 * on it, no other thread may unmap or unpin that pin or close its context. Between gdrkit_start_write() or
 * gdrkit_start_read() and gdrkit_finish_copy(), another thread may unmap, unpin or close: these calls wait for started
 * copies.
 *
 * Forks: in a child made by fork(), calls on inherited handles return -EACCES, or -EINVAL from the functions of copy.h.
 * The note of gdrkit_close() has the one exception. To use the library, the child must open its own context. A child
 * made without fork handlers (_Fork, a bare clone) must not copy through inherited handles, because it does not inherit
 * the mappings.
 */
#ifndef GDRKIT_GDRKIT_H
#define GDRKIT_GDRKIT_H

#include <gdrkit/buffer.h>
#include <gdrkit/context.h>
#include <gdrkit/copy.h>
#include <gdrkit/errors.h>
#include <gdrkit/mapping.h>
#include <gdrkit/pin.h>
#include <gdrkit/version.h>

#endif
