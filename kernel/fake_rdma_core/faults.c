// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Settings of a test: knobs, failures, and pause points of an invalidation.
#include <linux/jiffies.h>
#include <linux/spinlock.h>

#include "fake_rdma_core.h"

#define PAUSE_TIMEOUT (20 * HZ)

enum pause_state { PAUSE_OFF, PAUSE_ARMED, PAUSE_REACHED };

static DEFINE_SPINLOCK(lock);
static DECLARE_WAIT_QUEUE_HEAD(changed);
static u32 knobs[FAKE_CORE_KNOBS];
static u32 failures[FAKE_CORE_POINTS];
static enum pause_state pauses[FAKE_CORE_MOMENTS];

void fake_core_faults_reset(void)
{
	spin_lock(&lock);
	memset(knobs, 0, sizeof(knobs));
	memset(failures, 0, sizeof(failures));
	memset(pauses, 0, sizeof(pauses));
	spin_unlock(&lock);
	wake_up_all(&changed);
}

int fake_core_set(const struct fake_core_setting *setting)
{
	if (setting->knob >= FAKE_CORE_KNOBS)
		return -EINVAL;
	WRITE_ONCE(knobs[setting->knob], setting->value);
	return 0;
}

u32 fake_core_knob(enum fake_core_knob knob)
{
	return READ_ONCE(knobs[knob]);
}

int fake_core_arm(const struct fake_core_failure *failure)
{
	if (failure->point >= FAKE_CORE_POINTS)
		return -EINVAL;
	spin_lock(&lock);
	failures[failure->point] = failure->nth;
	spin_unlock(&lock);
	return 0;
}

int fake_core_injected_error(enum fake_core_point point)
{
	int error = 0;

	spin_lock(&lock);
	if (failures[point] && --failures[point] == 0)
		error = -ENOMEM;
	spin_unlock(&lock);
	return error;
}

static void set_state(u32 moment, enum pause_state state)
{
	spin_lock(&lock);
	pauses[moment] = state;
	spin_unlock(&lock);
	wake_up_all(&changed);
}

int fake_core_pause(const struct fake_core_pause *pause)
{
	long left;

	if (pause->moment >= FAKE_CORE_MOMENTS)
		return -EINVAL;
	switch (pause->action) {
	case FAKE_CORE_PAUSE_ARM:
		set_state(pause->moment, PAUSE_ARMED);
		return 0;
	case FAKE_CORE_PAUSE_RESUME:
		set_state(pause->moment, PAUSE_OFF);
		return 0;
	case FAKE_CORE_PAUSE_AWAIT:
		left = wait_event_interruptible_timeout(changed, READ_ONCE(pauses[pause->moment]) == PAUSE_REACHED,
							msecs_to_jiffies(pause->timeout_ms));
		return left > 0 ? 0 : left < 0 ? -EINTR : -ETIMEDOUT;
	default:
		return -EINVAL;
	}
}

void fake_core_pass(enum fake_core_moment moment)
{
	bool is_mine = false;

	spin_lock(&lock);
	if (pauses[moment] == PAUSE_ARMED) {
		pauses[moment] = PAUSE_REACHED;
		is_mine = true;
	}
	spin_unlock(&lock);
	if (!is_mine)
		return;
	wake_up_all(&changed);
	if (!wait_event_timeout(changed, READ_ONCE(pauses[moment]) != PAUSE_REACHED, PAUSE_TIMEOUT))
		set_state(moment, PAUSE_OFF);
}
