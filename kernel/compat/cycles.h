/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The x86 time stamp counter, which measures the duration of a pin for user programs. Other architectures return 0, as
 * GDRCopy does: arm64's counter is GPL-only, and its frequency is not the processor's.
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
