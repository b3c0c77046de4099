/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Giving pages back to the driver. */
#ifndef GDRKIT_PEERMEM_PAGES_H
#define GDRKIT_PEERMEM_PAGES_H

#include <linux/types.h>

struct peermem_registration;

/* By the process that pinned. False: the driver still has them. */
bool peermem_give_back(struct peermem_registration *registration);
/* After an error the driver still has them, and there is no second attempt. */
void peermem_give_back_persistent(struct peermem_registration *registration);

#endif
