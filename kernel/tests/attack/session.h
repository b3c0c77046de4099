/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* One open /dev/gdrdrv. Steps that are not part of the attack fail the test if they fail. */
#ifndef GDRKIT_KERNEL_ATTACK_SESSION_H
#define GDRKIT_KERNEL_ATTACK_SESSION_H

#include <stddef.h>
#include <stdint.h>

int session_open(void);
uint64_t session_pin(int session, uint64_t va, size_t size);
int session_unpin(int session, uint64_t handle); /* 0 or a positive errno */
volatile unsigned char *session_map(int session, uint64_t handle, size_t size);

/* Returns the signal that one load raises, or 0 with the byte in *seen. Not thread-safe. */
int signal_of_load(const volatile unsigned char *address, unsigned char *seen);

#endif
