/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The cache mode of a pin's pages for the CPU: write-combining, cached or device memory. */
#ifndef GDRDRV_MAPPING_TYPE_H
#define GDRDRV_MAPPING_TYPE_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include "gdrdrv_abi.h"

struct nvidia_p2p_page_table;

/* Detects the platform; called once at load. */
void gdrdrv_mapping_type_init(void);

/* Whether the CPU keeps its caches coherent with this memory. The table must have been checked. */
bool gdrdrv_mapping_type_can_cache(const struct nvidia_p2p_page_table *table);

/* Returns 0, -EOPNOTSUPP if this platform does not support the type, or -EINVAL for an unknown type. */
int gdrdrv_mapping_type_check(u32 type, bool can_cache);

/* The type of a pin without a request. */
enum gdrdrv_mapping_type gdrdrv_mapping_type_default(bool can_cache);

/* Changes the protection of ordinary memory to that of the BAR's pages. Returns 0 or a negative errno. */
int gdrdrv_mapping_type_apply(enum gdrdrv_mapping_type type, pgprot_t *protection);

/* Registers the pages as write-combining with Linux. Sets *reserved_bytes, which may be less than `bytes`. */
void gdrdrv_mapping_type_reserve(const struct nvidia_p2p_page_table *table, u64 bytes, u64 *reserved_bytes);

/* Undoes gdrdrv_mapping_type_reserve(). */
void gdrdrv_mapping_type_unreserve(const struct nvidia_p2p_page_table *table, u64 reserved_bytes);

#endif
