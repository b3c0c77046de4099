/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Mapping types of the pages of a pin: write-combining, cached or device memory. */
#ifndef GDRDRV_MAPPING_TYPE_H
#define GDRDRV_MAPPING_TYPE_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include "gdrdrv_abi.h"

struct nvidia_p2p_page_table;

/* Detects the platform once, at load. */
void gdrdrv_mapping_type_init(void);

/* Whether the CPU keeps its caches coherent with this memory. The table has been checked. */
bool gdrdrv_mapping_type_can_cache(const struct nvidia_p2p_page_table *table);

/* 0, or -EOPNOTSUPP if this platform does not support the mapping type; -EINVAL for an unknown number. */
int gdrdrv_mapping_type_check(u32 type, bool can_cache);

/* The mapping type of a pin without a request. */
enum gdrdrv_mapping_type gdrdrv_mapping_type_default(bool can_cache);

/* Turns the protection of ordinary memory into that of the BAR's pages. 0 or a negative errno. */
int gdrdrv_mapping_type_apply(enum gdrdrv_mapping_type type, pgprot_t *protection);

/* Make Linux record that these pages are write-combining, and remove the record. Not needed for cached memory. */
void gdrdrv_mapping_type_reserve(const struct nvidia_p2p_page_table *table, u64 bytes, u64 *reserved_bytes);
void gdrdrv_mapping_type_unreserve(const struct nvidia_p2p_page_table *table, u64 reserved_bytes);

#endif
