// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "p2p_lock.h"

#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "flavour.h"

/*
 * One lock for all processes: the driver lets several processes share the object with their pins (MPS), and then a put
 * of one finds the pins of the others. The driver serializes both calls by its own lock, so the cost is small.
 */
static DEFINE_MUTEX(order);

void gdrkit_p2p_lock(void)
{
	mutex_lock(&order);
}
EXPORT_SYMBOL(gdrkit_p2p_lock);

void gdrkit_p2p_unlock(void)
{
	mutex_unlock(&order);
}
EXPORT_SYMBOL(gdrkit_p2p_unlock);

MODULE_AUTHOR("The gdrkit authors");
MODULE_DESCRIPTION("the lock over NVIDIA's interface for GPU memory that gdrkit's modules share");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
