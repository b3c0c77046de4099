/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Module parameters, all readable under /sys/module/gdrdrv/parameters. */
#ifndef GDRDRV_PARAMS_H
#define GDRDRV_PARAMS_H

#include <linux/types.h>

bool gdrdrv_params_debug(void);
bool gdrdrv_params_info(void);
bool gdrdrv_params_persistent(void);

/* Maximum pinned bytes per process; 0: no limit. */
u64 gdrdrv_params_pinned_limit(void);

/* Handles are below this number. */
u64 gdrdrv_params_handle_limit(void);

/* Returns 0, or logs the parameter that is out of range and returns -EINVAL. */
int gdrdrv_params_check(void);

#endif
