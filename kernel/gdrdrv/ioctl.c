// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "cycles.h"
#include "gdrdrv.h"
#include "gdrdrv_abi.h"
#include "mapping_type.h"
#include "owner.h"
#include "pin.h"
#include "pinning.h"
#include "session.h"

union argument {
	struct gdrdrv_pin_request pin;
	struct gdrdrv_pin_v2_request pin_v2;
	struct gdrdrv_unpin_request unpin;
	struct gdrdrv_callback_flag_request callback_flag;
	struct gdrdrv_info_request info;
	struct gdrdrv_info_v2_request info_v2;
	struct gdrdrv_attribute_request attribute;
	struct gdrdrv_mapping_type_request mapping_type;
	struct gdrdrv_version_request version;
};

struct command {
	unsigned int number;
	size_t size_in;
	size_t size_out;
	int (*run)(struct gdrdrv_session *session, union argument *argument);
	/* Undoes a run whose result could not be copied to the user. */
	void (*undo)(struct gdrdrv_session *session, const union argument *argument);
};

static int run_pin(struct gdrdrv_session *session, union argument *argument)
{
	struct gdrdrv_pin_request *request = &argument->pin;
	struct gdrdrv_pin_arguments arguments = { .address = request->address, .bytes = request->size_bytes };

	/* Tokens are part of an interface that persistent pins lack. Revocable pins do not need them either. */
	if (gdrdrv_params_persistent() && (request->p2p_token || request->va_space))
		return -EINVAL;
	return gdrdrv_pin_create(session, &arguments, &request->handle);
}

static int run_pin_v2(struct gdrdrv_session *session, union argument *argument)
{
	struct gdrdrv_pin_v2_request *request = &argument->pin_v2;
	struct gdrdrv_pin_arguments arguments = { .address = request->address,
						  .bytes = request->size_bytes,
						  .flags = request->flags };

	if (arguments.flags & ~GDRDRV_PIN_FORCE_PCIE || (arguments.flags && !gdrdrv_params_persistent()))
		return -EINVAL;
	return gdrdrv_pin_create(session, &arguments, &request->handle);
}

static void undo_pin(struct gdrdrv_session *session, const union argument *argument)
{
	gdrdrv_pin_unpin(session, argument->pin.handle);
}

static void undo_pin_v2(struct gdrdrv_session *session, const union argument *argument)
{
	gdrdrv_pin_unpin(session, argument->pin_v2.handle);
}

static int run_unpin(struct gdrdrv_session *session, union argument *argument)
{
	return gdrdrv_pin_unpin(session, argument->unpin.handle);
}

static int run_callback_flag(struct gdrdrv_session *session, union argument *argument)
{
	struct gdrdrv_pin *pin = gdrdrv_pin_find(session, argument->callback_flag.handle);

	if (!pin)
		return -EINVAL;
	down_read(&pin->lock);
	argument->callback_flag.is_revoked = pin->is_revoked;
	up_read(&pin->lock);
	gdrdrv_pin_put(pin);
	return 0;
}

static int run_info_v2(struct gdrdrv_session *session, union argument *argument)
{
	struct gdrdrv_info_v2_request *request = &argument->info_v2;
	struct gdrdrv_pin *pin = gdrdrv_pin_find(session, request->handle);

	if (!pin)
		return -EINVAL;
	request->address = pin->address;
	request->mapped_bytes = pin->bytes;
	request->page_bytes = GDRDRV_GPU_PAGE_SIZE;
	request->tsc_khz = gdrkit_cycles_per_millisecond();
	request->pin_cycles = pin->cycles;
	down_read(&pin->lock);
	request->mapping_type = pin->mapping_type;
	up_read(&pin->lock);
	request->padding = 0;
	gdrdrv_pin_put(pin);
	return 0;
}

/* The older request has two words in place of mapping_type; the other members are the same. */
static int run_info(struct gdrdrv_session *session, union argument *argument)
{
	int result = run_info_v2(session, argument);
	u32 type = argument->info_v2.mapping_type;

	if (result)
		return result;
	argument->info.is_mapped = type != GDRDRV_MAPPING_NONE;
	argument->info.is_write_combining = type == GDRDRV_MAPPING_WC;
	return 0;
}

static int run_attribute(struct gdrdrv_session *session, union argument *argument)
{
	switch (argument->attribute.attribute) {
	case GDRDRV_ATTRIBUTE_PERSISTENT:
	case GDRDRV_ATTRIBUTE_FORCE_PCIE: /* a flag of persistent pins only */
		argument->attribute.value = gdrdrv_params_persistent();
		return 0;
	default:
		return -EINVAL;
	}
}

static int run_mapping_type(struct gdrdrv_session *session, union argument *argument)
{
	struct gdrdrv_mapping_type_request *request = &argument->mapping_type;
	struct gdrdrv_pin *pin;
	int result;

	if (request->mapping_type > GDRDRV_MAPPING_DEVICE)
		return -EINVAL;
	pin = gdrdrv_pin_find(session, request->handle);
	if (!pin)
		return -EINVAL;
	down_write(&pin->lock);
	result = pin->mapping_type != GDRDRV_MAPPING_NONE ?
			 -EBUSY :
			 gdrdrv_mapping_type_check(request->mapping_type, pin->can_cache);
	if (!result)
		pin->requested_type = request->mapping_type;
	up_write(&pin->lock);
	gdrdrv_pin_put(pin);
	return result;
}

static int run_version(struct gdrdrv_session *session, union argument *argument)
{
	argument->version.version = GDRDRV_VERSION;
	argument->version.minimum_api = GDRDRV_MINIMUM_API;
	return 0;
}

#define SIZE_OF(member) sizeof(((union argument *)NULL)->member)
#define QUERY(name, member) { name, SIZE_OF(member), SIZE_OF(member), run_##member, NULL }

static const struct command commands[] = {
	{ GDRDRV_PIN, SIZE_OF(pin), SIZE_OF(pin), run_pin, undo_pin },
	{ GDRDRV_PIN_V2, SIZE_OF(pin_v2), SIZE_OF(pin_v2), run_pin_v2, undo_pin_v2 },
	{ GDRDRV_UNPIN, SIZE_OF(unpin), 0, run_unpin, NULL },
	QUERY(GDRDRV_CALLBACK_FLAG, callback_flag),
	QUERY(GDRDRV_INFO, info),
	QUERY(GDRDRV_INFO_V2, info_v2),
	QUERY(GDRDRV_ATTRIBUTE, attribute),
	{ GDRDRV_MAPPING_TYPE, SIZE_OF(mapping_type), 0, run_mapping_type, NULL },
	{ GDRDRV_GET_VERSION, 0, SIZE_OF(version), run_version, NULL },
};

static const struct command *find_command(unsigned int number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

static long run(struct gdrdrv_session *session, const struct command *command, void __user *user)
{
	union argument argument = {};
	int result;

	if (copy_from_user(&argument, user, command->size_in))
		return -EFAULT;
	result = command->run(session, &argument);
	if (result)
		return result;
	if (copy_to_user(user, &argument, command->size_out)) {
		if (command->undo)
			command->undo(session, &argument);
		return -EFAULT;
	}
	return 0;
}

long gdrdrv_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	struct gdrdrv_session *session = file->private_data;
	const struct command *command;

	if (_IOC_TYPE(number) != GDRDRV_MAGIC)
		return -EINVAL;
	if (!gdrdrv_owner_is_current(session->owner)) {
		gdrdrv_debug("rejected a request: the process did not open this file");
		return -EACCES;
	}
	command = find_command(number);
	return command ? run(session, command, (void __user *)argument) : -ENOTTY;
}
