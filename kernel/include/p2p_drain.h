/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * For module unload: waits until no free callback of the driver runs in the module's text. A callback still executes
 * some instructions after its last action, such as signalling a completion or dropping a module reference. The driver
 * holds a lock until the callback has returned, and get_pages takes that lock. So a get_pages call that must fail
 * returns after them. The caller ensures that no pin is left and no callback can begin.
 */
#ifndef GDRKIT_P2P_DRAIN_H
#define GDRKIT_P2P_DRAIN_H

#include "nv-p2p.h"

/* Aligned, so that the driver looks it up under its lock; not the address of any GPU memory. */
#define GDRKIT_P2P_NO_ADDRESS 0xfffffffffffe0000ULL
#define GDRKIT_P2P_NO_BYTES 0x10000ULL

static inline void gdrkit_p2p_never_called(void *data)
{
}

static inline void gdrkit_p2p_drain(void)
{
	struct nvidia_p2p_page_table *table = NULL;
	int unused = 0; /* some drivers reject a NULL `data` before they take their lock */

	if (!nvidia_p2p_get_pages(0, 0, GDRKIT_P2P_NO_ADDRESS, GDRKIT_P2P_NO_BYTES, &table, gdrkit_p2p_never_called, &unused))
		nvidia_p2p_put_pages(0, 0, GDRKIT_P2P_NO_ADDRESS, table);
}

#endif
