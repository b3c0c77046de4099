/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Calls to the RDMA core. */
#ifndef GDRKIT_PEERMEM_CORE_H
#define GDRKIT_PEERMEM_CORE_H

#include <linux/types.h>

#include "peer_mem.h"

extern bool peermem_persistent; /* module parameter */

/* Whether the loaded core has a peer-memory interface. If not, the next two functions must not be called. */
bool peermem_core_has_interface(void);
/* Returns false if the core refuses the client. Passes an invalidation callback unless pins are persistent. */
bool peermem_register(const struct peer_memory_client *client);
void peermem_unregister(void);

bool peermem_is_registered(void);
void peermem_invalidate(gdrkit_core_context core_context);

#endif
