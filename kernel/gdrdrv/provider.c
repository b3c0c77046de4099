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

static bool has_callbacks; /* a revocable pin was requested since the module was loaded */

/* User space does not define ENOTSUPP (524), and expects no positive result. */
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
		/*
		 * Virtual GPUs have no persistent pins. Revocable pins take no flags, so there is no fallback with
		 * flags.
		 */
		if (result != -EOPNOTSUPP || flags)
			return result;
	}
	pin->is_persistent = false;
	WRITE_ONCE(has_callbacks, true);
	/* No tokens: the memory is the same without, and with one, a put may free a table that a callback has freed. */
	gdrkit_p2p_lock();
	result = as_user_errno(nvidia_p2p_get_pages(0, 0, pin->address, pin->bytes, table, revoke, pin));
	gdrkit_p2p_unlock();
	return result;
}

/* Returns NULL after a callback has taken the table. */
static struct nvidia_p2p_page_table *table_of(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;

	down_read(&pin->lock);
	table = pin->is_revoked ? NULL : pin->table;
	up_read(&pin->lock);
	return table;
}

/*
 * Holds gdrkit's lock before it reads the table pointer. So the pointer names this pin or none when the provider looks
 * it up. A callback may take the table in the meantime; then the provider waits for the callback and returns 0.
 */
static int put_revocable(struct gdrdrv_pin *pin)
{
	struct nvidia_p2p_page_table *table;
	int result = 0;

	/* In another process the provider would not find the pin, and would still return 0. */
	if (!gdrdrv_owner_is_current(pin->owner))
		return -EXDEV;
	gdrkit_p2p_lock();
	table = table_of(pin);
	if (table)
		result = nvidia_p2p_put_pages(0, 0, pin->address, table);
	gdrkit_p2p_unlock();
	return result;
}

/* Returns 0 if the provider released the pin, or if a callback has taken it or is about to: see is_revoked. */
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

int gdrdrv_provider_release(struct gdrdrv_pin *pin)
{
	int result = is_revoked(pin) ? 0 : put(pin);

	/*
	 * 0 means that the pin is released or that a callback has taken it. put_pages waits for a running callback, so
	 * is_revoked is set by now. 0 can also mean that the provider found no pin, but only in another process, for
	 * which put_revocable() does not call put_pages.
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
