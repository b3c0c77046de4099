/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* /dev/gdrdrv as functions, used as a library does. */
#ifndef GDRKIT_KERNEL_GDRDRV_H
#define GDRKIT_KERNEL_GDRDRV_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../include/gdrdrv_abi.h"
#include "fake.h"

#define NODE "/dev/gdrdrv"
#define PAGE FAKE_P2P_PAGE
#define NO_HANDLE 0xdeadbeefULL

/* Reloads the module with dbg_enabled and these parameters. */
void load(const char *parameters);
void load_kind(bool is_persistent);

/* Tests with the module loaded in this way. */
#define TEST_LOADED(name, parameters)                  \
	static void name##_loaded(void);               \
	TEST(name)                                     \
	{                                              \
		load(parameters);                      \
		name##_loaded();                       \
	}                                              \
	static void name##_loaded(void)
#define TEST_PERSISTENT(name) TEST_LOADED(name, "use_persistent_mapping=1")
#define TEST_REVOCABLE(name) TEST_LOADED(name, "use_persistent_mapping=0")

/* A test for both kinds of pins; the body takes `bool is_persistent`. */
#define TEST_BOTH(name)                                                            \
	static void name##_of(bool is_persistent);                                 \
	TEST_PERSISTENT(name##_persistent)                                         \
	{                                                                          \
		name##_of(true);                                                   \
	}                                                                          \
	TEST_REVOCABLE(name##_revocable)                                           \
	{                                                                          \
		name##_of(false);                                                  \
	}                                                                          \
	static void name##_of(bool is_persistent __attribute__((unused)))

int open_node(void);
uint64_t pin(int file, uint64_t address, uint64_t size); /* must succeed */
int try_pin(int file, uint64_t address, uint64_t size); /* 0 or -1; a successful pin stays */
int try_pin_with(int file, uint64_t address, uint64_t size, uint32_t flags);
int unpin(int file, uint64_t handle);
void *map(int file, uint64_t handle, size_t size); /* must succeed */
void *try_map(int file, uint64_t handle, size_t size);
struct gdrdrv_info_v2_request info(int file, uint64_t handle);
int try_info(int file, uint64_t handle);
bool is_revoked(int file, uint64_t handle);
int request_type(int file, uint64_t handle, uint32_t type);

/* New memory, pinned through a new open file. */
struct pinned {
	uint64_t va;
	size_t size;
	int file;
	uint64_t handle;
	unsigned char *bytes; /* the mapping */
	int result;
};
struct pinned pin_new(size_t size);
struct pinned map_new(size_t size);

/* For threads, on a struct pinned. run_unpin() sets `result`. */
void free_memory(void *pinned);
void run_pin(void *pinned);
void run_unpin(void *pinned);
void run_close(void *pinned);

#endif
