/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Getting pages from the provider and giving them back, by the rules that nv-p2p.h lists. */
#ifndef GDRDRV_PROVIDER_H
#define GDRDRV_PROVIDER_H

#include <linux/types.h>

struct gdrdrv_pin;
struct nvidia_p2p_page_table;

/*
 * Pins pin->address and pin->bytes and sets pin->is_persistent. `revoke` is called with the pin, possibly before this
 * returns, if the pin is not persistent. 0 or a negative errno that programs know.
 */
int gdrdrv_provider_get(struct gdrdrv_pin *pin, bool force_pcie, void (*revoke)(void *data),
			struct nvidia_p2p_page_table **table);

/*
 * Gives a pin back that is dead and zapped. 0: the pin is gone. -EXDEV: only the process that pinned can give it back.
 * Other errno: the provider refused; it keeps a persistent pin for ever, and no second attempt may be made.
 */
int gdrdrv_provider_give_back(struct gdrdrv_pin *pin);

/* At unloading, without pins: no callback runs in this module afterwards. */
void gdrdrv_provider_drain(void);

#endif
