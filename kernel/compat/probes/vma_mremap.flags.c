// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Linux 5.11 and 5.12: mremap also takes flags.
#include <linux/mm.h>

static int refuse(struct vm_area_struct *vma, unsigned long flags)
{
	return -1;
}

extern const struct vm_operations_struct probe;
const struct vm_operations_struct probe = { .mremap = refuse };
