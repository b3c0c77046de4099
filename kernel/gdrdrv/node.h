/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * How programs find the module. udev creates the node of the misc device automatically. GDRCopy's modprobe rules and
 * init scripts create it by hand: they look up a major number in /proc/devices. The module registers both.
 */
#ifndef GDRDRV_NODE_H
#define GDRDRV_NODE_H

struct file_operations;

/*
 * Reuses the node of an earlier module if its major number is free. Returns 0 or a negative errno. Programs may open
 * the node before this function returns.
 */
int gdrdrv_node_create(const struct file_operations *operations);
void gdrdrv_node_remove(void);

#endif
