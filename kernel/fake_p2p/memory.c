// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU memory: 64 KiB pages of a PCI BAR of QEMU, allocated at made-up GPU addresses that are never reused.
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fake_p2p.h"

#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110
#define IVSHMEM_BAR 2

static struct pci_dev *device;
static void __iomem *view; /* write-combining, so every other mapping of this BAR must be too */
static u32 total_pages;
static unsigned long *used;
static u64 next_va = 0x7f0000000000ULL;
static LIST_HEAD(all);
static LIST_HEAD(freed_pinned);

int fake_memory_open_bar(void)
{
	int error;

	device = pci_get_device(IVSHMEM_VENDOR, IVSHMEM_DEVICE, NULL);
	if (!device) {
		pr_err("fake_p2p: cannot find an ivshmem device: start QEMU with -device ivshmem-plain\n");
		return -ENODEV;
	}
	error = pci_enable_device(device);
	if (error)
		goto put;
	total_pages = pci_resource_len(device, IVSHMEM_BAR) / FAKE_P2P_PAGE;
	error = -ENOMEM;
	used = bitmap_zalloc(total_pages, GFP_KERNEL);
	if (!used)
		goto disable;
	view = ioremap_wc(pci_resource_start(device, IVSHMEM_BAR), pci_resource_len(device, IVSHMEM_BAR));
	if (!view)
		goto free;
	fake_counters.total_pages = total_pages;
	return 0;
free:
	bitmap_free(used);
disable:
	pci_disable_device(device);
put:
	pci_dev_put(device);
	return error;
}

void fake_memory_close_bar(void)
{
	iounmap(view);
	bitmap_free(used);
	pci_disable_device(device);
	pci_dev_put(device);
}

static phys_addr_t physical_of_page(u32 page)
{
	return pci_resource_start(device, IVSHMEM_BAR) + (u64)page * FAKE_P2P_PAGE;
}

static int take_contiguous(struct fake_memory *memory)
{
	unsigned long first = bitmap_find_next_zero_area(used, total_pages, 0, memory->page_count, 0);
	u32 i;

	if (first >= total_pages)
		return -ENOMEM;
	for (i = 0; i < memory->page_count; i++)
		memory->pages[i] = first + i;
	bitmap_set(used, first, memory->page_count);
	return 0;
}

/* Takes free pages in ascending order with a gap after every `run` pages; reversed if requested. */
static int take_scattered(struct fake_memory *memory, u32 run, bool is_reversed)
{
	unsigned long page = 0;
	u32 i;

	for (i = 0; i < memory->page_count; i++) {
		if (i && i % run == 0)
			page++;
		page = find_next_zero_bit(used, total_pages, page);
		if (page >= total_pages)
			return -ENOMEM;
		memory->pages[is_reversed ? memory->page_count - 1 - i : i] = page++;
	}
	for (i = 0; i < memory->page_count; i++)
		set_bit(memory->pages[i], used);
	return 0;
}

static int take_pages(struct fake_memory *memory, u32 layout)
{
	switch (layout) {
	case FAKE_P2P_CONTIGUOUS:
		return take_contiguous(memory);
	case FAKE_P2P_REVERSED:
		return take_scattered(memory, U32_MAX, true);
	case FAKE_P2P_RUNS:
		return take_scattered(memory, 3, false);
	default:
		return -EINVAL;
	}
}

int fake_memory_allocate(const void *owner, u64 size, u32 layout, u64 *va)
{
	struct fake_memory *memory;
	u64 pages = DIV_ROUND_UP_ULL(size, FAKE_P2P_PAGE);
	int error = -ENOMEM;

	if (!size || pages > total_pages)
		return size ? -ENOMEM : -EINVAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	kref_init(&memory->references);
	INIT_LIST_HEAD(&memory->pins);
	memory->owner = owner;
	memory->process = current->tgid;
	memory->page_count = pages;
	memory->pages = kvcalloc(pages, sizeof(u32), GFP_KERNEL);
	if (!memory->pages)
		goto free;
	mutex_lock(&fake_rm_lock);
	error = take_pages(memory, layout);
	if (!error) {
		memory->va = next_va;
		next_va += (pages + 1) * FAKE_P2P_PAGE; /* leaves an unmapped page between allocations */
		list_add_tail(&memory->entry, &all);
		fake_counters.allocations++;
		fake_counters.used_pages += pages;
		*va = memory->va;
	}
	mutex_unlock(&fake_rm_lock);
	if (!error)
		return 0;
	kvfree(memory->pages);
free:
	kfree(memory);
	return error;
}

