// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loading and unloading: finding the RDMA core's interface, and saying why it cannot be had.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/string.h>

#include "flavour.h"
#include "peermem.h"

/* NVIDIA's clients use this name too, and libraries look for it; two clients for one memory would be one too many. */
#define CLIENT_NAME "nv_mem"
#define PEERS_FOLDER "/sys/kernel/mm/memory_peers/"

#ifdef GDRKIT_PEER_MEM_PLAIN
#define KNOWS_UNMAPS false
#else
#define KNOWS_UNMAPS true
#endif

bool peermem_persistent = true;
module_param_named(persistent, peermem_persistent, bool, 0444);
MODULE_PARM_DESC(persistent, "Y: memory stays until it is deregistered, even if the program frees it. N: freeing it ends the registration");

static bool invalidate_unmaps = true;
module_param(invalidate_unmaps, bool, 0444);
MODULE_PARM_DESC(invalidate_unmaps, "with persistent=N: Y: the module unmaps after an invalidation. N: the RDMA core does, as stacks before MLNX_OFED 5.1");

/*
 * Weak, so that the module can be loaded where the core lacks them, to say so. Data, since a call or a comparison in
 * code need not reach address 0 on every machine; volatile, since the compiler believes that a function has an address.
 */
extern typeof(ib_register_peer_memory_client) ib_register_peer_memory_client __weak;
extern typeof(ib_unregister_peer_memory_client) ib_unregister_peer_memory_client __weak;
static typeof(&ib_register_peer_memory_client) volatile core_register = ib_register_peer_memory_client;
static typeof(&ib_unregister_peer_memory_client) volatile core_unregister = ib_unregister_peer_memory_client;

static struct peer_memory_client_ex client;
static invalidate_peer_memory invalidate;
static void *core_handle;

bool peermem_is_registered(void)
{
	return READ_ONCE(core_handle) != NULL;
}

void peermem_tell_core(gdrkit_core_context core_context)
{
	invalidate(READ_ONCE(core_handle), core_context);
}

static bool exists(const char *name)
{
	struct path path;

	if (kern_path(name, LOOKUP_FOLLOW, &path))
		return false;
	path_put(&path);
	return true;
}

/* NULL: nobody is known to hold the name. */
static const char *holder(void)
{
	if (exists("/sys/module/nvidia_peermem"))
		return "nvidia_peermem";
	if (exists("/sys/module/nv_peer_mem"))
		return "nv_peer_mem";
	if (exists(PEERS_FOLDER CLIENT_NAME))
		return "a module that is not known here";
	return NULL;
}

static int refuse_for(const char *module)
{
	pr_err("the name " CLIENT_NAME " is held by %s: unload that one first (rmmod %s), or do without this module\n", module,
	       module);
	return -EEXIST;
}

static void prepare_client(void)
{
	client.client = peermem_operations;
	strscpy(client.client.name, CLIENT_NAME, sizeof(client.client.name));
	strscpy(client.client.version, "1.0", sizeof(client.client.version));
	if (!KNOWS_UNMAPS || peermem_persistent || !invalidate_unmaps)
		return;
	client.client.version[IB_PEER_MEMORY_VER_MAX - 1] = 1;
	client.ex_size = sizeof(client);
	client.flags = PEER_MEM_INVALIDATE_UNMAPS;
}

static int __init peermem_init(void)
{
	void *handle;

	if (!core_register || !core_unregister) {
		pr_err("the RDMA core that is loaded has no peer-memory interface (only MLNX_OFED, DOCA and some vendors' have): "
		       "register GPU memory through a dma-buf instead (ibv_reg_dmabuf_mr), which needs no module\n");
		return -EOPNOTSUPP;
	}
	/* Asked before the core, which answers a name that is taken with a stack dump. */
	if (holder())
		return refuse_for(holder());
	prepare_client();
	handle = core_register(&client.client, peermem_persistent ? NULL : &invalidate);
	if (!handle) {
		pr_err("the RDMA core refused the client; another one may hold the name " CLIENT_NAME " (see " PEERS_FOLDER
		       "), which is to be unloaded first\n");
		return -EINVAL;
	}
	WRITE_ONCE(core_handle, handle);
	pr_info("registered as " CLIENT_NAME ", %s, " GDRKIT_FLAVOUR_NAME " flavour\n",
		peermem_persistent ? "persistent" : "with invalidation");
	return 0;
}

/* Only without registrations: each holds a reference to the module, also those that the core has released. */
static void __exit peermem_exit(void)
{
	core_unregister(core_handle);
	peermem_drain();
}

module_init(peermem_init);
module_exit(peermem_exit);
MODULE_DESCRIPTION("lets RDMA adapters reach GPU memory by its address, through the peer-memory interface");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
MODULE_SOFTDEP("pre: ib_core");
