// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "session.h"

#include <linux/errno.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "gdrdrv.h"
#include "orphans.h"
#include "owner.h"
#include "pin.h"

int gdrdrv_session_open(struct inode *inode, struct file *file)
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

/* The last user of the file is gone, whoever that was: no VMA, no ioctl and no mmap is left. */
int gdrdrv_session_release(struct inode *inode, struct file *file)
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