static struct fake_memory *find_in(struct list_head *list, u64 va, u64 size)
{
	struct fake_memory *memory;

	list_for_each_entry(memory, list, entry) {
		u64 whole = memory->page_count * FAKE_P2P_PAGE;

		if (va >= memory->va && va - memory->va < whole && size <= whole - (va - memory->va))
			return memory;
	}
	return NULL;
}

struct fake_memory *fake_memory_at(u64 va, u64 size)
{
	return find_in(&all, va, size);
}

phys_addr_t fake_memory_physical(const struct fake_memory *memory, u64 va)
{
	u64 offset = va - memory->va;

	return physical_of_page(memory->pages[offset / FAKE_P2P_PAGE]) + offset % FAKE_P2P_PAGE;
}

/* The bytes from va to the end of its page, at most `size`; NULL for an invalid address. */
static void __iomem *piece_at(u64 va, size_t *size)
{
	struct fake_memory *memory = find_in(&all, va, 1);

	if (!memory)
		memory = find_in(&freed_pinned, va, 1);
	if (!memory)
		return NULL;
	*size = min_t(u64, *size, FAKE_P2P_PAGE - va % FAKE_P2P_PAGE);
	return view + (fake_memory_physical(memory, va) - pci_resource_start(device, IVSHMEM_BAR));
}

static ssize_t transfer(char __user *to, const char __user *from, size_t size, u64 va)
{
	size_t done = 0;
	ssize_t error = 0;
	char *bounce = kmalloc(PAGE_SIZE, GFP_KERNEL);

	if (!bounce)
		return -ENOMEM;
	while (done < size && !error) {
		size_t now = min_t(size_t, size - done, PAGE_SIZE);
		void __iomem *piece;

		mutex_lock(&fake_rm_lock);
		piece = piece_at(va + done, &now);
		if (!piece)
			error = -EFAULT;
		else if (to)
			memcpy_fromio(bounce, piece, now);
		else if (copy_from_user(bounce, from + done, now))
			error = -EFAULT;
		else
			memcpy_toio(piece, bounce, now);
		mutex_unlock(&fake_rm_lock);
		if (!error && to && copy_to_user(to + done, bounce, now))
			error = -EFAULT;
		if (!error)
			done += now;
	}
	wmb(); /* orders the writes to the BAR before the caller's reads through another mapping */
	kfree(bounce);
	return done ? done : error;
}

ssize_t fake_memory_read(struct file *file, char __user *to, size_t size, loff_t *va)
{
	return transfer(to, NULL, size, *va);
}

ssize_t fake_memory_write(struct file *file, const char __user *from, size_t size, loff_t *va)
{
	return transfer(NULL, from, size, *va);
}

/* The last pin or the allocation itself is released, so the pages may be reused. The caller holds fake_rm_lock. */
void fake_memory_release(struct kref *references)
{
	struct fake_memory *memory = container_of(references, struct fake_memory, references);
	u32 i;

	list_del(&memory->entry);
	for (i = 0; i < memory->page_count; i++)
		clear_bit(memory->pages[i], used);
	fake_counters.used_pages -= memory->page_count;
	kvfree(memory->pages);
	kfree(memory);
}

static void free_locked(struct fake_memory *memory, fake_memory_revoke *revoke)
{
	list_move_tail(&memory->entry, &freed_pinned);
	fake_counters.allocations--;
	revoke(memory);
	kref_put(&memory->references, fake_memory_release);
}

int fake_memory_free(const void *owner, u64 va, fake_memory_revoke *revoke)
{
	struct fake_memory *memory;
	int error = -EINVAL;

	mutex_lock(&fake_rm_lock);
	memory = find_in(&all, va, 1);
	if (memory && memory->va == va && memory->owner == owner) {
		free_locked(memory, revoke);
		error = 0;
	}
	mutex_unlock(&fake_rm_lock);
	return error;
}

void fake_memory_free_all_of(const void *owner, fake_memory_revoke *revoke)
{
	struct fake_memory *memory, *next;

	mutex_lock(&fake_rm_lock);
	list_for_each_entry_safe(memory, next, &all, entry)
		if (memory->owner == owner)
			free_locked(memory, revoke);
	mutex_unlock(&fake_rm_lock);
}
