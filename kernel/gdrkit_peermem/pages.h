/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Releasing pages to the driver. */
#ifndef GDRKIT_PEERMEM_PAGES_H
#define GDRKIT_PEERMEM_PAGES_H

#include <linux/types.h>

struct peermem_registration;

/* In the process that pinned. False: the driver still has them. */
bool peermem_give_back(struct peermem_registration *registration);
/* After an error the driver still has them, and a second attempt is not allowed. */
void peermem_give_back_persistent(struct peermem_registration *registration);

#endif
