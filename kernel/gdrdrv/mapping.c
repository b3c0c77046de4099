// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "mapping.h"

#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pfn.h>

#include "gdrdrv.h"
#include "mapping_type.h"
#include "owner.h"
#include "page_table.h"
#include "pin.h"
#include "session.h"
#include "trace_points.h"
#include "vma.h"

/* Size that one fault maps. Smaller: the first pass over memory faults more often. Larger: one fault takes longer. */
#define FAULT_WINDOW_BYTES (2UL << 20)

static u64 size_of(const struct vm_area_struct *vma)
{
	return vma->vm_end - vma->vm_start;
}

static vm_fault_t insert_page(struct vm_area_struct *vma, const struct gdrdrv_pin *pin, u64 offset)
{
	return vmf_insert_pfn(vma, vma->vm_start + offset, PHYS_PFN(gdrdrv_page_table_address(pin->table, offset)));
}

static vm_fault_t insert_window(struct vm_area_struct *vma, const struct gdrdrv_pin *pin, u64 offset)
{
	u64 at = round_down(offset, FAULT_WINDOW_BYTES);
	u64 end = min_t(u64, at + FAULT_WINDOW_BYTES, size_of(vma));
	vm_fault_t result = insert_page(vma, pin, offset);

	/* Only the faulting page must succeed. */
	for (; result == VM_FAULT_NOPAGE && at < end; at += PAGE_SIZE)
		if (insert_page(vma, pin, at) != VM_FAULT_NOPAGE)
			break;
	return result;
}

/* Maps pages of revocable pins, and raises SIGBUS for dead pins. */
static vm_fault_t handle_fault(struct vm_fault *vmf)
{
	struct gdrdrv_pin *pin = vmf->vma->vm_private_data;
	u64 offset = (vmf->address & PAGE_MASK) - vmf->vma->vm_start;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&pin->lock);
	if (!pin->is_dead)
		result = insert_window(vmf->vma, pin, offset);
	up_read(&pin->lock);
	return result;
}

/* Linux calls it for the VMA that an mremap creates before gdrdrv rejects the mremap. */
static void handle_open(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	gdrdrv_pin_get(pin);
	down_write(&pin->lock);
	pin->mappings++;
	up_write(&pin->lock);
}

static void handle_close(struct vm_area_struct *vma)
{
	struct gdrdrv_pin *pin = vma->vm_private_data;

	trace_gdrdrv_unmap(pin->range.first);
	down_write(&pin->lock);
	if (--pin->mappings == 0)
		pin->mapping_type = GDRDRV_MAPPING_NONE;
	up_write(&pin->lock);
	gdrdrv_pin_put(pin);
}

static const struct vm_operations_struct operations = {
	.open = handle_open,
	.close = handle_close,
	.fault = handle_fault,
	GDRKIT_VMA_KEPT_WHOLE,
};

/*
 * Adds all PTEs at mmap, so that no copy waits for a fault. Never maps the whole VMA in one call: x86 then tracks the
 * memory type in the VMA and loses that record when another context zaps it. gdrdrv keeps its own record instead.
 */
static int fill(struct vm_area_struct *vma, const struct gdrdrv_pin *pin)
{
	u64 end = size_of(vma), offset = PAGE_SIZE;

	if (insert_page(vma, pin, 0) != VM_FAULT_NOPAGE)
		return -EAGAIN;
	while (offset < end) {
		struct gdrdrv_run run = gdrdrv_page_table_run(pin->table, offset, end);

		if (remap_pfn_range(vma, vma->vm_start + offset, PHYS_PFN(run.start), run.bytes, vma->vm_page_prot))
			return -EAGAIN;
		offset += run.bytes;
	}
	return 0;
}

static int check(const struct gdrdrv_pin *pin, const struct vm_area_struct *vma)
{
	if (pin->is_dead || pin->mappings || pin->offset || size_of(vma) > pin->bytes)
		return -EINVAL;
	/* Writes to a private mapping copy its pages, which is impossible for a BAR. */
	if (!(vma->vm_flags & VM_SHARED) && vma->vm_flags & VM_MAYWRITE)
		return -EINVAL;
	return 0;
}

/* The caller holds pin->lock. */
static int map(struct gdrdrv_pin *pin, struct vm_area_struct *vma)
{
	enum gdrdrv_mapping_type type = pin->requested_type;
	pgprot_t protection = vma->vm_page_prot;
	int result = check(pin, vma);

	if (result)
		return result;
	if (type == GDRDRV_MAPPING_NONE)
		type = gdrdrv_mapping_type_default(pin->can_cache);
	result = gdrdrv_mapping_type_apply(type, &protection);
	if (result)
		return result;
	if (type == GDRDRV_MAPPING_WC && !pin->reserved_bytes)
		gdrdrv_mapping_type_reserve(pin->table, pin->bytes, &pin->reserved_bytes);
	gdrkit_vma_add_flags(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = protection;
	/* Only persistent pins: see gdrdrv.h. */
	if (pin->is_persistent)
		result = fill(vma, pin);
	if (result)
		return result;
	vma->vm_private_data = pin;
	vma->vm_ops = &operations;
	pin->mappings = 1;
	pin->mapping_type = type;
	return 0;
}

int gdrdrv_mapping_create(struct file *file, struct vm_area_struct *vma)
{
	struct gdrdrv_session *session = file->private_data;
	struct gdrdrv_pin *pin;
	u64 handle = vma->vm_pgoff;
	int result;

	if (!gdrdrv_owner_is_current(session->owner))
		return -EACCES;
	pin = gdrdrv_pin_find(session, handle);
	if (!pin)
		return -EINVAL;
	down_write(&pin->lock);
	result = map(pin, vma);
	up_write(&pin->lock);
	trace_gdrdrv_map(handle, size_of(vma), result ? GDRDRV_MAPPING_NONE : pin->mapping_type, result);
	if (result) {
		gdrdrv_debug("cannot map handle %llu over %llu bytes (%d)", handle, size_of(vma), result);
		gdrdrv_pin_put(pin);
	}
	/* On success the VMA keeps its use of the pin until it is closed. */
	return result;
}

void gdrdrv_mapping_zap(struct gdrdrv_pin *pin)
{
	unmap_mapping_range(&pin->session->mapping, (loff_t)pin->range.first << PAGE_SHIFT, pin->bytes, 1);
}
