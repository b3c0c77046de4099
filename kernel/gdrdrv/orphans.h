/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Pins without users that the provider still has: it refused to take them back, or the last user was a process that
 * cannot give them back. The provider will call back for each, so neither its memory nor this module may go until then.
 * The process that pinned tries again at each open and close; the callback ends what is left.
 */
#ifndef GDRDRV_ORPHANS_H
#define GDRDRV_ORPHANS_H

#include <linux/types.h>

struct gdrdrv_pin;

/* Not persistent, with a file open, which holds the module. Ends the pin if its callback has come meanwhile. */
void gdrdrv_orphans_add(struct gdrdrv_pin *pin);

/* For the callback, as its last use of the pin but one: true if the pin was an orphan, and is gone now. */
bool gdrdrv_orphans_end(struct gdrdrv_pin *pin);

/* Tries those of the calling process again. */
void gdrdrv_orphans_retry(void);

/* Counts a pin that the provider keeps for good. */
void gdrdrv_orphans_lose(void);

/* Orphans, and pins that were lost. */
unsigned int gdrdrv_orphans_count(void);

#endif
