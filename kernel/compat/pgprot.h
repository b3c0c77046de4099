/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Page protection of device memory, also on guests and hosts with memory encryption (confidential computing). */
#ifndef GDRKIT_COMPAT_PGPROT_H
#define GDRKIT_COMPAT_PGPROT_H

#include <linux/errno.h>
#include <linux/mm.h>

#include "flavour.h"

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#endif
#if defined(GDRKIT_FLAVOUR_PROPRIETARY) && defined(CONFIG_AMD_MEM_ENCRYPT)
#include <linux/mem_encrypt.h>
#endif

/*
 * Marks `prot` as shared with the device. Without the mark, the CPU encrypts what it writes to a BAR and decrypts what
 * it reads. pgprot_decrypted() is GPL-only, so the proprietary flavour clears AMD's bit itself. It fails on Intel TDX,
 * whose bit position is not exported to it. Returns 0 or a negative errno.
 */
static inline int gdrkit_pgprot_of_device(pgprot_t *prot)
{
#ifdef GDRKIT_FLAVOUR_OPEN
	*prot = pgprot_decrypted(*prot);
#else
#ifdef CONFIG_AMD_MEM_ENCRYPT
	*prot = __pgprot(pgprot_val(*prot) & ~(pteval_t)sme_me_mask);
#endif
#ifdef CONFIG_INTEL_TDX_GUEST
	if (boot_cpu_has(X86_FEATURE_TDX_GUEST))
		return -EOPNOTSUPP;
#endif
#endif
	return 0;
}

/*
 * Write-combining. On x86, pgprot_writecombine() is GPL-only. It sets only PWT, which selects write-combining in the
 * page attribute table that Linux programs.
 */
static inline pgprot_t gdrkit_pgprot_writecombine(pgprot_t prot)
{
#ifdef CONFIG_X86
	return __pgprot((pgprot_val(prot) & ~(pgprotval_t)_PAGE_CACHE_MASK) | _PAGE_PWT);
#else
	return pgprot_writecombine(prot);
#endif
}

/* Device memory: no gathering and no reordering. Uncached on architectures without such a type. */
static inline pgprot_t gdrkit_pgprot_device(pgprot_t prot)
{
#ifdef pgprot_device
	return pgprot_device(prot);
#else
	return pgprot_noncached(prot);
#endif
}

#endif
