/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Pins without users that the provider still has: it failed to release them, or the last user was a process that cannot
 * release them. The provider will call back for each, so neither its memory nor this module may be freed before. The
 * process that pinned retries at each open and close; the callback ends the rest.
 */
#ifndef GDRDRV_ORPHANS_H
#define GDRDRV_ORPHANS_H

#include <linux/types.h>

struct gdrdrv_pin;

/* Not persistent, with an open file, which holds the module. Ends the pin if its callback has come meanwhile. */
void gdrdrv_orphans_add(struct gdrdrv_pin *pin);

/* For the callback, as its last but one use of the pin: returns true if the pin was an orphan, which is then freed. */
bool gdrdrv_orphans_end(struct gdrdrv_pin *pin);

/* Retries those of the calling process. */
void gdrdrv_orphans_retry(void);

/* Counts a pin that the provider keeps forever. */
void gdrdrv_orphans_lose(void);

/* Orphans, and pins that were lost. */
unsigned int gdrdrv_orphans_count(void);

#endif
