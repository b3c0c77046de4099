/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The provider's page table of a pin. It must be checked before use. */
#ifndef GDRDRV_PAGE_TABLE_H
#define GDRDRV_PAGE_TABLE_H

#include <linux/types.h>

struct nvidia_p2p_page_table;

/* A physically contiguous run, `offset` bytes into the pin. */
struct gdrdrv_run {
	u64 offset;
	phys_addr_t start;
	u64 bytes;
};

/*
 * Checks that `table` describes `bytes` of memory in a layout that this module supports. Returns 0, -EFAULT for an
 * unsupported version, -EINVAL for a page size other than 64 KiB, or -EIO for invalid contents.
 */
int gdrdrv_page_table_check(const struct nvidia_p2p_page_table *table, u64 bytes);

phys_addr_t gdrdrv_page_table_address(const struct nvidia_p2p_page_table *table, u64 offset);

/* The run that begins at `offset` and ends at or before `end`; offset < end <= bytes of the table. */
struct gdrdrv_run gdrdrv_page_table_run(const struct nvidia_p2p_page_table *table, u64 offset, u64 end);

#endif
