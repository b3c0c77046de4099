// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Must compile: it uses what every module needs. If it fails, the headers or the compiler are broken.
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/xarray.h>

int probe(struct vm_area_struct *vma, unsigned long pfn, pgprot_t prot);
int probe(struct vm_area_struct *vma, unsigned long pfn, pgprot_t prot)
{
	return remap_pfn_range(vma, vma->vm_start, pfn, PAGE_SIZE, prot);
}
