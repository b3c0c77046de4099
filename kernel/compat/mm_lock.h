/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The lock of an address space, under the names that Linux 5.8 introduced. */
#ifndef GDRKIT_COMPAT_MM_LOCK_H
#define GDRKIT_COMPAT_MM_LOCK_H

#include <linux/mm.h>

#include "compat_probed.h"

#if !GDRKIT_MMAP_LOCK
static inline void mmap_read_lock(struct mm_struct *mm)
{
	down_read(&mm->mmap_sem);
}

static inline void mmap_read_unlock(struct mm_struct *mm)
{
	up_read(&mm->mmap_sem);
}
#endif

#endif
