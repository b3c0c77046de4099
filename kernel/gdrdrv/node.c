// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "node.h"

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/major.h>
#include <linux/miscdevice.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/printk.h>
#include <linux/stat.h>

#define NAME "gdrdrv"
#define NODE "/dev/" NAME

static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = NAME,
	.mode = 0666,
};
static unsigned int own_major;

/*
 * Returns 0 if the node is missing or not a character device. Resolves the path in the process that loads the module.
 */
static dev_t number_of_node(void)
{
	struct inode *inode;
	struct path path;
	dev_t number = 0;

	if (kern_path(NODE, 0, &path))
		return 0;
	inode = d_backing_inode(path.dentry);
	if (inode && S_ISCHR(inode->i_mode))
		number = inode->i_rdev;
	path_put(&path);
	return number;
}

/* `stale`: the preferred major number, used if it is free. 0 and MISC_MAJOR mean no preference. */
static int register_major(unsigned int stale, const struct file_operations *operations)
{
	int result;

	if (stale && stale != MISC_MAJOR && !register_chrdev(stale, NAME, operations)) {
		own_major = stale;
		pr_info("gdrdrv: reusing " NODE " of an earlier module, major number %u\n", stale);
		return 0;
	}
	result = register_chrdev(0, NAME, operations);
	if (result < 0)
		return result;
	own_major = result;
	return 0;
}

/* Linux does not replace a node that already exists. */
static void report_stale_node(void)
{
	dev_t number = number_of_node();

	if (!number || MAJOR(number) == own_major || number == MKDEV(MISC_MAJOR, misc.minor))
		return;
	pr_err("gdrdrv: " NODE " is stale: its number is %u:%u, but this module has %u:0 and %u:%d. Remove it (rm " NODE
	       ") and reload the module, or create it again (mknod -m 666 " NODE " c %u 0)\n",
	       MAJOR(number), MINOR(number), own_major, MISC_MAJOR, misc.minor, own_major);
}

int gdrdrv_node_create(const struct file_operations *operations)
{
	int result;

	result = register_major(MAJOR(number_of_node()), operations);
	if (result)
		return result;
	misc.fops = operations;
	result = misc_register(&misc);
	if (result) {
		unregister_chrdev(own_major, NAME);
		return result;
	}
	report_stale_node();
	return 0;
}

void gdrdrv_node_remove(void)
{
	misc_deregister(&misc);
	unregister_chrdev(own_major, NAME);
}
