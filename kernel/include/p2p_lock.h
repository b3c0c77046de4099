/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The lock over nvidia_p2p_get_pages and nvidia_p2p_put_pages, one for all modules of gdrkit (module gdrkit_p2p_lock).
 * nvidia_p2p_put_pages finds a pin by the pointer of its table. A callback frees that table, and the next get of any
 * module may return a table at the same address. A put that had read the pointer before then releases the new pin,
 * whose user keeps a mapping of pages that are reused. Therefore each module holds this lock - during every get_pages,
 * and - from before it reads the pointer of a pin that no callback has taken, until its put_pages has returned. While a
 * module holds the lock for a put, no table is created. The pointer then identifies the pin from which it was read, or
 * nothing at all. See docs/design/0015-giving-pages-back.md. Take it without holding a lock of a module, outside the
 * driver's locks, and never in a free callback: that runs under the driver's locks, for which the holder of this lock
 * may be waiting. A thread that waits for this lock therefore waits only for the driver. Not for the persistent
 * interface, which has no callbacks.
 */
#ifndef GDRKIT_P2P_LOCK_H
#define GDRKIT_P2P_LOCK_H

void gdrkit_p2p_lock(void);
void gdrkit_p2p_unlock(void);

#endif
