/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The lock over nvidia_p2p_get_pages and nvidia_p2p_put_pages, one for all modules of gdrkit (module gdrkit_p2p_lock).
 *
 * nvidia_p2p_put_pages finds a pin by the pointer of its table. A callback frees that table, and the next get of any
 * module may be given a table at the same address; a put that had read the pointer before then releases the new pin,
 * whose user keeps a mapping of pages that belong to somebody else. So each module holds this lock
 *   - over every get_pages, and
 *   - from before it reads the pointer of a pin that no callback has taken, until its put_pages has returned.
 * While one module holds the lock for a put, no table comes into being, so the pointer names the pin it was read from or
 * nothing at all. See docs/design/0015-giving-pages-back.md.
 *
 * Taken with no lock of a module held, outside the driver's locks, and never in a free callback: it runs under the
 * driver's locks, for which the holder of this lock may be waiting. Whoever waits for this lock therefore waits for
 * nothing but the driver. Not for the persistent interface, which has no callbacks.
 */
#ifndef GDRKIT_P2P_LOCK_H
#define GDRKIT_P2P_LOCK_H

void gdrkit_p2p_lock(void);
void gdrkit_p2p_unlock(void);

#endif
