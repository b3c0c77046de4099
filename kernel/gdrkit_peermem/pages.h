/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Releasing pages to the driver. Orphans are registrations that the core has released but whose pin the driver still
 * holds.
 */
#ifndef GDRKIT_PEERMEM_PAGES_H
#define GDRKIT_PEERMEM_PAGES_H

#include <linux/types.h>

struct peermem_registration;

/* Only for the process that pinned. Returns false if the driver still holds the pages. */
bool peermem_release_pages(struct peermem_registration *registration);
/* After an error the driver still holds the pages; the call must not be repeated. */
void peermem_release_persistent_pages(struct peermem_registration *registration);

void peermem_orphans_add(struct peermem_registration *registration);
void peermem_orphans_retry(void); /* releases those of the calling process */
void peermem_orphans_remove(struct peermem_registration *registration); /* for the end of the callback */

#endif
