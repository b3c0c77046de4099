/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The two flavours of every module. The build selects the one that matches NVIDIA's driver.
 *
 * open: for NVIDIA's open modules, which export nvidia_p2p_* to GPL-compatible modules only.
 * proprietary: for NVIDIA's closed modules. Linux refuses GPL-only symbols to a module that uses symbols of a
 * proprietary module, so this flavour uses none. Its license makes modpost enforce this, so a mistake fails the build
 * instead of a user's modprobe.
 */
#ifndef GDRKIT_COMPAT_FLAVOUR_H
#define GDRKIT_COMPAT_FLAVOUR_H

#if defined(GDRKIT_FLAVOUR_OPEN) == defined(GDRKIT_FLAVOUR_PROPRIETARY)
#error "build with exactly one of GDRKIT_FLAVOUR_OPEN and GDRKIT_FLAVOUR_PROPRIETARY (make FLAVOUR=open|proprietary)"
#endif

#ifdef GDRKIT_FLAVOUR_OPEN
#define GDRKIT_FLAVOUR_NAME "opensource"
#define GDRKIT_MODULE_LICENSE "Dual MIT/GPL"
#else
#define GDRKIT_FLAVOUR_NAME "proprietary"
#define GDRKIT_MODULE_LICENSE "MIT"
#endif

#endif
