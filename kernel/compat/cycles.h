/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The time stamp counter of x86, in which callers receive the duration of a pin. Elsewhere they receive 0, as with
 * GDRCopy: arm64's counter is GPL-only, and does not run at the rate of a processor.
 */
#ifndef GDRKIT_COMPAT_CYCLES_H
#define GDRKIT_COMPAT_CYCLES_H

#include <linux/types.h>

#ifdef CONFIG_X86

#include <asm/tsc.h>

static inline u64 gdrkit_cycles(void)
{
	return get_cycles();
}

static inline u32 gdrkit_cycles_per_millisecond(void)
{
	return tsc_khz;
}

#else

static inline u64 gdrkit_cycles(void)
{
	return 0;
}

static inline u32 gdrkit_cycles_per_millisecond(void)
{
	return 0;
}

#endif

#endif
