// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "gdrdrv.h"

#include <fcntl.h>
#include <stdio.h>

void load(const char *parameters)
{
	char all[256];
	int error = 0;

	snprintf(all, sizeof(all), "dbg_enabled=1 %s", parameters);
	/* Objects of the previous test may hold the module for a moment. */
	for (int i = 0; i < 300 && module_is_loaded("gdrdrv"); i++) {
		error = module_unload("gdrdrv");
		if (error)
			usleep(10000);
	}
	if (module_is_loaded("gdrdrv"))
		test_fail(__FILE__, __LINE__, "cannot unload gdrdrv: %s", strerror(error));
	error = module_load("gdrdrv", all);
	if (error)
		test_fail(__FILE__, __LINE__, "cannot load gdrdrv with '%s': %s", all, strerror(error));
}

void load_kind(bool is_persistent)
{
	load(is_persistent ? "use_persistent_mapping=1" : "use_persistent_mapping=0");
}

int open_node(void)
{
	int file = open(NODE, O_RDWR | O_CLOEXEC);

	CHECK(file >= 0);
	return file;
}

uint64_t pin(int file, uint64_t address, uint64_t size)
{
	struct gdrdrv_pin_v2_request request = { .address = address, .size_bytes = size };

	CHECK_EQ(ioctl(file, GDRDRV_PIN_V2, &request), 0);
	return request.handle;
}

int try_pin_with(int file, uint64_t address, uint64_t size, uint32_t flags)
{
	struct gdrdrv_pin_v2_request request = { .address = address, .size_bytes = size, .flags = flags };

	return ioctl(file, GDRDRV_PIN_V2, &request);
}

int try_pin(int file, uint64_t address, uint64_t size)
{
	return try_pin_with(file, address, size, 0);
}

int unpin(int file, uint64_t handle)
{
	struct gdrdrv_unpin_request request = { .handle = handle };

	return ioctl(file, GDRDRV_UNPIN, &request);
}

void *try_map(int file, uint64_t handle, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)(handle * getpagesize()));
}

void *map(int file, uint64_t handle, size_t size)
{
	void *mapped = try_map(file, handle, size);

	CHECK(mapped != MAP_FAILED);
	return mapped;
}

int try_info(int file, uint64_t handle)
{
	struct gdrdrv_info_v2_request request = { .handle = handle };

	return ioctl(file, GDRDRV_INFO_V2, &request);
}

struct gdrdrv_info_v2_request info(int file, uint64_t handle)
{
	struct gdrdrv_info_v2_request request = { .handle = handle };

	CHECK_EQ(ioctl(file, GDRDRV_INFO_V2, &request), 0);
	return request;
}

bool is_revoked(int file, uint64_t handle)
{
	struct gdrdrv_callback_flag_request request = { .handle = handle, .is_revoked = 77 };

	CHECK_EQ(ioctl(file, GDRDRV_CALLBACK_FLAG, &request), 0);
	CHECK(request.is_revoked <= 1);
	return request.is_revoked;
}

int request_type(int file, uint64_t handle, uint32_t type)
{
	struct gdrdrv_mapping_type_request request = { .handle = handle, .mapping_type = type };

	return ioctl(file, GDRDRV_MAPPING_TYPE, &request);
}

struct pinned pin_new(size_t size)
{
	struct pinned made = { .va = fake_alloc(size, FAKE_P2P_RUNS), .size = size, .file = open_node() };

	made.handle = pin(made.file, made.va, size);
	return made;
}

struct pinned map_new(size_t size)
{
	struct pinned made = pin_new(size);

	made.bytes = map(made.file, made.handle, size);
	return made;
}

void free_memory(void *argument)
{
	fake_free(((struct pinned *)argument)->va);
}

void run_pin(void *argument)
{
	struct pinned *pinned = argument;

	pinned->handle = pin(pinned->file, pinned->va, pinned->size);
}

void run_unpin(void *argument)
{
	struct pinned *pinned = argument;

	pinned->result = unpin(pinned->file, pinned->handle);
}

void run_close(void *argument)
{
	close(((struct pinned *)argument)->file);
}
