// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "provider.h"

#include <linux/compiler.h>
#include <linux/errno.h>

#include "nv-p2p.h"
#include "owner.h"
#include "p2p_drain.h"
#include "p2p_lock.h"
#include "params.h"
#include "pin.h"

static bool has_callbacks; /* once, since the module was loaded */

/* Programs only support errno numbers of user space. */
static int as_user_errno(int result)
{
	if (result == -ENOTSUPP)
		return -EOPNOTSUPP;
	return result > 0 ? -EIO : result;
}

int gdrdrv_provider_get(struct gdrdrv_pin *pin, bool force_pcie, void (*revoke)(void *data),
			struct nvidia_p2p_page_table **table)
{
	int result;

	if (gdrdrv_params_persistent()) {
		u32 flags = force_pcie ? NVIDIA_P2P_FLAGS_FORCE_BAR1_MAPPING : NVIDIA_P2P_FLAGS_DEFAULT;

		pin->is_persistent = true;
		result = as_user_errno(nvidia_p2p_get_pages_persistent(pin->address, pin->bytes, table, flags));
		/* Virtual GPUs have no persistent pins. The other kind has no flags. */
		if (result != -EOPNOTSUPP || flags)
			return result;
	}
	pin->is_persistent = false;
	WRITE_ONCE(has_callbacks, true);
	/*
	 * No token: tokens would refer to the same memory, and make a put free a table that a callback has already
	 * freed.
	 */
	gdrkit_p2p_lock();
	result = as_user_errno(nvidia_p2p_get_pages(0, 0, pin->address, pin->bytes, table, revoke, pin));
	gdrkit_p2p_unlock();
	return result;
}

/* NULL once a callback has taken it. */
static struct nvidia_p2p_page_table *table_of(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;

	down_read(&pin->lock);
	table = pin->is_revoked ? NULL : pin->table;
	up_read(&pin->lock);
	return table;
}

/*
 * The lock is held from before the table is read, so that the pointer still identifies this pin, or none, when the
 * provider searches for it. A callback may take the table meanwhile: the provider then waits for it and returns 0.
 */
static int put_revocable(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;
	int result = 0;

	/* For another process the provider would find nothing and return 0. */
	if (!gdrdrv_owner_is_current(pin->owner))
		return -EXDEV;
	gdrkit_p2p_lock();
	table = table_of(pin);
	if (table)
		result = nvidia_p2p_put_pages(0, 0, pin->address, table);
	gdrkit_p2p_unlock();
	return result;
}

/* 0: the provider has released the pin, or a callback has taken it or is about to: see is_revoked. */
static int put(struct gdrdrv_pin *pin)
{
	if (!pin->is_persistent)
		return as_user_errno(put_revocable(pin));
	return as_user_errno(nvidia_p2p_put_pages_persistent(pin->address, pin->table, 0));
}

static bool is_revoked(struct gdrdrv_pin *pin)
{
	bool result;

	down_read(&pin->lock);
	result = pin->is_revoked;
	up_read(&pin->lock);
	return result;
}

int gdrdrv_provider_give_back(struct gdrdrv_pin *pin)
{
	int result = is_revoked(pin) ? 0 : put(pin);

	/*
	 * The provider's 0 means that the pin is released, or that a callback has it. put_pages waits for a callback in
	 * progress, so is_revoked is visible here. From another process it could also mean that nothing was found;
	 * provider.c does not call it there.
	 */
	if (is_revoked(pin)) {
		wait_for_completion(&pin->is_callback_done);
		result = 0;
	}
	if (!result)
		gdrdrv_pin_forget(pin);
	return result;
}

void gdrdrv_provider_drain(void)
{
	if (READ_ONCE(has_callbacks))
		gdrkit_p2p_drain();
}
