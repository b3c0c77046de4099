// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The adapter's DMA addresses of pinned pages.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/pci.h>
#include <linux/printk.h>

#include "client.h"
#include "p2p_table.h"
#include "registration.h"

static int check_mapping(const struct peermem_registration *registration, const struct nvidia_p2p_dma_mapping *mapping)
{
	unsigned int i;

	if (!mapping) {
		pr_err_ratelimited("the driver mapped memory for an adapter but returned no mapping\n");
		return -EIO;
	}
	if (!gdrkit_p2p_mapping_is_known(mapping)) {
		pr_err_ratelimited("unsupported version 0x%x of the driver's DMA mapping: update gdrkit\n",
				   mapping->version);
		return -EINVAL;
	}
	if (mapping->page_size_type != NVIDIA_P2P_PAGE_SIZE_64KB || mapping->entries != registration->page_count ||
	    !mapping->dma_addresses) {
		pr_err_ratelimited("the driver mapped %u pages of size type %u instead of %u of 64 KiB\n",
				   mapping->entries, mapping->page_size_type, registration->page_count);
		return -EINVAL;
	}
	for (i = 0; i < mapping->entries; i++) {
		if (!IS_ALIGNED(mapping->dma_addresses[i], PAGE_SIZE)) {
			pr_err_ratelimited("DMA address %u of %u is not page-aligned\n", i, mapping->entries);
			return -EINVAL;
		}
	}
	return 0;
}

/* One entry per GPU page, without struct page: the core reads only addresses and lengths. */
static void fill(struct sg_table *sg, const struct nvidia_p2p_dma_mapping *mapping)
{
	struct scatterlist *entry;
	unsigned int i;

	for_each_sg(sg->sgl, entry, mapping->entries, i) {
		sg_set_page(entry, NULL, PEERMEM_PAGE_SIZE, 0);
		sg_dma_address(entry) = mapping->dma_addresses[i];
		sg_dma_len(entry) = PEERMEM_PAGE_SIZE;
	}
}

static int begin(struct peermem_registration *registration, struct nvidia_p2p_page_table **table)
{
	int error = 0;

	mutex_lock(&registration->lock);
	*table = registration->table;
	if (registration->is_revoked)
		error = -EFAULT;
	else if (registration->is_over || registration->is_mapping || registration->sg.sgl)
		error = -EINVAL;
	else
		registration->is_mapping = true;
	mutex_unlock(&registration->lock);
	return error;
}

/*
 * Publishes the addresses to the core, or fails. Reads the mapping under the lock: a later callback waits for the lock,
 * and an earlier one has set is_revoked, after which the mapping must not be read.
 */
static int end(struct peermem_registration *registration, struct nvidia_p2p_dma_mapping *mapping, struct sg_table *sg,
	       int error)
{
	mutex_lock(&registration->lock);
	registration->is_mapping = false;
	if (!error && registration->is_revoked)
		error = -EFAULT;
	if (!error) {
		registration->mapping = mapping; /* must be undone even if it is invalid */
		error = check_mapping(registration, mapping);
	}
	if (!error) {
		fill(sg, mapping);
		registration->sg = *sg;
		registration->is_shown = true;
	}
	mutex_unlock(&registration->lock);
	wake_up_all(&registration->mapped);
	return error;
}

/*
 * Ends a mapping. For revocable pins, dma_unmap_pages could race with a callback that frees the table. There the driver
 * undoes the mapping when the table is released. The adapter has stopped, so the mapping is unused until then.
 */
static void unmap(struct peermem_registration *registration)
{
	struct nvidia_p2p_dma_mapping *mapping;
	struct nvidia_p2p_page_table *table;
	struct pci_dev *peer;
	int error;

	mutex_lock(&registration->lock);
	registration->is_shown = false;
	mapping = registration->mapping;
	table = registration->is_over ? NULL : registration->table;
	peer = registration->peer;
	if (registration->is_persistent)
		registration->mapping = NULL;
	mutex_unlock(&registration->lock);
	if (!registration->is_persistent || !mapping || !table)
		return;
	error = nvidia_p2p_dma_unmap_pages(peer, table, mapping);
	if (error)
		pr_err_ratelimited("the driver cannot undo a DMA mapping (errno %d); it ends with the pin\n", -error);
}

int peermem_dma_map(struct sg_table *sg_head, void *context, struct device *device, int unused, int *count)
{
	struct peermem_registration *registration = context;
	struct nvidia_p2p_dma_mapping *mapping = NULL;
	struct nvidia_p2p_page_table *table;
	struct sg_table sg;
	int error;

	if (!device || !dev_is_pci(device)) {
		pr_err_ratelimited("cannot map GPU memory for an adapter that is not a PCI device\n");
		return -EINVAL;
	}
	error = sg_alloc_table(&sg, registration->page_count, GFP_KERNEL);
	if (error)
		return error;
	error = begin(registration, &table);
	if (error)
		goto free_sg;
	registration->peer = to_pci_dev(device);
	error = nvidia_p2p_dma_map_pages(registration->peer, table, &mapping);
	error = end(registration, mapping, &sg, error);
	if (error)
		goto undo;
	*sg_head = sg;
	*count = sg.nents;
	return 0;

undo:
	unmap(registration);
free_sg:
	sg_free_table(&sg);
	return error;
}

int peermem_dma_unmap(struct sg_table *sg_head, void *context, struct device *device)
{
	unmap(context);
	return 0;
}
