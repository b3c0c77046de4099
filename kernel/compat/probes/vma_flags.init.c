// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Linux 6.3: the flags of a VMA are const and changed through functions.
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_init(vma, vma->vm_flags | VM_DONTCOPY);
}
