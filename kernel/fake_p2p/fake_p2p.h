/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Shared by the source files of the fake provider. */
#ifndef GDRKIT_FAKE_P2P_H
#define GDRKIT_FAKE_P2P_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "fake_p2p_ioctl.h"
#include "flavour.h"
#include "nv-p2p.h"

/* As in the driver: the open modules export to GPL-compatible modules only, the closed ones to all modules. */
#ifdef GDRKIT_FLAVOUR_OPEN
#define FAKE_P2P_EXPORT(symbol) EXPORT_SYMBOL_GPL(symbol)
#else
#define FAKE_P2P_EXPORT(symbol) EXPORT_SYMBOL(symbol)
#endif

/* An allocation. It exists while it is allocated or pinned. */
struct fake_memory {
	struct kref references;
	struct list_head entry; /* of all allocations; empty once freed */
	struct list_head pins;
	const void *owner; /* the file that allocated it */
	pid_t process; /* the process (tgid) that allocated it, the only one that can pin it */
	u64 va;
	u32 page_count;
	u32 *pages; /* page indices in the BAR */
};

struct fake_pin {
	struct list_head entry; /* of the memory's pins */
	struct list_head table_entry; /* in the list of live pins, then in the quarantine */
	struct nvidia_p2p_page_table *table; /* the client's; NULL in the quarantine once its address is reused */
	struct nvidia_p2p_page *pages;
	struct nvidia_p2p_page **pointers;
	struct fake_memory *memory;
	struct list_head mappings;
	pid_t process; /* tgid that pinned; only its puts find the pin */
	u64 va;
	u64 size;
	u64 token;
	u32 va_space;
	u32 capacity;
	u32 flags;
	bool is_persistent;
	bool is_revoked; /* released by a callback, not by a put */
	bool is_refused; /* persistent, and a put of it failed */
	u8 uuid[16];
	void (*callback)(void *data);
	void *data;
};

/*
 * Emulates the lock of the resource manager: every call takes it, and callbacks run under it. A client that holds a
 * lock across a call and takes the same lock in its callback deadlocks here, as with the driver. Protects all lists.
 */
extern struct mutex fake_rm_lock;
extern struct fake_p2p_report fake_counters;
extern struct task_struct *fake_callback_task; /* the task that runs a callback, or NULL */

/* control.c; also for the fake RDMA core */
typedef int fake_control_run(struct file *file, unsigned int command, void *request);
/* Runs a request. Its number has the size of its structure, and the directions in which this is copied. */
long fake_control(struct file *file, unsigned int command, unsigned long argument, fake_control_run *run);

/* memory.c */
int fake_memory_open_bar(void);
void fake_memory_close_bar(void);
int fake_memory_allocate(const void *owner, u64 size, u32 layout, u64 *va);
struct fake_memory *fake_memory_at(u64 va, u64 size);
phys_addr_t fake_memory_physical(const struct fake_memory *memory, u64 va);
/*
 * Addressed by GPU address, also for freed memory that is still pinned. Return the bytes copied, or a negative errno.
 */
ssize_t fake_memory_read(struct file *file, char __user *to, size_t size, loff_t *va);
ssize_t fake_memory_write(struct file *file, const char __user *from, size_t size, loff_t *va);
void fake_memory_release(struct kref *references);
/* Ends the pins of memory that is freed. The caller holds fake_rm_lock. */
typedef void fake_memory_revoke(struct fake_memory *memory);
int fake_memory_free(const void *owner, u64 va, fake_memory_revoke *revoke);
void fake_memory_free_all_of(const void *owner, fake_memory_revoke *revoke);

/* pins.c */
void fake_pins_revoke(struct fake_memory *memory);
void fake_pins_drop_refused(void);

/* tables.c; the caller holds fake_rm_lock */
extern struct list_head fake_live_pins;
struct fake_pin *fake_table_live(const struct nvidia_p2p_page_table *table); /* NULL: not pinned */
int fake_table_fill(struct fake_pin *pin);
void fake_table_destroy(struct fake_pin *pin); /* of a pin that was never live */
void fake_table_quarantine(struct fake_pin *pin);
struct fake_pin *fake_table_in_quarantine(const struct nvidia_p2p_page_table *table);
void fake_table_check_quarantine(void);
void fake_table_empty_quarantine(void);

/* dma.c */
void fake_dma_forget(struct list_head *mappings);

/* faults.c; also for the fake RDMA core */
void fake_faults_reset(void);
int fake_faults_set(u32 knob, u64 value);
u64 fake_faults_knob(enum fake_p2p_knob knob);
int fake_faults_arm(const struct fake_p2p_failure *failure);
int fake_faults_injected_error(enum fake_p2p_call call);
int fake_faults_pause(const struct fake_p2p_pause *pause);
void fake_faults_pass(enum fake_p2p_step step);

#endif
