// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Before Linux 5.8: a plain semaphore.
#include <linux/mm.h>

void probe(struct mm_struct *mm);
void probe(struct mm_struct *mm)
{
	down_read(&mm->mmap_sem);
	up_read(&mm->mmap_sem);
}
