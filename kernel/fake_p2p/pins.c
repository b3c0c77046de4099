// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins: nvidia_p2p_get_pages and put_pages, both interfaces, and the callback when memory is freed under a pin.
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_p2p.h"
#include "p2p_table.h"

#define POISON 0xa5
/*
 * Tables kept after their end, to see who still writes to them, and to know one whose put was under way. At least so
 * many, and more as long as they are small: while a put waits for the lock, other threads may end a thousand.
 */
#define GRAVES 32
#define GRAVE_PAGES 32768
#define TOO_HIGH 0xfff0000000000000ULL

struct fake_pin {
	struct list_head entry; /* of the memory's pins */
	struct list_head grave; /* of `live`, then of `graves` */
	struct nvidia_p2p_page_table *table; /* what the client holds */
	struct nvidia_p2p_page *pages;
	struct nvidia_p2p_page **pointers;
	struct fake_memory *memory;
	struct list_head mappings;
	u64 va;
	u64 size;
	u64 token;
	u32 va_space;
	u32 capacity;
	u32 flags;
	bool is_persistent;
	bool is_revoked; /* ended by a callback, not by a put */
	u8 uuid[16];
	void (*callback)(void *data);
	void *data;
};

static LIST_HEAD(live);
static LIST_HEAD(graves);
static unsigned int grave_count, grave_pages;

static void destroy(struct fake_pin *pin)
{
	kvfree(pin->pointers);
	kvfree(pin->pages);
	kfree(pin->table);
	kfree(pin);
}

/* Poisoned memory that has changed was written by a client that had given it back. */
static void check_grave(struct fake_pin *pin)
{
	if (!memchr_inv(pin->table, POISON, sizeof(*pin->table)) &&
	    !memchr_inv(pin->pointers, POISON, pin->capacity * sizeof(*pin->pointers)) &&
	    !memchr_inv(pin->pages, POISON, pin->capacity * sizeof(*pin->pages)))
		return;
	pr_err("fake_p2p: a page table was written to after its end\n");
	fake_counters.written_after_free++;
	memset(pin->table, POISON, sizeof(*pin->table));
}

void fake_pins_check_graves(void)
{
	struct fake_pin *pin;

	list_for_each_entry(pin, &graves, grave)
		check_grave(pin);
}

static void drop_oldest_grave(void)
{
	struct fake_pin *pin = list_first_entry(&graves, struct fake_pin, grave);

	check_grave(pin);
	list_del(&pin->grave);
	grave_count--;
	grave_pages -= pin->capacity;
	destroy(pin);
}

void fake_pins_empty_graves(void)
{
	while (grave_count)
		drop_oldest_grave();
}

/* Ends a pin. Its table stays readable as poison: pointers in it lead nowhere. */
static void bury(struct fake_pin *pin)
{
	fake_dma_forget(&pin->mappings);
	if (pin->is_persistent)
		fake_counters.persistent_pins--;
	else
		fake_counters.pins--;
	memset(pin->table, POISON, sizeof(*pin->table));
	memset(pin->pointers, POISON, pin->capacity * sizeof(*pin->pointers));
	memset(pin->pages, POISON, pin->capacity * sizeof(*pin->pages));
	list_del(&pin->entry);
	list_move_tail(&pin->grave, &graves);
	grave_count++;
	grave_pages += pin->capacity;
	while (grave_count > GRAVES && grave_pages > GRAVE_PAGES)
		drop_oldest_grave();
}

static void damage_table(struct fake_pin *pin)
{
	struct nvidia_p2p_page_table *table = pin->table;
	u32 last = table->entries - 1;

	switch (fake_faults_knob(FAKE_P2P_DAMAGE)) {
	case FAKE_P2P_NO_PAGES:
		table->pages = NULL;
		break;
	case FAKE_P2P_NO_ENTRIES:
		table->entries = 0;
		break;
	case FAKE_P2P_ONE_SHORT:
		table->entries--;
		break;
	case FAKE_P2P_ONE_LONG:
		table->entries++;
		break;
	case FAKE_P2P_HOLE:
		table->pages[last] = NULL;
		break;
	case FAKE_P2P_MISALIGNED:
		table->pages[last]->physical_address += 512;
		break;
	case FAKE_P2P_TOO_HIGH:
		table->pages[last]->physical_address |= TOO_HIGH;
		break;
	default:
		break;
	}
}

