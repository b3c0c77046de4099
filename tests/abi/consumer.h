/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * What consumer.c, written in C11 against the public headers, does with memory that a test hands over. 0: all well. */
#ifndef GDRKIT_TESTS_CONSUMER_H
#define GDRKIT_TESTS_CONSUMER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* examples/drop_in.h on this memory, which must be page aligned. */
int consumer_runs_the_drop_in_example(unsigned long device_address, size_t size_bytes);
/* Byte 36 of the information struct before and after mapping. */
int consumer_sees_the_info_bits(unsigned long device_address, size_t size_bytes, unsigned char bits[2]);
/* Writes "written by C" and its NUL to device_address + 8. */
int consumer_uses_the_own_api(unsigned long device_address, size_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif
