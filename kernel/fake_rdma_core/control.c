// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The control node and the module's entry points.
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/pci.h>

#include "fake_rdma_core.h"
#include "flavour.h"

static struct pci_dev *adapter;

static int run(struct file *file, unsigned int command, void *request)
{
	switch (command) {
	case FAKE_CORE_IOC_STEP:
		return fake_steps_take(file, request);
	case FAKE_CORE_IOC_ADDRESSES:
		return fake_steps_addresses(request);
	case FAKE_CORE_IOC_REPORT:
		return fake_core_copy_counters(request);
	case FAKE_CORE_IOC_RESET:
		return fake_core_reset_counters();
	default:
		return -ENOTTY;
	}
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	return fake_control(file, command, argument, run);
}

static int control_release(struct inode *inode, struct file *file)
{
	fake_steps_end_all_of(file);
	return 0;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control_ioctl,
	.release = control_release,
};

static struct miscdevice control = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fake_rdma_core",
	.fops = &control_operations,
	.mode = 0666,
};

static int __init fake_rdma_core_init(void)
{
	int error;

	adapter = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	if (!adapter) {
		pr_err("fake_rdma_core: cannot find a PCI device to use as the adapter\n");
		return -ENODEV;
	}
	fake_adapter_use(&adapter->dev, &control);
	error = misc_register(&control);
	if (error)
		pci_dev_put(adapter);
	return error;
}

/* Each client holds a reference to this module, so none is registered here. */
static void __exit fake_rdma_core_exit(void)
{
	misc_deregister(&control);
	pci_dev_put(adapter);
	if (fake_core_counters.registrations || fake_core_counters.mistakes)
		pr_err("fake_rdma_core: LEAK: unloaded with %llu registrations and %llu client errors\n",
		       fake_core_counters.registrations, fake_core_counters.mistakes);
}

module_init(fake_rdma_core_init);
module_exit(fake_rdma_core_exit);
MODULE_DESCRIPTION("emulates the peer-memory side of an RDMA core");
MODULE_LICENSE(GDRKIT_MODULE_LICENSE);
