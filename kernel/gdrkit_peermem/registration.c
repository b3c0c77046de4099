// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "registration.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

void peermem_free_addresses(struct peermem_registration *registration)
{
	if (registration->sg.sgl)
		sg_free_table(&registration->sg);
	memset(&registration->sg, 0, sizeof(registration->sg));
}

static void free_registration(struct kref *references)
{
	struct peermem_registration *registration = container_of(references, struct peermem_registration, references);

	peermem_free_addresses(registration);
	gdrkit_process_put(&registration->process);
	mutex_destroy(&registration->lock);
	kfree(registration);
	module_put(THIS_MODULE);
}

void peermem_put(struct peermem_registration *registration)
{
	kref_put(&registration->references, free_registration);
}
