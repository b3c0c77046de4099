// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "mapping_type.h"

#include <linux/errno.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "gdrdrv.h"
#include "memory_kind.h"
#include "p2p_table.h"
#include "page_table.h"
#include "pgprot.h"

static bool must_be_device;

/* Below the PCI root of a BlueField-3, arm64 may access BARs only as device memory. */
static bool find_bluefield_root(void)
{
#ifdef CONFIG_ARM64
	static const unsigned int roots[] = { 0xa2da, 0xa2db };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		struct pci_dev *device = pci_get_device(PCI_VENDOR_ID_MELLANOX, roots[i], NULL);

		if (device) {
			pci_dev_put(device);
			return true;
		}
	}
#endif
	return false;
}

void gdrdrv_mapping_type_init(void)
{
	must_be_device = find_bluefield_root();
}

bool gdrdrv_mapping_type_can_cache(const struct nvidia_p2p_page_table *table)
{
	return gdrkit_memory_is_coherent(gdrdrv_page_table_address(table, 0),
					 gdrkit_p2p_table_flags(table) & NVIDIA_P2P_PAGE_TABLE_FLAGS_CPU_CACHEABLE);
}

int gdrdrv_mapping_type_check(u32 type, bool can_cache)
{
	switch (type) {
	case GDRDRV_MAPPING_NONE:
		return 0;
	case GDRDRV_MAPPING_WC:
		return must_be_device ? -EOPNOTSUPP : 0;
	case GDRDRV_MAPPING_CACHED:
		return can_cache ? 0 : -EOPNOTSUPP;
	case GDRDRV_MAPPING_DEVICE:
		return must_be_device ? 0 : -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

enum gdrdrv_mapping_type gdrdrv_mapping_type_default(bool can_cache)
{
	if (can_cache)
		return GDRDRV_MAPPING_CACHED;
	return must_be_device ? GDRDRV_MAPPING_DEVICE : GDRDRV_MAPPING_WC;
}

int gdrdrv_mapping_type_apply(enum gdrdrv_mapping_type type, pgprot_t *protection)
{
	if (type == GDRDRV_MAPPING_CACHED)
		return 0;
	*protection = type == GDRDRV_MAPPING_DEVICE ? gdrkit_pgprot_device(*protection) :
						      gdrkit_pgprot_writecombine(*protection);
	return gdrkit_pgprot_of_device(protection);
}

/*
 * x86 looks up the type of each single page mapping in its list of physical ranges, and maps pages outside the list
 * uncached, regardless of the requested type. So each contiguous run is added to the list. Without an entry (another
 * architecture, or a range listed with another type) the mapping works but may be slow.
 */
void gdrdrv_mapping_type_reserve(const struct nvidia_p2p_page_table *table, u64 bytes, u64 *reserved_bytes)
{
	u64 offset = 0;

	while (offset < bytes) {
		struct gdrdrv_run run = gdrdrv_page_table_run(table, offset, bytes);

		if (arch_io_reserve_memtype_wc(run.start, run.bytes)) {
			gdrdrv_warning("cannot map %#llx bytes at %pa write-combining; copies may be slow", run.bytes,
				       &run.start);
			break;
		}
		offset += run.bytes;
	}
	*reserved_bytes = offset;
}

void gdrdrv_mapping_type_unreserve(const struct nvidia_p2p_page_table *table, u64 reserved_bytes)
{
	u64 offset = 0;

	while (offset < reserved_bytes) {
		struct gdrdrv_run run = gdrdrv_page_table_run(table, offset, reserved_bytes);

		arch_io_free_memtype_wc(run.start, run.bytes);
		offset += run.bytes;
	}
}
