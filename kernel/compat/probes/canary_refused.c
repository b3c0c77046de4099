// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Must not compile. If it compiles, the other probes' results are meaningless.
#include <linux/mm.h>

int probe(struct vm_area_struct *vma);
int probe(struct vm_area_struct *vma)
{
	return vma->gdrkit_no_such_member;
}