static int fill_table(struct fake_pin *pin)
{
	struct nvidia_p2p_page_table *table;
	u32 page_size = fake_faults_knob(FAKE_P2P_PAGE_SIZE);
	unsigned int shift = gdrkit_p2p_page_shift(page_size) ?: 16;
	u32 i, entries = DIV_ROUND_UP_ULL(pin->size, 1ULL << shift);

	pin->capacity = entries + 1; /* so that a promise of one more leads to memory of ours */
	pin->table = kzalloc(sizeof(*table), GFP_KERNEL);
	pin->pages = kvcalloc(pin->capacity, sizeof(*pin->pages), GFP_KERNEL);
	pin->pointers = kvcalloc(pin->capacity, sizeof(*pin->pointers), GFP_KERNEL);
	if (!pin->table || !pin->pages || !pin->pointers)
		return -ENOMEM;
	for (i = 0; i < entries; i++) {
		pin->pages[i].physical_address = fake_memory_physical(pin->memory, pin->va + ((u64)i << shift));
		pin->pointers[i] = &pin->pages[i];
	}
	memcpy(pin->uuid, "gdrkit-fake-gpu", sizeof(pin->uuid));
	table = pin->table;
	table->version = fake_faults_knob(FAKE_P2P_TABLE_VERSION);
	table->page_size = page_size;
	table->pages = pin->pointers;
	table->entries = entries;
	table->gpu_uuid = pin->uuid;
	table->flags = fake_faults_knob(FAKE_P2P_TABLE_FLAGS);
	damage_table(pin);
	return 0;
}

/* Called with the lock held; takes over `pin` on success only. */
static int establish(struct fake_pin *pin)
{
	int error;

	pin->memory = fake_memory_at(pin->va, pin->size);
	if (!pin->memory)
		return -EINVAL;
	error = fill_table(pin);
	if (error)
		return error;
	kref_get(&pin->memory->references);
	list_add_tail(&pin->entry, &pin->memory->pins);
	list_add_tail(&pin->grave, &live);
	if (pin->is_persistent)
		fake_counters.persistent_pins++;
	else
		fake_counters.pins++;
	return 0;
}

static int get(const struct fake_pin *wanted, enum fake_p2p_call call, struct nvidia_p2p_page_table **table)
{
	struct fake_pin *pin;
	int error;

	fake_faults_pass(FAKE_P2P_GET_ENTER);
	if (!table || !wanted->size || wanted->va % FAKE_P2P_PAGE || wanted->size % FAKE_P2P_PAGE)
		return -EINVAL;
	pin = kmemdup(wanted, sizeof(*wanted), GFP_KERNEL);
	if (!pin)
		return -ENOMEM;
	INIT_LIST_HEAD(&pin->mappings);
	mutex_lock(&fake_rm_lock);
	fake_counters.gets++;
	error = fake_faults_strike(call);
	if (!error)
		error = establish(pin);
	if (!error)
		*table = pin->table;
	if (!error && fake_faults_knob(FAKE_P2P_DAMAGE) == FAKE_P2P_NO_TABLE) {
		struct fake_memory *memory = pin->memory;

		*table = NULL; /* nobody could put this pin, so it does not stay */
		bury(pin);
		kref_put(&memory->references, fake_memory_release);
	}
	mutex_unlock(&fake_rm_lock);
	if (error)
		destroy(pin);
	else
		fake_faults_pass(FAKE_P2P_GET_LEAVE);
	return error;
}

int nvidia_p2p_get_pages(u64 p2p_token, u32 va_space, u64 virtual_address, u64 length,
			 struct nvidia_p2p_page_table **page_table, void (*free_callback)(void *data), void *data)
{
	struct fake_pin wanted = {
		.va = virtual_address,
		.size = length,
		.token = p2p_token,
		.va_space = va_space,
		.callback = free_callback,
		.data = data,
	};

	if (!free_callback)
		return -EINVAL;
	return get(&wanted, FAKE_P2P_CALL_GET, page_table);
}
FAKE_P2P_EXPORT(nvidia_p2p_get_pages);

