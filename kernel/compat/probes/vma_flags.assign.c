// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Before Linux 6.3: a plain member.
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vma->vm_flags |= VM_DONTCOPY;
}
