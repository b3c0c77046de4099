/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * gdrdrv maps GPU memory into the process that pinned it. NVIDIA's driver (the provider) exposes the memory on PCI.
 *
 *   session     one open file: its handles, its address space for mmap, its owner
 *   owner       the process that opened the file; counts its pinned bytes over all its sessions
 *   pin         one pinned range: the provider's page table, a range of handles, at most one mapping
 *   mapping     the VMA of a pin
 *   orphan      a pin without users that the provider still holds
 *
 * Lock order, outermost first:
 *
 *   mmap_lock of a process         held by Linux around mmap, munmap and faults
 *   gdrkit's lock (p2p_lock.h)     held by gdrdrv around get_pages and put_pages of revocable pins
 *   provider's locks               held around the free callback; put_pages takes them and so waits for a callback
 *   pin->lock                      state of a pin; taken by ioctl, mmap, fault, VMA close and the free callback
 *   session->handles.lock          the tree of handle ranges
 *   owners' lock, owner->lock      the list of owners; what each has pinned
 *   orphans' lock                  a leaf
 *
 * The provider's callback takes pin->lock, so no lock below the provider's is held across a call to the provider. The
 * callback never takes gdrkit's lock, and gdrkit's lock is never taken under mmap_lock. No lock is held while user
 * memory is copied, because a fault there takes mmap_lock. Zapping runs without our locks; Linux takes only locks below
 * mmap_lock for it.
 *
 * The provider's rules for releasing pages, and how these modules follow them: docs/design/0015-giving-pages-back.md.
 *
 * No user keeps access to released memory. A pin is marked dead under pin->lock and zapped after that. The callback
 * zaps as well, unless the zap is known to be complete, because the provider reuses the pages when the callback
 * returns. PTEs are added in two places:
 *   - a fault, which either sees the mark or precedes the zap;
 *   - mmap, before a zap can find the VMA. Only persistent pins are filled there. Their only zap comes from an ioctl of
 *     the same process, which first takes and drops mmap_lock and therefore runs after the mmap.
 */
#ifndef GDRDRV_H
#define GDRDRV_H

#include <linux/printk.h>

#include "params.h"

#define gdrdrv_error(format, ...) pr_err_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)
#define gdrdrv_warning(format, ...) pr_warn_ratelimited("gdrdrv: " format "\n", ##__VA_ARGS__)

/* Invalid requests are logged only on demand, so that users cannot flood the log. */
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
