/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * Files under /proc. proc_create_single_data() hides the change from file_operations to proc_ops. It suffices for files
 * that show one text, so no other function is used.
 */
#ifndef GDRKIT_COMPAT_PROC_H
#define GDRKIT_COMPAT_PROC_H

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static inline bool gdrkit_proc_show(const char *name, umode_t mode, struct proc_dir_entry *parent,
				    int (*show)(struct seq_file *file, void *data), void *data)
{
	return proc_create_single_data(name, mode, parent, show, data) != NULL;
}

#endif