int nvidia_p2p_get_pages_persistent(u64 virtual_address, u64 length, struct nvidia_p2p_page_table **page_table,
				    u32 flags)
{
	struct fake_pin wanted = { .va = virtual_address, .size = length, .flags = flags, .is_persistent = true };
	int refusal = fake_faults_knob(FAKE_P2P_REFUSE_PERSISTENT);

	if (refusal)
		return -refusal;
	if (flags & ~NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING || (flags && fake_faults_knob(FAKE_P2P_REFUSE_FORCE_BAR1)))
		return -EINVAL;
	return get(&wanted, FAKE_P2P_CALL_GET_PERSISTENT, page_table);
}
FAKE_P2P_EXPORT(nvidia_p2p_get_pages_persistent);

static struct fake_pin *find_in(struct list_head *list, const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin;

	list_for_each_entry_reverse(pin, list, grave) {
		if (pin->table == table)
			return pin;
	}
	return NULL;
}

static int put_locked(const struct fake_pin *wanted, enum fake_p2p_call call,
		      const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin = find_in(&live, table);
	struct fake_memory *memory;
	int error;

	fake_counters.puts++;
	if (!pin) {
		pin = find_in(&graves, table);
		if (pin && pin->is_revoked && !wanted->is_persistent) {
			fake_counters.puts_after_callback++;
			return 0;
		}
		pr_err("fake_p2p: put of a table that is not out\n");
		fake_counters.put_unknown++;
		return -EINVAL;
	}
	if (pin->va != wanted->va || pin->is_persistent != wanted->is_persistent || pin->token != wanted->token ||
	    pin->va_space != wanted->va_space) {
		pr_err("fake_p2p: put with an address, tokens or interface other than at get\n");
		fake_counters.put_wrong++;
		return -EINVAL;
	}
	error = fake_faults_strike(call);
	if (error)
		return error;
	memory = pin->memory;
	bury(pin);
	kref_put(&memory->references, fake_memory_release);
	return 0;
}

static int put(const struct fake_pin *wanted, enum fake_p2p_call call, const struct nvidia_p2p_page_table *table)
{
	int error;

	if (READ_ONCE(fake_callback_task) == current) {
		pr_err("fake_p2p: put_pages from a callback hangs on the driver\n");
		fake_counters.put_in_callback++;
		return -EDEADLK;
	}
	fake_faults_pass(FAKE_P2P_PUT_ENTER);
	mutex_lock(&fake_rm_lock);
	error = put_locked(wanted, call, table);
	mutex_unlock(&fake_rm_lock);
	fake_faults_pass(FAKE_P2P_PUT_LEAVE);
	return error;
}

int nvidia_p2p_put_pages(u64 p2p_token, u32 va_space, u64 virtual_address, struct nvidia_p2p_page_table *page_table)
{
	struct fake_pin wanted = { .va = virtual_address, .token = p2p_token, .va_space = va_space };

	return page_table ? put(&wanted, FAKE_P2P_CALL_PUT, page_table) : 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_put_pages);

int nvidia_p2p_put_pages_persistent(u64 virtual_address, struct nvidia_p2p_page_table *page_table, u32 flags)
{
	struct fake_pin wanted = { .va = virtual_address, .is_persistent = true };

	if (flags)
		return -EINVAL;
	return page_table ? put(&wanted, FAKE_P2P_CALL_PUT_PERSISTENT, page_table) : 0;
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
	pin = find_in(&graves, page_table);
	if (pin && pin->is_revoked)
		fake_counters.freed_after_callback++;
	mutex_unlock(&fake_rm_lock);
	return 0;
}
FAKE_P2P_EXPORT(nvidia_p2p_free_page_table);

/* Called with the lock held: the memory is freed, so every pin that has a callback ends here. */
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
		bury(pin);
		kref_put(&memory->references, fake_memory_release);
	}
}

/* Called with the lock held. NULL: not a table that is out. */
struct list_head *fake_pins_mappings(const struct nvidia_p2p_page_table *table, bool *is_forced,
				     const struct nvidia_p2p_page **pages, u32 *entries)
{
	struct fake_pin *pin = find_in(&live, table);

	if (!pin)
		return NULL;
	*is_forced = pin->flags & NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING;
	*pages = pin->pages; /* what is true, whatever damage the client's table has */
	*entries = pin->capacity - 1;
	return &pin->mappings;
}
