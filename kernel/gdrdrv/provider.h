/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Pins pages with the provider and releases them, following the rules in nv-p2p.h. */
#ifndef GDRDRV_PROVIDER_H
#define GDRDRV_PROVIDER_H

#include <linux/types.h>

struct gdrdrv_pin;
struct nvidia_p2p_page_table;

/*
 * Pins pin->address and pin->bytes and sets pin->is_persistent. For revocable pins, the provider may call `revoke` with
 * the pin before this function returns. Returns 0 or a negative errno that user space defines.
 */
int gdrdrv_provider_get(struct gdrdrv_pin *pin, bool force_pcie, void (*revoke)(void *data),
			struct nvidia_p2p_page_table **table);

/*
 * Releases a pin that is dead and zapped. Returns 0 if the pin is gone, -EXDEV if only the process that pinned can
 * release it, or the provider's errno. After an error the provider keeps a persistent pin; it must not be retried.
 */
int gdrdrv_provider_release(struct gdrdrv_pin *pin);

/* For module unload, without pins. Afterwards no callback runs in this module. */
void gdrdrv_provider_drain(void);

#endif
