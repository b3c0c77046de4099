// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Before Linux 5.11: split.
#include <linux/mm.h>

static int refuse(struct vm_area_struct *vma, unsigned long address)
{
	return -1;
}

extern const struct vm_operations_struct probe;
const struct vm_operations_struct probe = { .split = refuse };
