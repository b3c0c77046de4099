// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Linux 5.8: mmap_lock and its functions.
#include <linux/mm.h>

void probe(struct mm_struct *mm);
void probe(struct mm_struct *mm)
{
	mmap_read_lock(mm);
	mmap_read_unlock(mm);
}
