// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The known variants of each difference between Linux versions, and two canaries. probe.sh compiles this file once for
// each, with its macro defined.
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/xarray.h>

static int __maybe_unused refuse_split(struct vm_area_struct *vma, unsigned long address)
{
	return -1;
}

#if defined(CANARY)
/* Must compile: it uses what every module needs. If it fails, the headers or the compiler are broken. */
static int __maybe_unused probe(struct vm_area_struct *vma, unsigned long pfn, pgprot_t prot)
{
	return remap_pfn_range(vma, vma->vm_start, pfn, PAGE_SIZE, prot);
}

#elif defined(CANARY_REFUSED)
/* Must not compile. If it compiles, the other probes' results are meaningless. */
static int __maybe_unused probe(struct vm_area_struct *vma)
{
	return vma->gdrkit_no_such_member;
}

#elif defined(GDRKIT_VMA_FLAGS_INIT) /* Linux 6.3: the flags of a VMA are const and changed through functions */
static void __maybe_unused probe(struct vm_area_struct *vma)
{
	vm_flags_init(vma, vma->vm_flags | VM_DONTCOPY);
}

#elif defined(GDRKIT_VMA_FLAGS_ASSIGN) /* before Linux 6.3: a plain member */
static void __maybe_unused probe(struct vm_area_struct *vma)
{
	vma->vm_flags |= VM_DONTCOPY;
}

#elif defined(GDRKIT_VMA_MAY_SPLIT) /* Linux 5.11 */
static const struct vm_operations_struct __maybe_unused probe = { .may_split = refuse_split };

#elif defined(GDRKIT_VMA_SPLIT) /* before Linux 5.11 */
static const struct vm_operations_struct __maybe_unused probe = { .split = refuse_split };

#elif defined(GDRKIT_VMA_MREMAP_PLAIN) /* all releases but two: mremap takes only the VMA */
static int refuse(struct vm_area_struct *vma)
{
	return -1;
}
static const struct vm_operations_struct __maybe_unused probe = { .mremap = refuse };

#elif defined(GDRKIT_VMA_MREMAP_FLAGS) /* Linux 5.11 and 5.12: mremap also takes flags */
static int refuse(struct vm_area_struct *vma, unsigned long flags)
{
	return -1;
}
static const struct vm_operations_struct __maybe_unused probe = { .mremap = refuse };

#elif defined(GDRKIT_MMAP_LOCK) /* Linux 5.8: mmap_lock and its functions */
static void __maybe_unused probe(struct mm_struct *mm)
{
	mmap_read_lock(mm);
	mmap_read_unlock(mm);
}

#elif defined(GDRKIT_MMAP_SEM) /* before Linux 5.8: a plain semaphore */
static void __maybe_unused probe(struct mm_struct *mm)
{
	down_read(&mm->mmap_sem);
	up_read(&mm->mmap_sem);
}

#else
#error "unknown probe"
#endif
