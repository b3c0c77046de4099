/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* /proc/driver/gdrdrv: params, version, owners; nv_get_pages_refcount if dbg_enabled was set at load. */
#ifndef GDRDRV_PROC_FILES_H
#define GDRDRV_PROC_FILES_H

/* Returns 0 or -ENOMEM; after an error no file is left. */
int gdrdrv_proc_create(void);
void gdrdrv_proc_remove(void);

#endif
