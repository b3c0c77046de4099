/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The calls to the RDMA core. */
#ifndef GDRKIT_PEERMEM_CORE_H
#define GDRKIT_PEERMEM_CORE_H

#include <linux/types.h>

#include "peer_mem.h"

extern bool peermem_persistent; /* the module's parameter */

/* Whether the loaded core has a peer-memory interface. If not, the next two functions must not be called. */
bool peermem_core_has_interface(void);
/* False: the core refused. Registers a callback for memory that is revoked, unless pins are persistent. */
bool peermem_register(const struct peer_memory_client *client);
void peermem_unregister(void);

bool peermem_is_registered(void);
void peermem_tell_core(gdrkit_core_context core_context);

#endif
