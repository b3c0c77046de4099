// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "params.h"

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* Programs store a handle in 32 bits. */
#define MAX_HANDLES (1ULL << 32)

static int dbg_enabled;
module_param(dbg_enabled, int, 0644);
MODULE_PARM_DESC(dbg_enabled, "log invalid requests; if set at load, also create nv_get_pages_refcount (0)");

static int info_enabled;
module_param(info_enabled, int, 0644);
MODULE_PARM_DESC(info_enabled, "log pins and mappings (0)");

static int use_persistent_mapping = 1;
module_param(use_persistent_mapping, int, 0444);
MODULE_PARM_DESC(use_persistent_mapping,
		 "1: pins persist after the memory is freed, if the driver supports that; 0: they are revoked (1)");

static unsigned long long pinned_limit_bytes;
module_param(pinned_limit_bytes, ullong, 0644);
MODULE_PARM_DESC(pinned_limit_bytes, "maximum pinned bytes per process; 0: no limit (0)");

static unsigned long long handle_limit = MAX_HANDLES;
module_param(handle_limit, ullong, 0444);
MODULE_PARM_DESC(handle_limit, "for tests: upper bound of handles, 16 to 2^32 (4294967296)");

bool gdrdrv_params_debug(void)
{
	return READ_ONCE(dbg_enabled) != 0;
}

bool gdrdrv_params_info(void)
{
	return READ_ONCE(info_enabled) != 0;
}

bool gdrdrv_params_persistent(void)
{
	return use_persistent_mapping != 0;
}

u64 gdrdrv_params_pinned_limit(void)
{
	return READ_ONCE(pinned_limit_bytes);
}

u64 gdrdrv_params_handle_limit(void)
{
	return handle_limit;
}

int gdrdrv_params_check(void)
{
	if (handle_limit >= 16 && handle_limit <= MAX_HANDLES)
		return 0;
	pr_err("gdrdrv: handle_limit %llu is out of range: use 16 to %llu\n", handle_limit, MAX_HANDLES);
	return -EINVAL;
}
