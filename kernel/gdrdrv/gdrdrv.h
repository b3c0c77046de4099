/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * gdrdrv: shows GPU memory that NVIDIA's driver (the provider) has put on the PCI bus to the process that pinned it.
 *
 *   session     one open file: its handles, its address space for mmap, its owner
 *   owner       the process that opened; what it has pinned over all its sessions
 *   pin         one pinned range: the provider's table, a range of handles, at most one mapping
 *   mapping     the VMA over a pin
 *   orphan      a pin without users that the provider still has
 *
 * Locks, outermost first; whoever holds one may take those below it:
 *
 *   mmap_lock of a process         held by Linux around mmap, munmap and faults
 *   gdrkit's lock (p2p_lock.h)     held by us around get_pages and put_pages of pins that can be revoked
 *   provider's locks               held around the free callback, and taken by put_pages, which waits for a callback
 *   pin->lock                      state of a pin: taken by ioctl, mmap, fault, VMA close and the free callback
 *   session->handles.lock          the tree of handle ranges
 *   owners' lock, owner->lock      list of owners, what each has pinned
 *   orphans' lock                  a leaf
 *
 * So: no lock below the provider's is held across a call of the provider, because its callback takes pin->lock. The
 * callback in turn never takes gdrkit's lock, nor is that one held with mmap_lock. None is held while user memory is
 * copied, because that may fault and take mmap_lock. Zapping takes locks of Linux's below mmap_lock only and happens with
 * no lock of ours held.
 *
 * The provider's rules for giving pages back, and why these modules keep within them: docs/design/0015-giving-pages-back.md.
 *
 * Why no user can keep access to memory that has been given back: a pin is marked dead under pin->lock, and only then
 * zapped; the callback zaps itself unless that is known to be done, for it gives the pages away when it returns. PTEs
 * appear in a fault, which sees the mark or comes before the zap; or in mmap, before the VMA can be found by a zap. The
 * latter is done for persistent pins alone, whose only zap comes from an ioctl of the same process, which passes through
 * mmap_lock first and thus after the mmap.
 */
#ifndef GDRDRV_H
#define GDRDRV_H

#include <linux/printk.h>

#include "params.h"

#define gdrdrv_error(format, ...) pr_err_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)
#define gdrdrv_warning(format, ...) pr_warn_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)

/* What a user program did wrong is its own affair: said only where somebody asks, so that nobody can fill the log. */
#define gdrdrv_debug(format, ...)                                                  \
	do {                                                                       \
		if (gdrdrv_params_debug())                                         \
			pr_info_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__); \
	} while (0)
#define gdrdrv_info(format, ...)                                                   \
	do {                                                                       \
		if (gdrdrv_params_info())                                          \
			pr_info_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__); \
	} while (0)

#endif
