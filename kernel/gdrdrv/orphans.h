/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Pins without users that the provider still holds, either because it refused to release them or because another
 * process dropped the last use. The provider calls back for each, so the pin and this module must stay until then.
 * Their owner retries the release at each open and close; the callback ends the rest.
 */
#ifndef GDRDRV_ORPHANS_H
#define GDRDRV_ORPHANS_H

#include <linux/types.h>

struct gdrdrv_pin;

/* For revocable pins, while a file is open and holds the module. Ends the pin if its callback has already run. */
void gdrdrv_orphans_add(struct gdrdrv_pin *pin);

/* For the callback. Returns true if the pin was an orphan; then the pin is freed. */
bool gdrdrv_orphans_end(struct gdrdrv_pin *pin);

/* Retries the release of the calling process's orphans. */
void gdrdrv_orphans_retry(void);

/* Counts a persistent pin that the provider failed to release. */
void gdrdrv_orphans_lose(void);

/* The number of orphans and lost pins. */
unsigned int gdrdrv_orphans_count(void);

#endif
