// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A libcuda.so.1 on the fake provider: one GPU with the provider's memory. Implements the calls of CUDA's driver API
// that `gdrkit sanity` needs; others return CUDA_ERROR_NOT_SUPPORTED. Stream operations are complete when their call
// returns.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fake_p2p/fake_p2p_ioctl.h"

#define ALLOCATIONS 4096
#define CONTEXT ((void *)0x1000)

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_SUPPORTED = 801 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t va;
	uint64_t size;
} allocations[ALLOCATIONS];
static int node = -1;
static pid_t owner; /* of node: GPU memory belongs to the process that allocated it */
static __thread void *current;

static int opened(void)
{
	if (node < 0 || owner != getpid()) {
		node = open(FAKE_P2P_NODE, O_RDWR | O_CLOEXEC);
		owner = getpid();
	}
	return node;
}

/* Returns the index of the allocation that contains `va`, or -1. The caller holds the lock. */
static int find(uint64_t va)
{
	for (int at = 0; at < ALLOCATIONS; at++) {
		if (allocations[at].size && va >= allocations[at].va && va - allocations[at].va < allocations[at].size)
			return at;
	}
	return -1;
}

int cuInit(unsigned flags)
{
	return flags ? INVALID_VALUE : opened() < 0 ? NO_DEVICE : SUCCESS;
}

int cuDriverGetVersion(int *version)
{
	*version = 12080;
	return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
	*count = 1;
	return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = 0;
	return ordinal ? INVALID_DEVICE : SUCCESS;
}

int cuDeviceGetName(char *name, int size, int device)
{
	snprintf(name, size, "fake_p2p %d", device);
	return SUCCESS;
}

int cuDeviceGetPCIBusId(char *name, int size, int device)
{
	snprintf(name, size, "0000:00:04.%d", device);
	return SUCCESS;
}

int cuDeviceGetUuid_v2(void *uuid, int device)
{
	memset(uuid, 1 + device, 16);
	return SUCCESS;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
	*flags = 0;
	*is_active = 1;
	return device ? INVALID_DEVICE : SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = CONTEXT;
	return device ? INVALID_DEVICE : SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	return device ? INVALID_DEVICE : SUCCESS;
}

int cuCtxGetCurrent(void **context)
{
	*context = current;
	return SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
	current = context;
	return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
	*context = current;
	current = NULL;
	return SUCCESS;
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
	static __thread int own;
	int before = own;

	own = *mode;
	*mode = before;
	return SUCCESS;
}

int cuMemAlloc_v2(uint64_t *va, size_t size)
{
	struct fake_p2p_alloc request = { .size = size, .layout = FAKE_P2P_RUNS };
	int at;

	if (ioctl(opened(), FAKE_P2P_IOC_ALLOC, &request))
		return OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	for (at = 0; at < ALLOCATIONS && allocations[at].size; at++)
		;
	if (at < ALLOCATIONS) {
		allocations[at].va = request.va;
		allocations[at].size = size;
	}
	pthread_mutex_unlock(&lock);
	*va = request.va;
	return at < ALLOCATIONS ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFree_v2(uint64_t va)
{
	struct fake_p2p_address request = { .va = va };
	int at;

	pthread_mutex_lock(&lock);
	at = find(va);
	if (at >= 0)
		allocations[at].size = 0;
	pthread_mutex_unlock(&lock);
	return at < 0 || ioctl(opened(), FAKE_P2P_IOC_FREE, &request) ? INVALID_VALUE : SUCCESS;
}

int cuMemAllocHost_v2(void **address, size_t size)
{
	*address = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
	return *address ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *address)
{
	free(address);
	return SUCCESS;
}

int cuMemGetAddressRange_v2(uint64_t *start, size_t *size, uint64_t va)
{
	int at;

	pthread_mutex_lock(&lock);
	at = find(va);
	if (at >= 0) {
		*start = allocations[at].va;
		*size = allocations[at].size;
	}
	pthread_mutex_unlock(&lock);
	return at < 0 ? INVALID_VALUE : SUCCESS;
}

/* Virtual memory management: the memory is allocated and freed with its address range. */
int cuMemGetAllocationGranularity(size_t *granularity, const void *properties, int option)
{
	(void)properties, (void)option;
	*granularity = 2 << 20;
	return SUCCESS;
}

int cuMemCreate(uint64_t *handle, size_t size, const void *properties, unsigned long long flags)
{
	(void)size, (void)properties, (void)flags;
	*handle = 1;
	return SUCCESS;
}

int cuMemRelease(uint64_t handle)
{
	return handle == 1 ? SUCCESS : INVALID_VALUE;
}

int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t size)
{
	return pwrite(opened(), source, size, (off_t)target) == (ssize_t)size ? SUCCESS : INVALID_VALUE;
}

