// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loading and unloading the module; opening and closing its file.
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "flavour.h"
#include "gdrdrv.h"
#include "gdrdrv_abi.h"
#include "mapping.h"
#include "mapping_type.h"
#include "node.h"
#include "orphans.h"
#include "owner.h"
#include "pinning.h"
#include "proc_files.h"
#include "provider.h"
#include "session.h"

static int open(struct inode *inode, struct file *file)
{
	struct gdrdrv_session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	session->owner = gdrdrv_owner_get_current();
	if (!session->owner) {
		kfree(session);
		return -ENOMEM;
	}
	gdrdrv_handles_init(&session->handles, gdrdrv_params_handle_limit());
	address_space_init_once(&session->mapping);
	session->mapping.host = inode;
	session->mapping.a_ops = inode->i_mapping->a_ops;
	mapping_set_gfp_mask(&session->mapping, GFP_KERNEL);
	file->f_mapping = &session->mapping;
	file->private_data = session;
	gdrdrv_orphans_retry();
	return 0;
}

/* Called after the last user of the file is gone, in any process: no VMA, ioctl or mmap is left. */
static int release(struct inode *inode, struct file *file)
{
	struct gdrdrv_session *session = file->private_data;

	gdrdrv_pin_unpin_all(session);
	file->f_mapping = inode->i_mapping;
	gdrdrv_owner_put(session->owner);
	mutex_destroy(&session->handles.lock);
	kfree(session);
	gdrdrv_orphans_retry();
	return 0;
}

/* No compat_ioctl: handle * page size does not fit the mmap offset of a 32-bit program. */
static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.unlocked_ioctl = gdrdrv_ioctl,
	.mmap = gdrdrv_mapping_create,
};

static int __init load(void)
{
	int result = gdrdrv_params_check();

	if (result)
		return result;
	gdrdrv_mapping_type_init();
	result = gdrdrv_proc_create();
	if (result)
		return result;
	/* Last: programs may open the node immediately. */
	result = gdrdrv_node_create(&operations);
	if (result)
		goto remove_proc;
	pr_info("gdrdrv: loaded version %d.%d for the " GDRKIT_FLAVOUR_NAME " NVIDIA driver\n", GDRDRV_VERSION_MAJOR,
		GDRDRV_VERSION_MINOR);
	return 0;
remove_proc:
	gdrdrv_proc_remove();
	return result;
}

/* Open files, VMAs and orphans hold a module reference, so no pins exist here. */
static void __exit unload(void)
{
	gdrdrv_node_remove();
	gdrdrv_proc_remove();
	gdrdrv_provider_drain();
	pr_info("gdrdrv: unloaded\n");
}

module_init(load);
module_exit(unload);

MODULE_AUTHOR("The gdrkit authors");
MODULE_DESCRIPTION("maps GPU memory into user processes, for the " GDRKIT_FLAVOUR_NAME " NVIDIA driver");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
MODULE_VERSION("2.6");
