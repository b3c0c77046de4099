// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "old_module.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GDRDRV_TYPE 0xDA
#define GET_VERSION 255

static unsigned int emulated_version;
static bool received[256];
static unsigned int refusals;

void old_module_emulate(unsigned int version)
{
	emulated_version = version;
	refusals = 0;
	for (unsigned int number = 0; number < 256; number++)
		received[number] = false;
}

bool old_module_received(unsigned int number)
{
	return received[number];
}

unsigned int old_module_refusals(void)
{
	return refusals;
}

static bool is_supported(unsigned int number)
{
	if (number == 5)
		return emulated_version >= (2 << 16 | 4);
	if (number >= 6 && number <= 8)
		return emulated_version >= (2 << 16 | 5);
	return true;
}

int ioctl(int file, unsigned long request, ...)
{
	va_list arguments;
	void *argument;
	long result;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (_IOC_TYPE(request) != GDRDRV_TYPE)
		return syscall(SYS_ioctl, file, request, argument);
	received[_IOC_NR(request)] = true;
	if (emulated_version && !is_supported(_IOC_NR(request))) {
		refusals++;
		errno = ENOTTY;
		return -1;
	}
	result = syscall(SYS_ioctl, file, request, argument);
	if (result == 0 && emulated_version && _IOC_NR(request) == GET_VERSION)
		*(uint32_t *)argument = emulated_version;
	return result;
}
