// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Page tables of clients: filled, damaged on request, poisoned after release, and allocated again at the same address,
// as Linux's allocator does.
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_p2p.h"
#include "p2p_table.h"

#define POISON 0xa5
/*
 * Released tables stay in a quarantine, to detect later writes and to recognize a table whose put is in progress. The
 * quarantine keeps at least this many tables, and more if they are small: while a put waits for the lock, other threads
 * may release a thousand.
 */
#define QUARANTINE_TABLES 32
#define QUARANTINE_PAGES 32768
#define TOO_HIGH 0xfff0000000000000ULL

LIST_HEAD(fake_live_pins);
static LIST_HEAD(quarantine);
static unsigned int quarantine_count, quarantine_pages;

void fake_table_destroy(struct fake_pin *pin)
{
	kvfree(pin->pointers);
	kvfree(pin->pages);
	kfree(pin->table);
	kfree(pin);
}

/* Poison that has changed was written by a client after it released the table. */
static void check_poison(struct fake_pin *pin)
{
	if ((!pin->table || !memchr_inv(pin->table, POISON, sizeof(*pin->table))) &&
	    !memchr_inv(pin->pointers, POISON, pin->capacity * sizeof(*pin->pointers)) &&
	    !memchr_inv(pin->pages, POISON, pin->capacity * sizeof(*pin->pages)))
		return;
	pr_err("fake_p2p: a page table was written after its release\n");
	fake_counters.written_after_free++;
	if (pin->table)
		memset(pin->table, POISON, sizeof(*pin->table));
}

void fake_table_check_quarantine(void)
{
	struct fake_pin *pin;

	list_for_each_entry(pin, &quarantine, table_entry)
		check_poison(pin);
}

static void drop_oldest(void)
{
	struct fake_pin *pin = list_first_entry(&quarantine, struct fake_pin, table_entry);

	check_poison(pin);
	list_del(&pin->table_entry);
	quarantine_count--;
	quarantine_pages -= pin->capacity;
	fake_table_destroy(pin);
}

void fake_table_empty_quarantine(void)
{
	while (quarantine_count)
		drop_oldest();
}

/* Takes over a released pin. Its table stays readable as poison, which contains no valid pointers. */
void fake_table_quarantine(struct fake_pin *pin)
{
	memset(pin->table, POISON, sizeof(*pin->table));
	memset(pin->pointers, POISON, pin->capacity * sizeof(*pin->pointers));
	memset(pin->pages, POISON, pin->capacity * sizeof(*pin->pages));
	list_move_tail(&pin->table_entry, &quarantine);
	quarantine_count++;
	quarantine_pages += pin->capacity;
	while (quarantine_count > QUARANTINE_TABLES && quarantine_pages > QUARANTINE_PAGES)
		drop_oldest();
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

struct fake_pin *fake_table_live(const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin;

	list_for_each_entry_reverse(pin, &fake_live_pins, table_entry) {
		if (pin->table == table)
			return pin;
	}
	return NULL;
}

struct fake_pin *fake_table_in_quarantine(const struct nvidia_p2p_page_table *table)
{
	struct fake_pin *pin;

	list_for_each_entry_reverse(pin, &quarantine, table_entry) {
		if (pin->table == table)
			return pin;
	}
	return NULL;
}

/*
 * The driver frees a table after its callback has returned, and Linux allocates the most recently freed memory first.
 * So a new table gets the address of the most recently revoked one.
 */
static struct nvidia_p2p_page_table *take_revoked_table(void)
{
	struct nvidia_p2p_page_table *table;
	struct fake_pin *pin;

	list_for_each_entry_reverse(pin, &quarantine, table_entry) {
		if (!pin->is_revoked || !pin->table)
			continue;
		check_poison(pin);
		table = pin->table;
		pin->table = NULL;
		fake_counters.tables_reused++;
		return memset(table, 0, sizeof(*table));
	}
	return NULL;
}

int fake_table_fill(struct fake_pin *pin)
{
	struct nvidia_p2p_page_table *table;
	u32 page_size = fake_faults_knob(FAKE_P2P_PAGE_SIZE);
	unsigned int shift = gdrkit_p2p_page_shift(page_size) ?: 16;
	u32 i, entries = DIV_ROUND_UP_ULL(pin->size, 1ULL << shift);

	pin->capacity = entries + 1; /* FAKE_P2P_ONE_LONG makes clients read one entry more */
	pin->table = take_revoked_table() ?: kzalloc(sizeof(*table), GFP_KERNEL);
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
