/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* VMA flags during mmap, the VMA operations that prevent splits and moves, and the lock of an address space. */
#ifndef GDRKIT_COMPAT_VMA_H
#define GDRKIT_COMPAT_VMA_H

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/version.h>

#include "compat_probed.h"

/*
 * Adds flags to the VMA of an mmap operation in progress. No other thread can see that VMA yet, so the plain
 * initializer is safe. vm_flags_set() would take the VMA's lock through a function that is GPL-only since Linux 6.15.
 */
static inline void gdrkit_vma_add_flags(struct vm_area_struct *vma, vm_flags_t flags)
{
#if GDRKIT_VMA_FLAGS_INIT
	vm_flags_init(vma, vma->vm_flags | flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline int gdrkit_vma_refuse_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

#if GDRKIT_VMA_MREMAP_FLAGS
static inline int gdrkit_vma_refuse_mremap(struct vm_area_struct *vma, unsigned long flags)
#else
static inline int gdrkit_vma_refuse_mremap(struct vm_area_struct *vma)
#endif
{
	return -EINVAL;
}

/* Members of a vm_operations_struct that reject partial munmap, partial mprotect and mremap. */
#if GDRKIT_VMA_MAY_SPLIT
#define GDRKIT_VMA_KEPT_WHOLE .may_split = gdrkit_vma_refuse_split, .mremap = gdrkit_vma_refuse_mremap
#else
#define GDRKIT_VMA_KEPT_WHOLE .split = gdrkit_vma_refuse_split, .mremap = gdrkit_vma_refuse_mremap
#endif

/* The names that Linux 5.8 introduced. */
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