int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t size)
{
	return pread(opened(), target, size, (off_t)source) == (ssize_t)size ? SUCCESS : INVALID_VALUE;
}

int cuMemsetD8_v2(uint64_t target, unsigned char value, size_t size)
{
	unsigned char bytes[4096];
	int result = SUCCESS;

	memset(bytes, value, sizeof(bytes));
	for (size_t done = 0, part; done < size && !result; done += part) {
		part = size - done < sizeof(bytes) ? size - done : sizeof(bytes);
		result = cuMemcpyHtoD_v2(target + done, bytes, part);
	}
	return result;
}

static void set_attribute(int attribute, void *data, int at)
{
	switch (attribute) {
	case 1: /* context */
		*(void **)data = at < 0 ? NULL : CONTEXT;
		break;
	case 2: /* memory type: device */
		*(unsigned *)data = at < 0 ? 0 : 2;
		break;
	case 7: /* buffer id */
		*(unsigned long long *)data = at < 0 ? 0 : allocations[at].va;
		break;
	case 9: /* device */
		*(int *)data = at < 0 ? -2 : 0;
		break;
	case 11: /* range, or mapping: start */
	case 19:
		*(uint64_t *)data = at < 0 ? 0 : allocations[at].va;
		break;
	case 12:
	case 18:
		*(size_t *)data = at < 0 ? 0 : allocations[at].size;
		break;
	case 14: /* handle types */
		*(uint64_t *)data = 0;
		break;
	default: /* managed, legacy IPC: booleans */
		*(unsigned *)data = 0;
	}
}

int cuPointerGetAttributes(unsigned count, int *attributes, void **data, uint64_t va)
{
	pthread_mutex_lock(&lock);
	for (unsigned at = 0; at < count; at++)
		set_attribute(attributes[at], data[at], find(va));
	pthread_mutex_unlock(&lock);
	return SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	*stream = CONTEXT;
	return SUCCESS;
}

/* Same effect for the parameters that matter; callers pass the others in registers, which these functions ignore. */
#define ALSO(name, same) __typeof__(same) name __attribute__((alias(#same)));
/* A stack of one context suffices: no thread pushes a second one. */
ALSO(cuCtxPushCurrent_v2, cuCtxSetCurrent)
ALSO(cuMemAllocAsync, cuMemAlloc_v2)
ALSO(cuMemFreeAsync, cuMemFree_v2)
ALSO(cuMemcpyHtoDAsync_v2, cuMemcpyHtoD_v2)
ALSO(cuMemcpyDtoHAsync_v2, cuMemcpyDtoH_v2)
/* Virtual memory management: the memory is allocated and freed with its address range. */
ALSO(cuMemAddressReserve, cuMemAlloc_v2)
ALSO(cuMemAddressFree, cuMemFree_v2)

#define RETURNS(result, name)          \
	int name(void)                 \
	{                              \
		return result;         \
	}
RETURNS(SUCCESS, cuCtxSynchronize)
RETURNS(SUCCESS, cuMemMap)
RETURNS(SUCCESS, cuMemSetAccess)
RETURNS(SUCCESS, cuMemUnmap)
RETURNS(SUCCESS, cuPointerSetAttribute)
RETURNS(SUCCESS, cuStreamDestroy_v2)
RETURNS(SUCCESS, cuStreamSynchronize)
RETURNS(NOT_SUPPORTED, cuIpcGetMemHandle)
RETURNS(NOT_SUPPORTED, cuMemAllocManaged)
RETURNS(NOT_SUPPORTED, cuMemExportToShareableHandle)
RETURNS(NOT_SUPPORTED, cuMemRetainAllocationHandle)
RETURNS(NOT_SUPPORTED, cuMemcpy2DAsync_v2)
