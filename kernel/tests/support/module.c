// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *module_flavour(void)
{
	const char *flavour = getenv("GDRKIT_FLAVOUR");

	return flavour ? flavour : "open";
}

int module_load_of(const char *flavour, const char *name, const char *parameters)
{
	char path[256];
	int file, error;

	snprintf(path, sizeof(path), "/modules/%s/%s.ko", flavour, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	error = syscall(SYS_finit_module, file, parameters, 0) ? errno : 0;
	close(file);
	return error;
}

int module_load(const char *name, const char *parameters)
{
	return module_load_of(module_flavour(), name, parameters);
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

int module_is_loaded(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return access(path, F_OK) == 0;
}
