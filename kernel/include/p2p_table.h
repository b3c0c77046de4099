/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Validation of tables from NVIDIA's driver. The driver at run time may be another release than at build time, so only
 * the version word is read until the version is checked.
 */
#ifndef GDRKIT_P2P_TABLE_H
#define GDRKIT_P2P_TABLE_H

#include "nv-p2p.h"

#define GDRKIT_P2P_MAJOR(version) ((version) >> 16)
#define GDRKIT_P2P_MINOR(version) ((version) & 0xffff)

/* Majors 1 and 2 differ only in the word `flags`. A later major may differ in everything. */
static inline bool gdrkit_p2p_table_is_known(const struct nvidia_p2p_page_table *table)
{
	u32 major = GDRKIT_P2P_MAJOR(table->version);

	return major == 1 || major == 2;
}

static inline u32 gdrkit_p2p_table_flags(const struct nvidia_p2p_page_table *table)
{
	if (GDRKIT_P2P_MAJOR(table->version) == 1 && GDRKIT_P2P_MINOR(table->version) < 3)
		return 0;
	return table->flags;
}

/* Returns 0 for an unknown size. */
static inline unsigned int gdrkit_p2p_page_shift(u32 page_size)
{
	switch (page_size) {
	case NVIDIA_P2P_PAGE_SIZE_4KB:
		return 12;
	case NVIDIA_P2P_PAGE_SIZE_64KB:
		return 16;
	case NVIDIA_P2P_PAGE_SIZE_128KB:
		return 17;
	default:
		return 0;
	}
}

static inline bool gdrkit_p2p_mapping_is_known(const struct nvidia_p2p_dma_mapping *mapping)
{
	return GDRKIT_P2P_MAJOR(mapping->version) == GDRKIT_P2P_MAJOR(NVIDIA_P2P_DMA_MAPPING_VERSION) &&
	       mapping->version >= NVIDIA_P2P_DMA_MAPPING_VERSION;
}

#endif
