// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All other releases: mremap takes only the VMA.
#include <linux/mm.h>

static int refuse(struct vm_area_struct *vma)
{
	return -1;
}

extern const struct vm_operations_struct probe;
const struct vm_operations_struct probe = { .mremap = refuse };
