/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Operations that the RDMA core calls. */
#ifndef GDRKIT_PEERMEM_CLIENT_H
#define GDRKIT_PEERMEM_CLIENT_H

#include "peer_mem.h"

extern const struct peer_memory_client peermem_operations; /* without name and version */

/* mapping.c */
int peermem_dma_map(struct sg_table *sg_head, void *context, struct device *device, int unused, int *count);
int peermem_dma_unmap(struct sg_table *sg_head, void *context, struct device *device);

#endif
