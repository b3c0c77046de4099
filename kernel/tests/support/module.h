/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Loading and unloading of modules, of the flavour under test. */
#ifndef GDRKIT_KERNEL_MODULE_H
#define GDRKIT_KERNEL_MODULE_H

/* Return 0 or a positive errno. Names as in /proc/modules; parameters "a=1 b=2" or "". */
int module_load(const char *name, const char *parameters);
int module_load_of(const char *flavour, const char *name, const char *parameters);
int module_unload(const char *name);
int module_is_loaded(const char *name);
const char *module_flavour(void); /* "open" or "proprietary" */

#endif
