// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Counters of events and of clients' errors.
#include "fake_rdma_core.h"

struct fake_core_report fake_core_counters;
static DEFINE_SPINLOCK(counting);

void fake_core_count(u64 *counter, int by)
{
	spin_lock(&counting);
	*counter += by;
	spin_unlock(&counting);
}

void fake_core_mistake(const char *what)
{
	pr_err("fake_rdma_core: client error: %s\n", what);
	fake_core_count(&fake_core_counters.mistakes, 1);
}

int fake_core_copy_counters(struct fake_core_report *report)
{
	spin_lock(&counting);
	*report = fake_core_counters;
	spin_unlock(&counting);
	return 0;
}

int fake_core_reset_counters(void)
{
	struct fake_core_report kept = {};

	spin_lock(&counting);
	kept.registrations = fake_core_counters.registrations;
	kept.mapped = fake_core_counters.mapped;
	kept.active = fake_core_counters.active;
	kept.clients = fake_core_counters.clients;
	fake_core_counters = kept;
	spin_unlock(&counting);
	return 0;
}
