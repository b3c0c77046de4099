// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The control node and the module's entry points.
#include <linux/miscdevice.h>
#include <linux/uaccess.h>

#include "fake_p2p.h"

DEFINE_MUTEX(fake_rm_lock);
struct fake_p2p_report fake_counters;
struct task_struct *fake_callback_task;

static int control_alloc(struct file *file, void __user *user)
{
	struct fake_p2p_alloc request;
	int error;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	error = fake_memory_allocate(file, request.size, request.layout, &request.va);
	if (error)
		return error;
	if (copy_to_user(user, &request, sizeof(request))) {
		fake_memory_free(file, request.va);
		return -EFAULT;
	}
	return 0;
}

static int control_physical(void __user *user)
{
	struct fake_p2p_address request;
	struct fake_memory *memory;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	mutex_lock(&fake_rm_lock);
	memory = fake_memory_at(request.va, 1);
	if (memory)
		request.physical = fake_memory_physical(memory, request.va);
	mutex_unlock(&fake_rm_lock);
	if (!memory)
		return -EINVAL;
	return copy_to_user(user, &request, sizeof(request)) ? -EFAULT : 0;
}

static int control_report(void __user *user)
{
	struct fake_p2p_report report;

	mutex_lock(&fake_rm_lock);
	fake_table_check_quarantine();
	report = fake_counters;
	mutex_unlock(&fake_rm_lock);
	return copy_to_user(user, &report, sizeof(report)) ? -EFAULT : 0;
}

static int control_reset(void)
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

static int control_reload(void)
{
	mutex_lock(&fake_rm_lock);
	fake_pins_drop_refused();
	mutex_unlock(&fake_rm_lock);
	return 0;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	void __user *user = (void __user *)argument;
	union {
		struct fake_p2p_address address;
		struct fake_p2p_setting setting;
		struct fake_p2p_failure failure;
		struct fake_p2p_pause pause;
	} request;

	switch (command) {
	case FAKE_P2P_IOC_ALLOC:
		return control_alloc(file, user);
	case FAKE_P2P_IOC_PHYSICAL:
		return control_physical(user);
	case FAKE_P2P_IOC_REPORT:
		return control_report(user);
	case FAKE_P2P_IOC_RESET:
		return control_reset();
	case FAKE_P2P_IOC_RELOAD:
		return control_reload();
	case FAKE_P2P_IOC_FREE:
	case FAKE_P2P_IOC_SET:
	case FAKE_P2P_IOC_FAIL:
	case FAKE_P2P_IOC_PAUSE:
		if (_IOC_SIZE(command) > sizeof(request) || copy_from_user(&request, user, _IOC_SIZE(command)))
			return -EFAULT;
		break;
	default:
		return -ENOTTY;
	}
	if (command == FAKE_P2P_IOC_FREE)
		return fake_memory_free(file, request.address.va);
	if (command == FAKE_P2P_IOC_SET)
		return fake_faults_set(request.setting.knob, request.setting.value);
	if (command == FAKE_P2P_IOC_FAIL)
		return fake_faults_arm(&request.failure);
	return fake_faults_pause(&request.pause);
}

static int control_release(struct inode *inode, struct file *file)
{
	fake_memory_free_all_of(file);
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
