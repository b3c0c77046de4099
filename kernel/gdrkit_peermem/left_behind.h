/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Registrations that the core has released and whose pin the driver still has. */
#ifndef GDRKIT_PEERMEM_LEFT_BEHIND_H
#define GDRKIT_PEERMEM_LEFT_BEHIND_H

struct peermem_registration;

void peermem_leave_behind(struct peermem_registration *registration);
void peermem_retry_left_behind(void); /* those of the calling process */
void peermem_forget_left_behind(struct peermem_registration *registration); /* for the callback, at its end */

#endif
