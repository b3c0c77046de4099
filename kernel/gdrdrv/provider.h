/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Getting pages from the provider and releasing them, by the rules in nv-p2p.h. */
#ifndef GDRDRV_PROVIDER_H
#define GDRDRV_PROVIDER_H

#include <linux/types.h>

struct gdrdrv_pin;
struct nvidia_p2p_page_table;

/*
 * Pins pin->address and pin->bytes and sets pin->is_persistent. Unless the pin is persistent, `revoke` is called with
 * the pin, possibly before this returns. 0 or a negative errno of user space.
 */
int gdrdrv_provider_get(struct gdrdrv_pin *pin, bool force_pcie, void (*revoke)(void *data),
			struct nvidia_p2p_page_table **table);

/*
 * Releases a pin that is dead and zapped. 0: the pin is released. -EXDEV: only the process that pinned can release it.
 * Other errno: the provider failed; it keeps a persistent pin forever, and a second attempt is not allowed.
 */
int gdrdrv_provider_give_back(struct gdrdrv_pin *pin);

/* At unloading, without pins: no callback runs in this module afterwards. */
void gdrdrv_provider_drain(void);

#endif
