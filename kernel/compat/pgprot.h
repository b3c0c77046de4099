/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Page protection of device memory where guests or hosts encrypt theirs (confidential computing). */
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
 * Marks `prot` as shared with the device. A mapping of a BAR that lacks the mark reads and writes what the CPU
 * encrypts. The function for that is GPL-only, so the proprietary flavour clears AMD's bit itself and refuses where
 * Intel's, whose place nothing exports to it, would be needed. 0 or a negative errno.
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

#endif
