/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Before a module is unloaded: waits until no free callback of the driver runs in its text. After the last action of a
 * callback, such as signalling completion or dropping its reference to the module, some of its instructions still
 * follow. The driver holds its lock until the callback has returned, and get_pages takes that lock, so a get_pages that
 * must fail runs after them. The caller ensures that no pin is left and no callback can begin.
 */
#ifndef GDRKIT_P2P_DRAIN_H
#define GDRKIT_P2P_DRAIN_H

#include "nv-p2p.h"

/* Aligned, so that the driver searches for it under its lock, and not an address of any GPU. */
#define GDRKIT_P2P_NO_ADDRESS 0xfffffffffffe0000ULL
#define GDRKIT_P2P_NO_BYTES 0x10000ULL

static inline void gdrkit_p2p_never_called(void *data)
{
}

static inline void gdrkit_p2p_drain(void)
{
	struct nvidia_p2p_page_table *table = NULL;
	int unused = 0; /* some drivers reject a NULL for `data` before they take their lock */

	if (!nvidia_p2p_get_pages(0, 0, GDRKIT_P2P_NO_ADDRESS, GDRKIT_P2P_NO_BYTES, &table, gdrkit_p2p_never_called, &unused))
		nvidia_p2p_put_pages(0, 0, GDRKIT_P2P_NO_ADDRESS, table);
}

#endif
