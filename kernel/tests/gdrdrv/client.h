/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* /dev/gdrdrv as functions, used as a library does. */
#ifndef GDRKIT_KERNEL_GDRDRV_CLIENT_H
#define GDRKIT_KERNEL_GDRDRV_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../include/gdrdrv_abi.h"
#include "../support/fake.h"
#include "../support/module.h"
#include "../support/test.h"

#define NODE "/dev/gdrdrv"
#define PAGE FAKE_P2P_PAGE
#define NO_HANDLE 0xdeadbeefULL

/* Reloads the module with dbg_enabled and these parameters. */
void load(const char *parameters);
void load_kind(bool is_persistent);

/* A test for both kinds of pins; the body takes `bool is_persistent`. */
#define TEST_BOTH(name)                                \
	static void name##_of(bool is_persistent);     \
	TEST(name##_persistent)                        \
	{                                              \
		load_kind(true);                       \
		name##_of(true);                       \
	}                                              \
	TEST(name##_revocable)                         \
	{                                              \
		load_kind(false);                      \
		name##_of(false);                      \
	}                                              \
	static void name##_of(bool is_persistent)

int open_node(void);
uint64_t pin(int file, uint64_t address, uint64_t size); /* must succeed */
int try_pin(int file, uint64_t address, uint64_t size); /* 0 or -1; a successful pin stays */
int unpin(int file, uint64_t handle);
void *map(int file, uint64_t handle, size_t size); /* must succeed */
void *try_map(int file, uint64_t handle, size_t size);
struct gdrdrv_info_v2_request info(int file, uint64_t handle);
int try_info(int file, uint64_t handle);
bool is_revoked(int file, uint64_t handle);
int request_type(int file, uint64_t handle, uint32_t type);

/* Returns the signal that a load of this byte raises, or 0. */
int touch(const volatile void *byte);
int touch_write(volatile void *byte);

/* The number of pins that the provider holds. */
uint64_t provider_pins(void);

/* Runs `body` in a forked child, whose failed checks fail the test and whose exit status must be 0. */
void in_child(void (*body)(void *), void *argument);
pid_t start_child(void (*body)(void *), void *argument);
void end_child(pid_t child);

void fill_pattern(void *bytes, size_t size, unsigned int seed);
#endif
