/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * gdrdrv: shows GPU memory that NVIDIA's driver (the provider) has put on the PCI bus to the process that pinned it.
 *
 *   session     one open file: its handles, its address space for mmap, its owner
 *   owner       the process that opened it; its pins over all its sessions
 *   pin         one pinned range: the provider's table, a range of handles, at most one mapping
 *   mapping     the VMA over a pin
 *   orphan      a pin without users that the provider still has
 *
 * Locks, outermost first; a thread that holds one may take those below it:
 *
 *   mmap_lock of a process         held by Linux around mmap, munmap and faults
 *   gdrkit's lock (p2p_lock.h)     held by us around get_pages and put_pages of pins that can be revoked
 *   provider's locks               held around the free callback, and taken by put_pages, which waits for a callback
 *   pin->lock                      state of a pin: taken by ioctl, mmap, fault, VMA close and the free callback
 *   session->handles.lock          the tree of handle ranges
 *   owners' lock, owner->lock      list of owners, the pins of each
 *   orphans' lock                  a leaf
 *
 * Therefore no lock below the provider's is held during a call of the provider, because its callback takes pin->lock.
 * The callback never takes gdrkit's lock, and that lock is never held together with mmap_lock. No lock is held while
 * user memory is copied, because a copy may fault and take mmap_lock. Zapping takes only locks of Linux below
 * mmap_lock, and no lock of ours is held meanwhile.
 *
 * The provider's rules for releasing pages, and how these modules keep them: docs/design/0015-giving-pages-back.md.
 *
 * Why no user can keep access to memory that has been released: a pin is marked dead under pin->lock, and only then
 * zapped. The callback zaps unless the zap is known to be complete, because the pages are reused when it returns. PTEs
 * are created in a fault, which sees the mark or precedes the zap, or in mmap, before a zap can find the VMA. The
 * latter is done only for persistent pins. Their only zap comes from an ioctl of the same process, which passes through
 * mmap_lock first and thus runs after the mmap.
 */
#ifndef GDRDRV_H
#define GDRDRV_H

#include <linux/printk.h>

#include "params.h"

#define gdrdrv_error(format, ...) pr_err_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)
#define gdrdrv_warning(format, ...) pr_warn_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)

/* Errors of user programs are logged only on request, so that nobody can fill the log. */
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
