// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The steps of a registration, each with the locks that a core holds.
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "fake_rdma_core.h"

static DEFINE_XARRAY_ALLOC1(registrations);

static void drop(struct fake_registration *registration)
{
	kref_put(&registration->references, fake_registration_free);
}

static void lock_mapping(struct fake_registration *registration)
{
	if (!registration->client->can_invalidate || registration->is_locked)
		return;
	down(&registration->mapping_lock);
	registration->is_locked = true;
}

static void unlock_mapping(struct fake_registration *registration)
{
	if (!registration->is_locked)
		return;
	registration->is_locked = false;
	up(&registration->mapping_lock);
}

static void release(struct fake_registration *registration)
{
	fake_client_end_invalidation(registration);
	unlock_mapping(registration);
	xa_erase(&registrations, registration->id);
	fake_registration_client(registration)->release(registration->context);
	fake_client_drop(registration->client);
	fake_core_count(&fake_core_counters.registrations, -1);
	drop(registration);
}

static int acquire(const void *owner, u64 address, u64 size, u32 *id)
{
	struct fake_registration *registration;
	struct fake_client *client;
	void *context = NULL;
	int result, error;

	client = fake_client_acquire(address, size, &context, &result);
	if (!client)
		return result;
	registration = kzalloc(sizeof(*registration), GFP_KERNEL);
	error = fake_faults_injected_error(FAKE_CORE_FAIL_MEMORY);
	if (!registration || error)
		goto fail;
	kref_init(&registration->references);
	mutex_init(&registration->steps);
	sema_init(&registration->mapping_lock, 1);
	registration->client = client;
	registration->owner = owner;
	registration->address = address;
	registration->size = size;
	registration->context = context;
	error = xa_alloc(&registrations, &registration->id, registration, xa_limit_31b, GFP_KERNEL);
	if (error)
		goto fail;
	*id = registration->id;
	fake_core_count(&fake_core_counters.registrations, 1);
	return result;

fail:
	kfree(registration);
	client->operations->release(context);
	fake_client_drop(client);
	return -ENOMEM;
}

static int get_pages(struct fake_registration *registration)
{
	const struct peer_memory_client *client = fake_registration_client(registration);
	int error;

	lock_mapping(registration);
	error = fake_faults_injected_error(FAKE_CORE_FAIL_CONTEXT);
	if (!error)
		error = fake_client_allow_invalidation(registration);
	if (!error) {
		error = client->get_pages(registration->address, registration->size, 1, 0, NULL,
					  registration->context, registration->core_context);
		if (error > 0)
			fake_core_mistake("get_pages returned a positive value");
	}
	if (!error)
		registration->state = FAKE_STATE_PINNED;
	return error;
}

static int dma_map(struct fake_registration *registration)
{
	const struct peer_memory_client *client = fake_registration_client(registration);
	int error, count = 0;

	error = client->dma_map(&registration->sg, registration->context, fake_adapter_device(), 0, &count);
	if (error) {
		/* Still under the mapping lock, as in a real core. */
		fake_registration_put(registration);
		return error;
	}
	fake_adapter_check(registration, count);
	fake_core_count(&fake_core_counters.mapped, 1);
	registration->state = FAKE_STATE_MAPPED;
	return 0;
}

/* Releases the lock once the adapter can be stopped. If it failed, it has no addresses. */
static int activate(struct fake_registration *registration)
{
	int error = fake_faults_injected_error(FAKE_CORE_FAIL_ADAPTER);

	if (!error)
		error = fake_adapter_start(registration);
	if (!error)
		unlock_mapping(registration);
	return error;
}

/* From here on the core ignores invalidations of this registration: the adapter has stopped. */
static void stop(struct fake_registration *registration)
{
	lock_mapping(registration);
	fake_adapter_stop(registration);
	if (registration->state == FAKE_STATE_MAPPED)
		registration->state = FAKE_STATE_STOPPED;
	if (!registration->client->unmaps && registration->client->can_invalidate)
		fake_registration_unmap_and_put(registration);
	unlock_mapping(registration);
}

static void deregister(struct fake_registration *registration)
{
	if (registration->state == FAKE_STATE_PINNED)
		fake_registration_put(registration);
	stop(registration);
	fake_registration_unmap_and_put(registration);
	release(registration);
}

static struct fake_registration *find(u32 id)
{
	struct fake_registration *registration;

