/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * How programs find the module. A misc device, whose node appears by itself, and a major number of its own under the
 * name that GDRCopy's modprobe rules and init scripts look for in /proc/devices to make the node by hand. Both serve.
 */
#ifndef GDRDRV_NODE_H
#define GDRDRV_NODE_H

struct file_operations;

/*
 * A node of an earlier module that is still there is taken over if its major number is free. 0 or a negative errno;
 * programs may come before this returns.
 */
int gdrdrv_node_create(const struct file_operations *operations);
void gdrdrv_node_remove(void);

#endif
