// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "proc_files.h"

#include <linux/errno.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "flavour.h"
#include "gdrdrv.h"
#include "gdrdrv_abi.h"
#include "orphans.h"
#include "owner.h"

static struct proc_dir_entry *directory;

static int show_version(struct seq_file *file, void *data)
{
	seq_printf(file, "%d.%d\n", GDRDRV_VERSION_MAJOR, GDRDRV_VERSION_MINOR);
	return 0;
}

/* Scripts and GDRCopy's tests parse the first five lines. */
static int show_params(struct seq_file *file, void *data)
{
	seq_printf(file, "Version: %d.%d\n", GDRDRV_VERSION_MAJOR, GDRDRV_VERSION_MINOR);
	seq_puts(file, "Built for NVIDIA driver flavor: " GDRKIT_FLAVOUR_NAME "\n");
	seq_printf(file, "Use persistent mapping: %s\n", gdrdrv_params_persistent() ? "yes" : "no");
	seq_printf(file, "dbg_enabled: %d\n", gdrdrv_params_debug());
	seq_printf(file, "info_enabled: %d\n", gdrdrv_params_info());
	seq_printf(file, "pinned_limit_bytes: %llu\n", gdrdrv_params_pinned_limit());
	seq_printf(file, "handle_limit: %llu\n", gdrdrv_params_handle_limit());
	return 0;
}

static int show_pins(struct seq_file *file, void *data)
{
	seq_printf(file, "%llu\n", gdrdrv_owner_total_pins());
	return 0;
}

static int show_owners(struct seq_file *file, void *data)
{
	int result = gdrdrv_owner_show_all(file, data);

	/* Includes pins that wait for their callback because another process closed the file last. */
	seq_printf(file, "refused by the NVIDIA driver: %u\n", gdrdrv_orphans_count());
	return result;
}

int gdrdrv_proc_create(void)
{
	directory = proc_mkdir("driver/gdrdrv", NULL);
	if (!directory)
		return -ENOMEM;
	/* This function hides that Linux 5.6 replaced file_operations by proc_ops. */
	if (proc_create_single_data("params", 0444, directory, show_params, NULL) &&
	    proc_create_single_data("version", 0444, directory, show_version, NULL) &&
	    proc_create_single_data("owners", 0440, directory, show_owners, NULL) &&
	    (!gdrdrv_params_debug() ||
	     proc_create_single_data("nv_get_pages_refcount", 0440, directory, show_pins, NULL)))
		return 0;
	gdrdrv_proc_remove();
	return -ENOMEM;
}

void gdrdrv_proc_remove(void)
{
	proc_remove(directory);
	directory = NULL;
}
