/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The client's dma_map and dma_unmap. */
#ifndef GDRKIT_PEERMEM_MAPPING_H
#define GDRKIT_PEERMEM_MAPPING_H

struct device;
struct sg_table;

int peermem_dma_map(struct sg_table *sg_head, void *context, struct device *device, int unused, int *count);
int peermem_dma_unmap(struct sg_table *sg_head, void *context, struct device *device);

#endif