	xa_lock(&registrations);
	registration = xa_load(&registrations, id);
	if (registration)
		kref_get(&registration->references);
	xa_unlock(&registrations);
	return registration;
}

static bool is_valid(const struct fake_registration *registration, u32 name)
{
	enum fake_state state = registration->state;

	switch (name) {
	case FAKE_CORE_GET_PAGES:
		return state == FAKE_STATE_ACQUIRED;
	case FAKE_CORE_DMA_MAP:
		return state == FAKE_STATE_PINNED;
	case FAKE_CORE_ACTIVATE:
		return state == FAKE_STATE_MAPPED && !registration->reachable;
	case FAKE_CORE_DMA_UNMAP:
		return state != FAKE_STATE_MAPPED;
	case FAKE_CORE_PUT_PAGES:
		return state != FAKE_STATE_MAPPED && state != FAKE_STATE_STOPPED;
	case FAKE_CORE_RELEASE:
		return state == FAKE_STATE_ACQUIRED || state == FAKE_STATE_PUT || state == FAKE_STATE_INVALIDATED;
	default:
		return name == FAKE_CORE_STOP || name == FAKE_CORE_DEREGISTER;
	}
}

static int take(struct fake_registration *registration, u32 name)
{
	int result = 0;

	switch (name) {
	case FAKE_CORE_GET_PAGES:
		result = get_pages(registration);
		break;
	case FAKE_CORE_DMA_MAP:
		result = dma_map(registration);
		break;
	case FAKE_CORE_ACTIVATE:
		result = activate(registration);
		break;
	case FAKE_CORE_STOP:
		stop(registration);
		break;
	case FAKE_CORE_DMA_UNMAP:
		fake_registration_unmap(registration);
		break;
	case FAKE_CORE_PUT_PAGES:
		fake_registration_put(registration);
		break;
	case FAKE_CORE_RELEASE:
		release(registration);
		break;
	default:
		deregister(registration);
	}
	if (result)
		deregister(registration);
	return result;
}

static int take_by_id(u32 id, u32 name, int *result)
{
	struct fake_registration *registration = find(id);
	int error = -EINVAL;

	if (!registration)
		return -EINVAL;
	mutex_lock(&registration->steps);
	if (xa_load(&registrations, id) == registration && is_valid(registration, name)) {
		*result = take(registration, name);
		error = 0;
	}
	mutex_unlock(&registration->steps);
	drop(registration);
	return error;
}

static int register_at_once(const void *owner, struct fake_core_step *step)
{
	static const u32 names[] = { FAKE_CORE_GET_PAGES, FAKE_CORE_DMA_MAP, FAKE_CORE_ACTIVATE };
	int result, error, i;

	step->result = acquire(owner, step->address, step->size, &step->id);
	for (i = 0; i < ARRAY_SIZE(names) && step->result > 0; i++) {
		error = take_by_id(step->id, names[i], &result);
		if (error)
			return error;
		if (result)
			step->result = result;
	}
	return 0;
}

int fake_steps_take(const void *owner, struct fake_core_step *step)
{
	if (step->name == FAKE_CORE_ACQUIRE) {
		step->result = acquire(owner, step->address, step->size, &step->id);
		return 0;
	}
	if (step->name == FAKE_CORE_REGISTER)
		return register_at_once(owner, step);
	return take_by_id(step->id, step->name, &step->result);
}

int fake_steps_addresses(struct fake_core_addresses *request)
{
	struct fake_registration *registration = find(request->id);
	u32 count;
	int error = 0;

	if (!registration)
		return -EINVAL;
	mutex_lock(&registration->steps);
	down(&registration->mapping_lock);
	count = min(registration->reachable_count, request->capacity);
	if (copy_to_user((void __user *)(uintptr_t)request->ranges, registration->reachable,
			 count * sizeof(*registration->reachable)))
		error = -EFAULT;
	request->count = registration->reachable_count;
	up(&registration->mapping_lock);
	mutex_unlock(&registration->steps);
	drop(registration);
	return error;
}

void fake_steps_end_all_of(const void *owner)
{
	struct fake_registration *registration;
	unsigned long id;
	int result;

	xa_for_each(&registrations, id, registration) {
		if (registration->owner == owner)
			take_by_id(id, FAKE_CORE_DEREGISTER, &result);
	}
}
