/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Orphans: registrations that the core has released but whose pin the driver still holds. */
#ifndef GDRKIT_PEERMEM_ORPHANS_H
#define GDRKIT_PEERMEM_ORPHANS_H

struct peermem_registration;

void peermem_orphans_add(struct peermem_registration *registration);
void peermem_orphans_retry(void); /* releases those of the calling process */
void peermem_orphans_remove(struct peermem_registration *registration); /* for the end of the callback */

#endif
