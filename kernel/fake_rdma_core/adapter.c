// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The adapter: its addresses until it is stopped. Nothing here does DMA; tests compare the addresses with the
// provider's memory.
#include <linux/miscdevice.h>
#include <linux/slab.h>

#include "fake_rdma_core.h"

static struct device *pci_adapter;
static const struct miscdevice *control_node;

void fake_adapter_use(struct device *pci_device, const struct miscdevice *node)
{
	pci_adapter = pci_device;
	control_node = node;
}

/* The node's own device serves as an adapter that is not a PCI device. */
struct device *fake_adapter_device(void)
{
	return fake_faults_knob(FAKE_CORE_NOT_PCI) ? control_node->this_device : pci_adapter;
}

static u64 page_size_of(const struct fake_registration *registration)
{
	return registration->client->operations->get_page_size(registration->context);
}

/* Checks what a real core relies on without checking. */
void fake_adapter_check(const struct fake_registration *registration, int count)
{
	u64 page_size = page_size_of(registration), expected, covered = 0;
	struct scatterlist *entry;
	int i;

	if (page_size < PAGE_SIZE || page_size & (page_size - 1)) {
		fake_core_mistake("get_page_size is not a power of two of at least PAGE_SIZE");
		return;
	}
	if (!registration->sg.sgl || count <= 0 || count != registration->sg.nents) {
		fake_core_mistake("dma_map succeeded but its table does not have the returned number of entries");
		return;
	}
	for_each_sg(registration->sg.sgl, entry, count, i) {
		if (!IS_ALIGNED(sg_dma_address(entry), PAGE_SIZE) || !IS_ALIGNED(sg_dma_len(entry), PAGE_SIZE))
			fake_core_mistake("an entry of dma_map is not page-aligned");
		covered += sg_dma_len(entry);
	}
	expected = round_up(registration->address + registration->size, page_size) -
		   round_down(registration->address, page_size);
	if (covered != expected)
		fake_core_mistake("dma_map does not cover exactly the client's pages around the range");
}

/* The adapter gets whole CPU pages: the rest of the client's larger pages is trimmed. */
int fake_adapter_start(struct fake_registration *registration)
{
	u64 page_size = page_size_of(registration);
	u64 before = round_down(registration->address, PAGE_SIZE) - round_down(registration->address, page_size);
	u64 end = registration->address + registration->size;
	u64 after = round_up(end, page_size) - round_up(end, PAGE_SIZE);
	u32 i, count = registration->sg.nents;
	struct fake_core_range *ranges = kvcalloc(count, sizeof(*ranges), GFP_KERNEL);
	struct scatterlist *entry;

	if (!ranges)
		return -ENOMEM;
	for_each_sg(registration->sg.sgl, entry, count, i) {
		ranges[i].dma_address = sg_dma_address(entry);
		ranges[i].size = sg_dma_len(entry);
	}
	ranges[0].dma_address += before;
	ranges[0].size -= before;
	ranges[count - 1].size -= after;
	registration->reachable_count = count;
	registration->reachable = ranges;
	fake_core_count(&fake_core_counters.active, 1);
	return 0;
}

void fake_adapter_stop(struct fake_registration *registration)
{
	if (!registration->reachable)
		return;
	kvfree(registration->reachable);
	registration->reachable = NULL;
	registration->reachable_count = 0;
	fake_core_count(&fake_core_counters.active, -1);
}
