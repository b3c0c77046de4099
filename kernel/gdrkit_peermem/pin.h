/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Pinning. Functions return 0 or a negative errno; after an error nothing is pinned. */
#ifndef GDRKIT_PEERMEM_PIN_H
#define GDRKIT_PEERMEM_PIN_H

struct peermem_registration;

int peermem_pin(struct peermem_registration *registration);
void peermem_unpin(struct peermem_registration *registration);
/* For module unload, without registrations. Afterwards no callback runs in this module. */
void peermem_drain(void);

#endif
