// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Clients: registration, lookup by memory range, and the invalidation callback.
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "fake_rdma_core.h"

static LIST_HEAD(clients);
static DEFINE_MUTEX(lock); /* protects the list */
/*
 * By core context. Contexts are reused late, so that a late invalidation finds nothing instead of another registration.
 */
static DEFINE_XARRAY_ALLOC1(invalidatable);
static u32 next_context;

static bool is_complete(const struct peer_memory_client *operations)
{
	return operations->acquire && operations->get_pages && operations->dma_map && operations->dma_unmap &&
	       operations->put_pages && operations->get_page_size && operations->release;
}

static bool has_name(const char *name)
{
	struct fake_client *client;

	list_for_each_entry(client, &clients, entry) {
		if (strncmp(client->operations->name, name, IB_PEER_MEMORY_NAME_MAX) == 0)
			return true;
	}
	return false;
}

static bool does_unmap(const struct peer_memory_client *operations)
{
	const struct peer_memory_client_ex *extended = container_of(operations, struct peer_memory_client_ex, client);

	if (!operations->version[IB_PEER_MEMORY_VER_MAX - 1])
		return false;
	return extended->ex_size >= offsetofend(struct peer_memory_client_ex, flags) &&
	       extended->flags & PEER_MEM_INVALIDATE_UNMAPS;
}

/* Stops the adapter. Afterwards the core does not use the addresses, regardless of who unmaps. */
static void invalidate_mapped(struct fake_registration *registration)
{
	fake_adapter_stop(registration);
	fake_core_count(&fake_core_counters.stopped_by_invalidation, 1);
	if (!registration->client->unmaps) {
		registration->state = FAKE_STATE_STOPPED;
		fake_registration_unmap_and_put(registration);
		return;
	}
	memset(&registration->sg, 0, sizeof(registration->sg));
	registration->state = FAKE_STATE_INVALIDATED;
	fake_core_count(&fake_core_counters.mapped, -1);
}

static int invalidate(void *handle, u64 core_context)
{
	struct fake_registration *registration;

	fake_core_count(&fake_core_counters.invalidations, 1);
	if (!handle)
		fake_core_mistake("invalidation with a NULL handle");
	xa_lock(&invalidatable);
	registration = xa_load(&invalidatable, core_context);
	if (registration)
		kref_get(&registration->references);
	xa_unlock(&invalidatable);
	fake_faults_pass(FAKE_CORE_INVALIDATE_ENTER);
	if (!registration)
		return 0; /* it is already gone */
	down(&registration->mapping_lock);
	if (registration->state == FAKE_STATE_MAPPED)
		invalidate_mapped(registration);
	up(&registration->mapping_lock);
	fake_faults_pass(FAKE_CORE_INVALIDATE_LEAVE);
	kref_put(&registration->references, fake_registration_free);
	return 0;
}

void *ib_register_peer_memory_client(const struct peer_memory_client *operations, invalidate_peer_memory *callback)
{
	struct fake_client *client;

	if (fake_faults_knob(FAKE_CORE_REFUSE_CLIENTS) || !is_complete(operations))
		return NULL;
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return NULL;
	client->operations = operations;
	client->unmaps = does_unmap(operations);
	init_waitqueue_head(&client->unused);
	if (callback) {
		client->can_invalidate = true;
		*callback = invalidate;
	}
	mutex_lock(&lock);
	if (has_name(operations->name)) {
		kfree(client);
		client = NULL;
	} else {
		list_add_tail(&client->entry, &clients);
		fake_core_count(&fake_core_counters.clients, 1);
	}
	mutex_unlock(&lock);
	return client;
}
EXPORT_SYMBOL(ib_register_peer_memory_client);

void ib_unregister_peer_memory_client(void *handle)
{
	struct fake_client *client = handle;

	mutex_lock(&lock);
	list_del(&client->entry);
	fake_core_count(&fake_core_counters.clients, -1);
	mutex_unlock(&lock);
	wait_event(client->unused, atomic_read(&client->users) == 0);
	kfree(client);
}
EXPORT_SYMBOL(ib_unregister_peer_memory_client);

/* Returns NULL if no client accepts the memory; then `*result` is the last client's return value. */
struct fake_client *fake_client_acquire(u64 address, u64 size, void **context, int *result)
{
	struct fake_client *client, *found = NULL;

	*result = 0;
	mutex_lock(&lock);
	list_for_each_entry(client, &clients, entry) {
		*result = client->operations->acquire(address, size, NULL, NULL, context);
		if (*result > 0) {
			atomic_inc(&client->users);
			found = client;
			break;
		}
	}
	mutex_unlock(&lock);
	return found;
}

void fake_client_drop(struct fake_client *client)
{
	if (atomic_dec_and_test(&client->users))
		wake_up_all(&client->unused);
}

int fake_client_allow_invalidation(struct fake_registration *registration)
{
	int error;

	if (!registration->client->can_invalidate)
		return 0;
	error = xa_alloc_cyclic(&invalidatable, &registration->core_context, registration, xa_limit_32b, &next_context,
				GFP_KERNEL);
	return error < 0 ? error : 0;
}

void fake_client_end_invalidation(struct fake_registration *registration)
{
	if (registration->core_context)
		xa_erase(&invalidatable, registration->core_context);
	registration->core_context = 0;
}
