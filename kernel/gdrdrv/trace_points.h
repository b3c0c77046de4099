/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Trace points; empty in the proprietary flavour. */
#ifndef GDRDRV_TRACE_POINTS_H
#define GDRDRV_TRACE_POINTS_H

#include <linux/types.h>

#include "flavour.h"

#ifdef GDRKIT_FLAVOUR_OPEN
#include "trace.h"
#else
static inline void trace_gdrdrv_pin(u64 handle, u64 address, u64 bytes, bool is_persistent)
{
}

static inline void trace_gdrdrv_unpin(u64 handle, u64 address, u64 bytes)
{
}

static inline void trace_gdrdrv_revoke(u64 handle, u64 address, u64 bytes)
{
}

static inline void trace_gdrdrv_map(u64 handle, u64 bytes, u32 mapping_type, int result)
{
}

static inline void trace_gdrdrv_unmap(u64 handle)
{
}
#endif

#endif
