// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The control node and the module's entry points.
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#include "fake_rdma_core.h"
#include "flavour.h"

DEFINE_MUTEX(fake_core_lock);
struct fake_core_report fake_core_counters;
static DEFINE_SPINLOCK(counting);
static struct pci_dev *adapter;

static int control_release(struct inode *inode, struct file *file);
static long control_ioctl(struct file *file, unsigned int command, unsigned long argument);

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

void fake_core_count(u64 *counter, int by)
{
	spin_lock(&counting);
	*counter += by;
	spin_unlock(&counting);
}

void fake_core_mistake(const char *what)
{
	pr_err("fake_rdma_core: client error: %s\n", what);
	fake_core_count(&fake_core_counters.mistakes, 1);
}

/* The node's own device serves as an adapter that is not a PCI device. */
struct device *fake_core_adapter(void)
{
	return fake_faults_knob(FAKE_CORE_NOT_PCI) ? control.this_device : &adapter->dev;
}

static int control_report(void __user *user)
{
	struct fake_core_report report;

	spin_lock(&counting);
	report = fake_core_counters;
	spin_unlock(&counting);
	return copy_to_user(user, &report, sizeof(report)) ? -EFAULT : 0;
}

static int control_reset(void)
{
	struct fake_core_report kept = {};

	spin_lock(&counting);
	kept.registrations = fake_core_counters.registrations;
	kept.mapped = fake_core_counters.mapped;
	kept.active = fake_core_counters.active;
	kept.clients = fake_core_counters.clients;
	fake_core_counters = kept;
	spin_unlock(&counting);
	return 0;
}

static int control_step(struct file *file, void __user *user)
{
	struct fake_core_step step;
	int error;

	if (copy_from_user(&step, user, sizeof(step)))
		return -EFAULT;
	error = fake_steps_take(file, &step);
	if (error)
		return error;
	return copy_to_user(user, &step, sizeof(step)) ? -EFAULT : 0;
}

static int control_addresses(void __user *user)
{
	struct fake_core_addresses request;
	int error;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	error = fake_steps_addresses(&request);
	if (error)
		return error;
	return copy_to_user(user, &request, sizeof(request)) ? -EFAULT : 0;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	void __user *user = (void __user *)argument;

	switch (command) {
	case FAKE_CORE_IOC_STEP:
		return control_step(file, user);
	case FAKE_CORE_IOC_ADDRESSES:
		return control_addresses(user);
	case FAKE_CORE_IOC_REPORT:
		return control_report(user);
	case FAKE_CORE_IOC_RESET:
		return control_reset();
	default:
		return -ENOTTY;
	}
}

static int control_release(struct inode *inode, struct file *file)
{
	fake_steps_end_all_of(file);
	return 0;
}

static int __init fake_rdma_core_init(void)
{
	int error;

	adapter = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	if (!adapter) {
		pr_err("fake_rdma_core: cannot find a PCI device to use as the adapter\n");
		return -ENODEV;
	}
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
