/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The VMA that maps a pin into its process. */
#ifndef GDRDRV_MAPPING_H
#define GDRDRV_MAPPING_H

struct file;
struct gdrdrv_pin;
struct vm_area_struct;

/* The mmap offset is the handle in host pages; the length is at most the pin's. */
int gdrdrv_mapping_create(struct file *file, struct vm_area_struct *vma);

/* Removes all PTEs of the pin. The pin must be dead, and the caller holds no lock of this module. */
void gdrdrv_mapping_zap(struct gdrdrv_pin *pin);

#endif
