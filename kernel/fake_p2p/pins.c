// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins: nvidia_p2p_get_pages and put_pages, both interfaces, and the callback when pinned memory is freed.
#include <linux/sched.h>
#include <linux/slab.h>

#include "fake_p2p.h"

static u64 *counter_of(const struct fake_pin *pin)
{
	if (pin->is_refused)
		return &fake_counters.refused_pins;
	return pin->is_persistent ? &fake_counters.persistent_pins : &fake_counters.pins;
}

/* Releases a live pin. */
static void end(struct fake_pin *pin)
{
	struct fake_memory *memory = pin->memory;

	fake_dma_forget(&pin->mappings);
	--*counter_of(pin);
	list_del(&pin->entry);
	fake_table_quarantine(pin);
	kref_put(&memory->references, fake_memory_release);
}

/* Takes over `pin` only on success. The caller holds fake_rm_lock. */
static int establish(struct fake_pin *pin)
{
	int error;

	pin->memory = fake_memory_at(pin->va, pin->size);
	if (!pin->memory)
		return -EINVAL;
	if (pin->memory->process != pin->process && !fake_faults_knob(FAKE_P2P_PIN_FOREIGN_MEMORY))
		return -EINVAL; /* the driver finds only the calling process's allocations */
	error = fake_table_fill(pin);
	if (error)
		return error;
	kref_get(&pin->memory->references);
	list_add_tail(&pin->entry, &pin->memory->pins);
	list_add_tail(&pin->table_entry, &fake_live_pins);
	++*counter_of(pin);
	return 0;
}

static int get(const struct fake_pin *request, enum fake_p2p_call call, struct nvidia_p2p_page_table **table)
{
	struct fake_pin *pin;
	int error;

	fake_faults_pass(FAKE_P2P_GET_ENTER);
	if (!table || !request->size || request->va % FAKE_P2P_PAGE || request->size % FAKE_P2P_PAGE)
		return -EINVAL;
	pin = kmemdup(request, sizeof(*request), GFP_KERNEL);
	if (!pin)
		return -ENOMEM;
	pin->process = current->tgid;
	INIT_LIST_HEAD(&pin->mappings);
	mutex_lock(&fake_rm_lock);
	fake_counters.gets++;
	error = fake_faults_injected_error(call);
	if (!error)
		error = establish(pin);
	if (!error)
		*table = pin->table;
	if (!error && fake_faults_knob(FAKE_P2P_DAMAGE) == FAKE_P2P_NO_TABLE) {
		*table = NULL; /* without a table the client cannot put the pin, so release it */
		end(pin);
	}
	mutex_unlock(&fake_rm_lock);
	if (error)
		fake_table_destroy(pin);
	else
		fake_faults_pass(FAKE_P2P_GET_LEAVE);
	return error;
}

int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table, void (*free_callback)(void *data), void *data)
{
	struct fake_pin request = {
		.va = virtual_address,
		.size = length,
		.token = p2p_token,
		.va_space = va_space,
		.callback = free_callback,
		.data = data,
	};

	if (!free_callback)
		return -EINVAL;
	return get(&request, FAKE_P2P_CALL_GET, page_table);
}
FAKE_P2P_EXPORT(nvidia_p2p_get_pages);

int nvidia_p2p_get_pages_persistent(u64 virtual_address, u64 length, struct nvidia_p2p_page_table **page_table,
				    u32 flags)
{
	struct fake_pin request = { .va = virtual_address, .size = length, .flags = flags, .is_persistent = true };
	int refusal = fake_faults_knob(FAKE_P2P_REFUSE_PERSISTENT);

	if (refusal)
		return -refusal;
	if (flags & ~NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING || (flags && fake_faults_knob(FAKE_P2P_REFUSE_FORCE_BAR1)))
		return -EINVAL;
	return get(&request, FAKE_P2P_CALL_GET_PERSISTENT, page_table);
}
FAKE_P2P_EXPORT(nvidia_p2p_get_pages_persistent);

/* Checks arguments that the driver ignores but a correct client passes anyway. */
static void compare(const struct fake_pin *pin, const struct fake_pin *request)
{
	if (pin->va == request->va && pin->is_persistent == request->is_persistent)
		return;
	pr_err("fake_p2p: put with another address or interface than at get; the driver releases the pin anyway\n");
	fake_counters.put_wrong++;
}

/*
 * The driver's rule: search the calling process's pins for this table pointer and ignore the address. Finding none is
 * not an error.
 */
