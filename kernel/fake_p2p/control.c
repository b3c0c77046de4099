// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The control node and the module's entry points.
#include <linux/miscdevice.h>
#include <linux/uaccess.h>

#include "fake_p2p.h"

DEFINE_MUTEX(fake_rm_lock);
struct fake_p2p_report fake_counters;
struct task_struct *fake_callback_task;

static int physical(struct fake_p2p_address *request)
{
	struct fake_memory *memory;

	mutex_lock(&fake_rm_lock);
	memory = fake_memory_at(request->va, 1);
	if (memory)
		request->physical = fake_memory_physical(memory, request->va);
	mutex_unlock(&fake_rm_lock);
	return memory ? 0 : -EINVAL;
}

static int report(struct fake_p2p_report *report)
{
	mutex_lock(&fake_rm_lock);
	fake_table_check_quarantine();
	*report = fake_counters;
	mutex_unlock(&fake_rm_lock);
	return 0;
}

static int reset(void)
{
	struct fake_p2p_report kept = {};

	fake_faults_reset();
	mutex_lock(&fake_rm_lock);
	kept.allocations = fake_counters.allocations;
	kept.pins = fake_counters.pins;
	kept.persistent_pins = fake_counters.persistent_pins;
	kept.refused_pins = fake_counters.refused_pins;
	kept.mappings = fake_counters.mappings;
	kept.used_pages = fake_counters.used_pages;
	kept.total_pages = fake_counters.total_pages;
	fake_counters = kept;
	mutex_unlock(&fake_rm_lock);
	return 0;
}

static int reload(void)
{
	mutex_lock(&fake_rm_lock);
	fake_pins_drop_refused();
	mutex_unlock(&fake_rm_lock);
	return 0;
}

static int run(struct file *file, unsigned int command, void *request)
{
	struct fake_p2p_alloc *alloc = request;
	struct fake_p2p_address *address = request;
	struct fake_p2p_setting *setting = request;

	switch (command) {
	case FAKE_P2P_IOC_ALLOC:
		return fake_memory_allocate(file, alloc->size, alloc->layout, &alloc->va);
	case FAKE_P2P_IOC_FREE:
		return fake_memory_free(file, address->va, fake_pins_revoke);
	case FAKE_P2P_IOC_PHYSICAL:
		return physical(address);
	case FAKE_P2P_IOC_SET:
		return fake_faults_set(setting->knob, setting->value);
	case FAKE_P2P_IOC_FAIL:
		return fake_faults_arm(request);
	case FAKE_P2P_IOC_PAUSE:
		return fake_faults_pause(request);
	case FAKE_P2P_IOC_REPORT:
		return report(request);
	case FAKE_P2P_IOC_RESET:
		return reset();
	case FAKE_P2P_IOC_RELOAD:
		return reload();
	default:
		return -ENOTTY;
	}
}

long fake_control(struct file *file, unsigned int command, unsigned long argument, fake_control_run *run)
{
	void __user *user = (void __user *)argument;
	u64 request[32];
	int error;

	if (_IOC_SIZE(command) > sizeof(request))
		return -ENOTTY;
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(request, user, _IOC_SIZE(command)))
		return -EFAULT;
	error = run(file, command, request);
	if (!error && _IOC_DIR(command) & _IOC_READ && copy_to_user(user, request, _IOC_SIZE(command)))
		return -EFAULT;
	return error;
}
FAKE_P2P_EXPORT(fake_control);

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	return fake_control(file, command, argument, run);
}

static int control_release(struct inode *inode, struct file *file)
{
	fake_memory_free_all_of(file, fake_pins_revoke);
	return 0;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control_ioctl,
	.read = fake_memory_read,
	.write = fake_memory_write,
	.release = control_release,
};

static struct miscdevice control = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fake_p2p",
	.fops = &control_operations,
	.mode = 0666,
};

static int __init fake_p2p_init(void)
{
	int error = fake_memory_open_bar();

	if (error)
		return error;
	fake_faults_reset();
	error = misc_register(&control);
	if (error)
		fake_memory_close_bar();
	return error;
}

static void __exit fake_p2p_exit(void)
{
	misc_deregister(&control);
	fake_table_empty_quarantine();
	if (fake_counters.pins || fake_counters.persistent_pins || fake_counters.refused_pins || fake_counters.written_after_free)
		pr_err("fake_p2p: LEAK: unloaded with %llu pins, %llu persistent pins; %llu tables modified\n",
		       fake_counters.pins, fake_counters.persistent_pins, fake_counters.written_after_free);
	fake_memory_close_bar();
}

module_init(fake_p2p_init);
module_exit(fake_p2p_exit);
MODULE_DESCRIPTION("emulates NVIDIA's P2P interface for GPU memory on a PCI BAR of QEMU");
#ifdef GDRKIT_FLAVOUR_OPEN
MODULE_LICENSE("Dual MIT/GPL");
#else
MODULE_LICENSE("Proprietary"); /* as the closed driver appears to the modules that use it */
#endif
