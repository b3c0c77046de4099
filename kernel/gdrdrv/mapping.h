/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* The VMA through which a process accesses its pin. */
#ifndef GDRDRV_MAPPING_H
#define GDRDRV_MAPPING_H

struct file;
struct gdrdrv_pin;
struct vm_area_struct;

/* The offset is the handle in host pages; the length at most the pin's. */
int gdrdrv_mapping_create(struct file *file, struct vm_area_struct *vma);

/* Removes all PTEs of the whole pin. The pin is dead, and no lock of ours is held. */
void gdrdrv_mapping_zap(struct gdrdrv_pin *pin);

#endif
