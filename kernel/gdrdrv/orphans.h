/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Pins that the provider refused to take back. No user can reach one any more, but the provider may still call back
 * for it, so neither its memory nor this module may go. Offered again at every open and close of a session.
 */
#ifndef GDRDRV_ORPHANS_H
#define GDRDRV_ORPHANS_H

#include <linux/types.h>

struct gdrdrv_pin;

void gdrdrv_orphans_add(struct gdrdrv_pin *pin);
void gdrdrv_orphans_retry(void);
unsigned int gdrdrv_orphans_count(void);

#endif
