/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * How programs find the module. Linux creates the node of its misc device. In addition it registers a major number
 * under the name that GDRCopy's modprobe rules and init scripts search for in /proc/devices. Both work.
 */
#ifndef GDRDRV_NODE_H
#define GDRDRV_NODE_H

struct file_operations;

/*
 * Takes over an existing node of an earlier module if its major number is free. 0 or a negative errno; programs may
 * open the node before this returns.
 */
int gdrdrv_node_create(const struct file_operations *operations);
void gdrdrv_node_remove(void);

#endif
