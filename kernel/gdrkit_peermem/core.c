// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core.h"

#include <linux/compiler.h>
#include <linux/moduleparam.h>

bool peermem_persistent = true;
module_param_named(persistent, peermem_persistent, bool, 0444);
MODULE_PARM_DESC(persistent, "Y: memory stays pinned until deregistration, even if the program frees it. N: freeing it ends the registration");

/*
 * Weak: the module must load without them in order to log that the core lacks the interface. In data: on some machines
 * a call or comparison in code cannot encode address 0. Volatile: the compiler assumes that a function's address is not
 * 0.
 */
extern typeof(ib_register_peer_memory_client) ib_register_peer_memory_client __weak;
extern typeof(ib_unregister_peer_memory_client) ib_unregister_peer_memory_client __weak;
static typeof(&ib_register_peer_memory_client) volatile core_register = ib_register_peer_memory_client;
static typeof(&ib_unregister_peer_memory_client) volatile core_unregister = ib_unregister_peer_memory_client;

static invalidate_peer_memory invalidate;
static void *core_handle;

bool peermem_core_has_interface(void)
{
	return core_register && core_unregister;
}

bool peermem_register(const struct peer_memory_client *client)
{
	void *handle = core_register(client, peermem_persistent ? NULL : &invalidate);

	WRITE_ONCE(core_handle, handle);
	return handle;
}

void peermem_unregister(void)
{
	core_unregister(core_handle);
}

bool peermem_is_registered(void)
{
	return READ_ONCE(core_handle) != NULL;
}

void peermem_invalidate(gdrkit_core_context core_context)
{
	invalidate(READ_ONCE(core_handle), core_context);
}
