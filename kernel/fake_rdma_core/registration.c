// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The end of a registration: what steps and invalidations both do.
#include <linux/slab.h>

#include "fake_rdma_core.h"

const struct peer_memory_client *fake_registration_client(const struct fake_registration *registration)
{
	return registration->client->operations;
}

void fake_registration_free(struct kref *references)
{
	kfree(container_of(references, struct fake_registration, references));
}

void fake_registration_unmap(struct fake_registration *registration)
{
	if (registration->state != FAKE_STATE_STOPPED)
		return;
	fake_core_count(&fake_core_counters.unmaps, 1);
	fake_core_count(&fake_core_counters.mapped, -1);
	if (fake_registration_client(registration)->dma_unmap(&registration->sg, registration->context, fake_adapter_device()))
		fake_core_mistake("dma_unmap failed, which a core cannot handle");
	registration->state = FAKE_STATE_UNMAPPED;
}

void fake_registration_put(struct fake_registration *registration)
{
	if (registration->state != FAKE_STATE_UNMAPPED && registration->state != FAKE_STATE_PINNED)
		return;
	fake_core_count(&fake_core_counters.puts, 1);
	fake_registration_client(registration)->put_pages(&registration->sg, registration->context);
	if (registration->sg.sgl)
		fake_core_mistake("put_pages did not clear the scatterlist");
	registration->state = FAKE_STATE_PUT;
}

void fake_registration_unmap_and_put(struct fake_registration *registration)
{
	fake_registration_unmap(registration);
	fake_registration_put(registration);
}
