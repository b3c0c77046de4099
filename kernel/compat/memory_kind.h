/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Whether the CPU may cache a piece of GPU memory, as far as architecture and flavour can tell. */
#ifndef GDRKIT_COMPAT_MEMORY_KIND_H
#define GDRKIT_COMPAT_MEMORY_KIND_H

#include <linux/mm.h>
#include <linux/pfn.h>

#include "flavour.h"

/*
 * `driver_says` is the cacheable flag of the driver's table. Coherent memory of POWER9 and of Grace is listed as RAM,
 * but asking the list is GPL-only: there the proprietary flavour knows POWER9's window below 2^47, and on arm64 the
 * driver's flag alone.
 */
static inline bool gdrkit_memory_is_coherent(phys_addr_t address, bool driver_says)
{
#if defined(CONFIG_PPC64) && defined(GDRKIT_FLAVOUR_OPEN)
	return page_is_ram(PHYS_PFN(address));
#elif defined(CONFIG_PPC64)
	return address < 1ULL << 47;
#elif defined(CONFIG_ARM64) && defined(GDRKIT_FLAVOUR_OPEN)
	return driver_says || page_is_ram(PHYS_PFN(address));
#elif defined(CONFIG_ARM64)
	return driver_says;
#else
	return false;
#endif
}

#endif
