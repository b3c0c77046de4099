/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The identity of a process, which stays valid after the process exits and its PID is reused. The open flavour holds a
 * reference on struct pid. put_pid() is GPL-only, so the proprietary flavour stores PID and start time, which are
 * unique together.
 */
#ifndef GDRKIT_COMPAT_PROCESS_H
#define GDRKIT_COMPAT_PROCESS_H

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "flavour.h"

struct gdrkit_process {
#ifdef GDRKIT_FLAVOUR_OPEN
	struct pid *group;
#else
	pid_t group;
	u64 start_ns;
#endif
};

#ifdef GDRKIT_FLAVOUR_OPEN

static inline struct gdrkit_process gdrkit_process_get_current(void)
{
	return (struct gdrkit_process){ .group = get_pid(task_tgid(current)) };
}

static inline void gdrkit_process_put(struct gdrkit_process *process)
{
	put_pid(process->group);
}

static inline bool gdrkit_process_is_current(const struct gdrkit_process *process)
{
	return process->group == task_tgid(current);
}

static inline pid_t gdrkit_process_number(const struct gdrkit_process *process)
{
	return pid_nr(process->group);
}

#else

/* After an exec by another thread, that thread becomes the leader and takes over its PID and start time. */
static inline struct gdrkit_process gdrkit_process_get_current(void)
{
	return (struct gdrkit_process){ .group = current->tgid, .start_ns = current->group_leader->start_time };
}

static inline void gdrkit_process_put(struct gdrkit_process *process)
{
}

static inline bool gdrkit_process_is_current(const struct gdrkit_process *process)
{
	return process->group == current->tgid && process->start_ns == current->group_leader->start_time;
}

static inline pid_t gdrkit_process_number(const struct gdrkit_process *process)
{
	return process->group;
}

#endif

#endif