static int put_revocable(const struct fake_pin *request, const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin = fake_table_live(table), *ended;
	int error;

	if (request->token || request->va_space) {
		pr_err("fake_p2p: put with tokens, which can free a table twice in the driver\n");
		fake_counters.put_with_token++;
	}
	if (!pin) {
		ended = fake_table_in_quarantine(table);
		if (ended && ended->is_revoked) {
			fake_counters.puts_after_callback++;
		} else {
			pr_err("fake_p2p: put of a table that is not pinned\n");
			fake_counters.put_unknown++;
		}
		return 0;
	}
	if (pin->process != current->tgid) {
		pr_err("fake_p2p: put by a process that did not pin; the driver finds nothing\n");
		fake_counters.put_elsewhere++;
		return 0;
	}
	compare(pin, request);
	error = fake_faults_injected_error(FAKE_P2P_CALL_PUT);
	if (!error)
		end(pin);
	return error;
}

/* Allowed from any process. The driver drops its reference on the GPU even if the put fails. */
static int put_persistent(const struct fake_pin *request, const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin = fake_table_live(table);
	int error;

	if (!pin) {
		pr_err("fake_p2p: put of a persistent table that is not pinned\n");
		fake_counters.put_unknown++;
		return -EINVAL;
	}
	if (pin->is_refused) {
		pr_err("fake_p2p: second put of a persistent pin, which drops another pin's reference\n");
		fake_counters.put_twice++;
		return -EIO;
	}
	compare(pin, request);
	error = fake_faults_injected_error(FAKE_P2P_CALL_PUT_PERSISTENT);
	if (!error) {
		end(pin);
	} else {
		--*counter_of(pin);
		pin->is_refused = true;
		++*counter_of(pin);
	}
	return error;
}

void fake_pins_drop_refused(void)
{
	struct fake_pin *pin, *next;

	list_for_each_entry_safe(pin, next, &fake_live_pins, table_entry)
		if (pin->is_refused)
			end(pin);
}

static int put(const struct fake_pin *request, const struct nvidia_p2p_page_table *table)
{
	int error;

	if (READ_ONCE(fake_callback_task) == current) {
		pr_err("fake_p2p: put_pages in a callback, which deadlocks in the driver\n");
		fake_counters.put_in_callback++;
		return -EDEADLK;
	}
	fake_faults_pass(FAKE_P2P_PUT_ENTER);
	mutex_lock(&fake_rm_lock);
	fake_counters.puts++;
	error = request->is_persistent ? put_persistent(request, table) : put_revocable(request, table);
	mutex_unlock(&fake_rm_lock);
	fake_faults_pass(FAKE_P2P_PUT_LEAVE);
	return error;
}

int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address, struct nvidia_p2p_page_table *page_table)
{
	struct fake_pin request = { .va = virtual_address, .token = p2p_token, .va_space = va_space };

	return page_table ? put(&request, page_table) : 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_put_pages);

int nvidia_p2p_put_pages_persistent(u64 virtual_address, struct nvidia_p2p_page_table *page_table, u32 flags)
{
	struct fake_pin request = { .va = virtual_address, .is_persistent = true };

	if (flags)
		return -EINVAL;
	return page_table ? put(&request, page_table) : 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_put_pages_persistent);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	struct fake_pin *pin;

	if (READ_ONCE(fake_callback_task) == current) {
		fake_counters.freed_in_callback++;
		return 0;
	}
	mutex_lock(&fake_rm_lock);
	pin = fake_table_in_quarantine(page_table);
	if (pin && pin->is_revoked)
		fake_counters.freed_after_callback++;
	mutex_unlock(&fake_rm_lock);
	return 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_free_page_table);

/* Releases every pin with a callback, because the memory is freed. The caller holds fake_rm_lock. */
void fake_pins_revoke(struct fake_memory *memory)
{
	struct fake_pin *pin, *next;

	list_for_each_entry_safe(pin, next, &memory->pins, entry) {
		if (pin->is_persistent)
			continue;
		WRITE_ONCE(fake_callback_task, current);
		fake_faults_pass(FAKE_P2P_CALLBACK_ENTER);
		fake_counters.callbacks++;
		pin->callback(pin->data);
		fake_faults_pass(FAKE_P2P_CALLBACK_LEAVE);
		WRITE_ONCE(fake_callback_task, NULL);
		pin->is_revoked = true;
		end(pin);
	}
}
