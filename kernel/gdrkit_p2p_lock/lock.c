// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "p2p_lock.h"

#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "flavour.h"

/*
 * One lock for all processes: with MPS several processes share the driver's object that holds their pins, so a put by
 * one process finds the pins of the others. The driver already serializes both calls, so this costs little.
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
MODULE_DESCRIPTION("the lock around NVIDIA's P2P interface that gdrkit's modules share");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
