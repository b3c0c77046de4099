/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Module parameters, all readable under /sys/module/gdrdrv/parameters. */
#ifndef GDRDRV_PARAMS_H
#define GDRDRV_PARAMS_H

#include <linux/types.h>

bool gdrdrv_params_debug(void);
bool gdrdrv_params_info(void);
bool gdrdrv_params_persistent(void);

/* Bytes that one process may pin at once; 0: no limit. */
u64 gdrdrv_params_pinned_limit(void);

/* Handles are smaller than this. */
u64 gdrdrv_params_handle_limit(void);

/* 0, or -EINVAL after logging which parameter is out of range. */
int gdrdrv_params_check(void);

#endif
