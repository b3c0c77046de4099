/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* How the CPU can access a piece of GPU memory, if architecture and flavour can determine it. */
#ifndef GDRKIT_COMPAT_MEMORY_KIND_H
#define GDRKIT_COMPAT_MEMORY_KIND_H

#include <linux/mm.h>
#include <linux/pfn.h>
#ifdef CONFIG_X86
#include <asm/processor.h>
#endif

#include "flavour.h"

/*
 * Whether a page table entry can refer to the address. On x86 an access with more bits than the CPU supports is an
 * oops.
 */
static inline bool gdrkit_memory_is_addressable(u64 address)
{
#ifdef CONFIG_X86
	return address >> boot_cpu_data.x86_phys_bits == 0;
#else
	return (u64)(phys_addr_t)address == address &&
	       pte_pfn(pfn_pte(PHYS_PFN((phys_addr_t)address), PAGE_SHARED)) == address >> PAGE_SHIFT;
#endif
}

/*
 * `driver_says` is the cacheable flag of the driver's table. Coherent memory of POWER9 and of Grace is listed as RAM,
 * but querying the list is GPL-only. There the proprietary flavour checks POWER9's window below 2^47, and on arm64 only
 * the driver's flag.
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
