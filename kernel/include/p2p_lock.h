/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The lock around nvidia_p2p_get_pages and nvidia_p2p_put_pages, shared by all gdrkit modules (module gdrkit_p2p_lock).
 *
 * nvidia_p2p_put_pages looks up a pin by its table pointer. A callback frees that table, and the next get_pages of any
 * module may return a table at the same address. A put that read the pointer earlier then releases the new pin, whose
 * user keeps a mapping of pages that the driver reuses. So each module holds this lock
 *   - over every get_pages, and
 *   - from before it reads the pointer of a pin that no callback has taken, until its put_pages has returned.
 * While a module holds the lock for a put, no table is created, so the pointer names the pin it was read from or none.
 * See docs/design/0015-giving-pages-back.md.
 *
 * It is taken outside the driver's locks and with no lock of a module held. A free callback must not take it: it runs
 * under the driver's locks, for which the holder of this lock may wait. So a waiter for this lock waits only for the
 * driver. The persistent interface has no callbacks and does not need the lock.
 */
#ifndef GDRKIT_P2P_LOCK_H
#define GDRKIT_P2P_LOCK_H

void gdrkit_p2p_lock(void);
void gdrkit_p2p_unlock(void);

#endif
