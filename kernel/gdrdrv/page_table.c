// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "page_table.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include "gdrdrv.h"
#include "gdrdrv_abi.h"
#include "memory_kind.h"
#include "p2p_table.h"

static int check_page(const struct nvidia_p2p_page *page, u32 number)
{
	u64 last;

	if (!page) {
		gdrdrv_error("the NVIDIA driver's page table lacks page %u", number);
		return -EIO;
	}
	last = page->physical_address + GDRDRV_GPU_PAGE_SIZE - 1;
	if (!IS_ALIGNED(page->physical_address, GDRDRV_GPU_PAGE_SIZE) || last < page->physical_address ||
	    !gdrkit_memory_is_addressable(last)) {
		gdrdrv_error("the NVIDIA driver returned the invalid address %#llx for page %u", page->physical_address,
			     number);
		return -EIO;
	}
	return 0;
}

int gdrdrv_page_table_check(const struct nvidia_p2p_page_table *table, u64 bytes)
{
	u32 number;
	int result;

	if (!table) {
		gdrdrv_error("the NVIDIA driver pinned memory but returned no page table");
		return -EIO;
	}
	if (!gdrkit_p2p_table_is_known(table)) {
		gdrdrv_error("unsupported version %#x of the NVIDIA driver's page table; supported: 1.x, 2.x",
			     table->version);
		return -EFAULT;
	}
	if (gdrkit_p2p_page_shift(table->page_size) != GDRDRV_GPU_PAGE_SHIFT) {
		gdrdrv_error("unsupported page size type %u of the NVIDIA driver; supported: 64 KiB", table->page_size);
		return -EINVAL;
	}
	if (table->entries != bytes >> GDRDRV_GPU_PAGE_SHIFT || !table->pages) {
		gdrdrv_error("the NVIDIA driver pinned %u pages instead of %llu", table->entries,
			     bytes >> GDRDRV_GPU_PAGE_SHIFT);
		return -EIO;
	}
	for (number = 0; number < table->entries; number++) {
		result = check_page(table->pages[number], number);
		if (result)
			return result;
	}
	return 0;
}

phys_addr_t gdrdrv_page_table_address(const struct nvidia_p2p_page_table *table, u64 offset)
{
	return table->pages[offset >> GDRDRV_GPU_PAGE_SHIFT]->physical_address + (offset & (GDRDRV_GPU_PAGE_SIZE - 1));
}

struct gdrdrv_run gdrdrv_page_table_run(const struct nvidia_p2p_page_table *table, u64 offset, u64 end)
{
	struct gdrdrv_run run = { .offset = offset, .start = gdrdrv_page_table_address(table, offset) };
	/* The end of the first page; `offset` may be inside it. */
	u64 next = (offset | (GDRDRV_GPU_PAGE_SIZE - 1)) + 1;

	while (next < end && gdrdrv_page_table_address(table, next) == run.start + (next - offset))
		next += GDRDRV_GPU_PAGE_SIZE;
	run.bytes = min(next, end) - offset;
	return run;
}
