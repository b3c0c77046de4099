// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loading and unloading: finds the RDMA core's interface, or logs why it is unavailable.
#define pr_fmt(fmt) "gdrkit_peermem: " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/string.h>

#include "client.h"
#include "core.h"
#include "flavour.h"
#include "peer_mem.h"
#include "pin.h"

/* NVIDIA's clients use this name too, and libraries search for it. Two clients must not serve the same memory. */
#define CLIENT_NAME "nv_mem"
#define PEERS_DIRECTORY "/sys/kernel/mm/memory_peers/"

#ifdef GDRKIT_PEER_MEM_PLAIN
#define HAS_INVALIDATE_UNMAPS false
#else
#define HAS_INVALIDATE_UNMAPS true
#endif

static bool invalidate_unmaps = true;
module_param(invalidate_unmaps, bool, 0444);
MODULE_PARM_DESC(invalidate_unmaps, "with persistent=N: Y: the module unmaps after an invalidation. N: the RDMA core unmaps, as before MLNX_OFED 5.1");

static struct peer_memory_client_ex client;

static bool exists(const char *name)
{
	struct path path;

	if (kern_path(name, LOOKUP_FOLLOW, &path))
		return false;
	path_put(&path);
	return true;
}

/* Returns NULL if no known module holds the name. */
static const char *holder(void)
{
	if (exists("/sys/module/nvidia_peermem"))
		return "nvidia_peermem";
	if (exists("/sys/module/nv_peer_mem"))
		return "nv_peer_mem";
	if (exists(PEERS_DIRECTORY CLIENT_NAME))
		return "an unknown module";
	return NULL;
}

static int fail_with_holder(const char *module)
{
	pr_err("cannot register as " CLIENT_NAME ": %s has that name; unload it first (rmmod %s)\n", module,
	       module);
	return -EEXIST;
}

static void prepare_client(void)
{
	client.client = peermem_operations;
	strscpy(client.client.name, CLIENT_NAME, sizeof(client.client.name));
	strscpy(client.client.version, "1.0", sizeof(client.client.version));
	if (!HAS_INVALIDATE_UNMAPS || peermem_persistent || !invalidate_unmaps)
		return;
	client.client.version[IB_PEER_MEMORY_VER_MAX - 1] = 1;
	client.ex_size = sizeof(client);
	client.flags = PEER_MEM_INVALIDATE_UNMAPS;
}

static int __init peermem_init(void)
{
	if (!peermem_core_has_interface()) {
		pr_err("cannot register: the loaded RDMA core has no peer-memory interface (only MLNX_OFED, DOCA and "
		       "some vendors' Linux have it); register GPU memory through a dma-buf instead "
		       "(ibv_reg_dmabuf_mr), which needs no module\n");
		return -EOPNOTSUPP;
	}
	/* Checked first, because the core prints a stack dump if the name is taken. */
	if (holder())
		return fail_with_holder(holder());
	prepare_client();
	if (!peermem_register(&client.client)) {
		pr_err("cannot register as " CLIENT_NAME ": the RDMA core refused it; another client may have that "
		       "name (see " PEERS_DIRECTORY "): unload it first\n");
		return -EINVAL;
	}
	pr_info("registered as " CLIENT_NAME ", %s, " GDRKIT_FLAVOUR_NAME " flavour\n",
		peermem_persistent ? "persistent" : "revocable");
	return 0;
}

/* Each registration holds a module reference, also after the core has released it, so none exists here. */
static void __exit peermem_exit(void)
{
	peermem_unregister();
	peermem_drain();
}

module_init(peermem_init);
module_exit(peermem_exit);
MODULE_DESCRIPTION("lets RDMA adapters access GPU memory by its address, through the peer-memory interface");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
MODULE_SOFTDEP("pre: ib_core");
