// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Settings of a test: knobs, injected failures and pause points.
#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "fake_p2p.h"

#define PAUSE_TIMEOUT (20 * HZ)

enum pause_state { PAUSE_OFF, PAUSE_ARMED, PAUSE_REACHED };

static DEFINE_SPINLOCK(lock);
static u64 knobs[FAKE_P2P_KNOBS];
static struct fake_p2p_failure failures[FAKE_CALLS];
static enum pause_state pauses[FAKE_P2P_STEPS];
static DECLARE_WAIT_QUEUE_HEAD(changed);

void fake_faults_reset(void)
{
	spin_lock(&lock);
	memset(knobs, 0, sizeof(knobs));
	memset(failures, 0, sizeof(failures));
	memset(pauses, 0, sizeof(pauses));
	knobs[FAKE_P2P_TABLE_VERSION] = NVIDIA_P2P_PAGE_TABLE_VERSION;
	knobs[FAKE_P2P_PAGE_SIZE] = NVIDIA_P2P_PAGE_SIZE_64KB;
	knobs[FAKE_P2P_MAPPING_VERSION] = NVIDIA_P2P_DMA_MAPPING_VERSION;
	spin_unlock(&lock);
	wake_up_all(&changed);
}

int fake_faults_set(u32 knob, u64 value)
{
	if (knob >= FAKE_P2P_KNOBS)
		return -EINVAL;
	if ((knob == FAKE_P2P_DAMAGE || knob == FAKE_P2P_MAPPING_DAMAGE) && value >= FAKE_P2P_DAMAGES)
		return -EINVAL;
	spin_lock(&lock);
	knobs[knob] = value;
	spin_unlock(&lock);
	return 0;
}

u64 fake_faults_knob(enum fake_p2p_knob knob)
{
	u64 value;

	spin_lock(&lock);
	value = knobs[knob];
	spin_unlock(&lock);
	return value;
}
FAKE_P2P_EXPORT(fake_faults_knob);

int fake_faults_arm(const struct fake_p2p_failure *failure)
{
	if (failure->call >= FAKE_CALLS || failure->error > 4095 || (failure->nth && !failure->error))
		return -EINVAL;
	spin_lock(&lock);
	failures[failure->call] = *failure;
	spin_unlock(&lock);
	return 0;
}

int fake_faults_injected_error(enum fake_p2p_call call)
{
	int error = 0;

	spin_lock(&lock);
	if (failures[call].nth && --failures[call].nth == 0)
		error = -(int)failures[call].error;
	spin_unlock(&lock);
	return error;
}
FAKE_P2P_EXPORT(fake_faults_injected_error);

static void set_state(u32 step, enum pause_state state)
{
	spin_lock(&lock);
	pauses[step] = state;
	spin_unlock(&lock);
	wake_up_all(&changed);
}

int fake_faults_pause(const struct fake_p2p_pause *pause)
{
	long left;

	if (pause->step >= FAKE_P2P_STEPS)
		return -EINVAL;
	switch (pause->action) {
	case FAKE_P2P_PAUSE_ARM:
		set_state(pause->step, PAUSE_ARMED);
		return 0;
	case FAKE_P2P_PAUSE_RESUME:
		set_state(pause->step, PAUSE_OFF);
		return 0;
	case FAKE_P2P_PAUSE_AWAIT:
		left = wait_event_interruptible_timeout(changed, READ_ONCE(pauses[pause->step]) == PAUSE_REACHED,
							msecs_to_jiffies(pause->timeout_ms));
		return left > 0 ? 0 : left < 0 ? -EINTR : -ETIMEDOUT;
	default:
		return -EINVAL;
	}
}

/* Not killable, like the driver's own waits; clients must handle that. */
void fake_faults_pass(enum fake_p2p_step step)
{
	bool is_mine = false;

	spin_lock(&lock);
	if (pauses[step] == PAUSE_ARMED) {
		pauses[step] = PAUSE_REACHED;
		is_mine = true;
	}
	spin_unlock(&lock);
	if (!is_mine)
		return;
	wake_up_all(&changed);
	if (!wait_event_timeout(changed, READ_ONCE(pauses[step]) != PAUSE_REACHED, PAUSE_TIMEOUT))
		set_state(step, PAUSE_OFF);
}
FAKE_P2P_EXPORT(fake_faults_pass);
