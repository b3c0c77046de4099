/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Whether the CPU can address GPU memory and cache it, as far as the architecture and flavour allow to find out. */
#ifndef GDRKIT_COMPAT_MEMORY_KIND_H
#define GDRKIT_COMPAT_MEMORY_KIND_H

#include <linux/mm.h>
#include <linux/pfn.h>
#ifdef CONFIG_X86
#include <asm/processor.h>
#endif

#include "flavour.h"

/*
 * Whether a page table entry can hold this address. On x86, accessing more bits than the CPU supports causes an oops.
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
 * `is_flagged` is the cacheable flag of the driver's page table. Linux lists coherent memory of POWER9 and Grace as
 * RAM, but page_is_ram() is GPL-only. The proprietary flavour uses POWER9's window below 2^47 instead, and on arm64
 * only the driver's flag.
 */
static inline bool gdrkit_memory_is_coherent(phys_addr_t address, bool is_flagged)
{
#if defined(CONFIG_PPC64) && defined(GDRKIT_FLAVOUR_OPEN)
	return page_is_ram(PHYS_PFN(address));
#elif defined(CONFIG_PPC64)
	return address < 1ULL << 47;
#elif defined(CONFIG_ARM64) && defined(GDRKIT_FLAVOUR_OPEN)
	return is_flagged || page_is_ram(PHYS_PFN(address));
#elif defined(CONFIG_ARM64)
	return is_flagged;
#else
	return false;
#endif
}

#endif
