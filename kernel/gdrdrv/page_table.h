/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The provider's list of pages of a pin, used only after validation. */
#ifndef GDRDRV_PAGE_TABLE_H
#define GDRDRV_PAGE_TABLE_H

#include <linux/types.h>

struct nvidia_p2p_page_table;

/* Physically contiguous pages, `offset` bytes into the pin. */
struct gdrdrv_run {
	u64 offset;
	phys_addr_t start;
	u64 bytes;
};

/*
 * Whether `table` describes `bytes` of memory in a supported format: 0, -EFAULT for an unknown version, -EINVAL for
 * pages of a size other than 64 KiB, -EIO for impossible contents.
 */
int gdrdrv_page_table_check(const struct nvidia_p2p_page_table *table, u64 bytes);

phys_addr_t gdrdrv_page_table_address(const struct nvidia_p2p_page_table *table, u64 offset);

/* The run that begins at `offset` and ends before `end`; offset < end <= bytes of the table. */
struct gdrdrv_run gdrdrv_page_table_run(const struct nvidia_p2p_page_table *table, u64 offset, u64 end);

#endif
