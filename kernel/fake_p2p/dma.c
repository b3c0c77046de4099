// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DMA mappings of pinned pages for a peer device. DMA addresses are physical addresses plus an offset. Nothing here
// does DMA, but tests detect a client that passes physical addresses to its device.
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "fake_p2p.h"

struct fake_mapping {
	struct list_head entry;
	struct nvidia_p2p_dma_mapping client;
	u64 *addresses;
};

static void destroy(struct fake_mapping *mapping)
{
	list_del(&mapping->entry);
	memset(&mapping->client, 0xa5, sizeof(mapping->client));
	kvfree(mapping->addresses);
	kfree(mapping);
	fake_counters.mappings--;
}

void fake_dma_forget(struct list_head *mappings)
{
	struct fake_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, mappings, entry)
		destroy(mapping);
}

static void damage_mapping(struct nvidia_p2p_dma_mapping *client)
{
	switch (fake_faults_knob(FAKE_P2P_MAPPING_DAMAGE)) {
	case FAKE_P2P_NO_PAGES:
		client->dma_addresses = NULL;
		break;
	case FAKE_P2P_NO_ENTRIES:
		client->entries = 0;
		break;
	case FAKE_P2P_ONE_SHORT:
		client->entries--;
		break;
	case FAKE_P2P_ONE_LONG:
		client->entries++;
		break;
	case FAKE_P2P_MISALIGNED:
		client->dma_addresses[client->entries - 1] += 512;
		break;
	default:
		break;
	}
}

static struct fake_mapping *make(struct pci_dev *peer, const struct fake_pin *pin)
{
	struct fake_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	u32 i, entries = pin->capacity - 1;

	if (!mapping)
		return NULL;
	mapping->addresses = kvcalloc(entries + 1, sizeof(u64), GFP_KERNEL);
	if (!mapping->addresses) {
		kfree(mapping);
		return NULL;
	}
	for (i = 0; i < entries; i++)
		mapping->addresses[i] = pin->pages[i].physical_address + FAKE_P2P_DMA_OFFSET;
	mapping->client.version = fake_faults_knob(FAKE_P2P_MAPPING_VERSION);
	mapping->client.page_size_type = pin->table->page_size;
	mapping->client.entries = entries;
	mapping->client.dma_addresses = mapping->addresses;
	mapping->client.pci_dev = peer;
	damage_mapping(&mapping->client);
	return mapping;
}

static int map_locked(struct pci_dev *peer, struct nvidia_p2p_page_table *table, struct nvidia_p2p_dma_mapping **result)
{
	struct fake_pin *pin = fake_table_live(table);
	struct fake_mapping *mapping;
	int error;

	fake_counters.maps++;
	error = fake_faults_injected_error(FAKE_P2P_CALL_DMA_MAP);
	if (error)
		return error;
	if (!pin)
		return -EINVAL;
	if (pin->flags & NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING)
		return -ENOTSUPP;
	mapping = make(peer, pin);
	if (!mapping)
		return -ENOMEM;
	list_add_tail(&mapping->entry, &pin->mappings);
	fake_counters.mappings++;
	*result = fake_faults_knob(FAKE_P2P_MAPPING_DAMAGE) == FAKE_P2P_NO_TABLE ? NULL : &mapping->client;
	return 0;
}

int nvidia_p2p_dma_map_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			     struct nvidia_p2p_dma_mapping **dma_mapping)
{
	int error;

	if (!peer || !page_table || !dma_mapping)
		return -EINVAL;
	fake_faults_pass(FAKE_P2P_DMA_MAP_ENTER);
	mutex_lock(&fake_rm_lock);
	error = map_locked(peer, page_table, dma_mapping);
	mutex_unlock(&fake_rm_lock);
	fake_faults_pass(FAKE_P2P_DMA_MAP_LEAVE);
	return error;
}
FAKE_P2P_EXPORT(nvidia_p2p_dma_map_pages);

static int unmap_locked(struct pci_dev *peer, struct nvidia_p2p_page_table *table,
			struct nvidia_p2p_dma_mapping *client)
{
	struct fake_pin *pin = fake_table_live(table);
	struct fake_mapping *mapping;
	int error = fake_faults_injected_error(FAKE_P2P_CALL_DMA_UNMAP);

	if (error)
		return error;
	if (!pin)
		return 0; /* released with its table */
	list_for_each_entry(mapping, &pin->mappings, entry) {
		if (&mapping->client != client)
			continue;
		if (mapping->client.pci_dev != peer) {
			pr_err("fake_p2p: dma_unmap_pages for a different device than dma_map_pages\n");
			fake_counters.unmap_wrong++;
			return -EINVAL;
		}
		destroy(mapping);
		return 0;
	}
	return 0;
}

int nvidia_p2p_dma_unmap_pages(struct pci_dev *peer, struct nvidia_p2p_page_table *page_table,
			       struct nvidia_p2p_dma_mapping *dma_mapping)
{
	int error;

	if (!peer || !page_table || !dma_mapping)
		return -EINVAL;
	if (READ_ONCE(fake_callback_task) == current) {
		pr_err("fake_p2p: dma_unmap_pages in a callback, which deadlocks in the driver\n");
		fake_counters.put_in_callback++;
		return -EDEADLK;
	}
	mutex_lock(&fake_rm_lock);
	error = unmap_locked(peer, page_table, dma_mapping);
	mutex_unlock(&fake_rm_lock);
	return error;
}
FAKE_P2P_EXPORT(nvidia_p2p_dma_unmap_pages);

int nvidia_p2p_free_dma_mapping(struct nvidia_p2p_dma_mapping *dma_mapping)
{
	return 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_free_dma_mapping);
