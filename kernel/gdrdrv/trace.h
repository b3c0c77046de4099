/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/* Trace points under events/gdrdrv. trace_points.h includes this file, and Linux's trace headers include it again. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gdrdrv

#if !defined(GDRDRV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GDRDRV_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(gdrdrv_pin,
	TP_PROTO(u64 handle, u64 address, u64 bytes, bool is_persistent),
	TP_ARGS(handle, address, bytes, is_persistent),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u64, address)
		__field(u64, bytes)
		__field(bool, is_persistent)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->address = address;
		__entry->bytes = bytes;
		__entry->is_persistent = is_persistent;
	),
	TP_printk("handle=%llu address=%#llx bytes=%llu persistent=%d",
		  __entry->handle, __entry->address, __entry->bytes, __entry->is_persistent)
);

DECLARE_EVENT_CLASS(gdrdrv_range,
	TP_PROTO(u64 handle, u64 address, u64 bytes),
	TP_ARGS(handle, address, bytes),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u64, address)
		__field(u64, bytes)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->address = address;
		__entry->bytes = bytes;
	),
	TP_printk("handle=%llu address=%#llx bytes=%llu", __entry->handle, __entry->address, __entry->bytes)
);

DEFINE_EVENT(gdrdrv_range, gdrdrv_unpin,
	TP_PROTO(u64 handle, u64 address, u64 bytes),
	TP_ARGS(handle, address, bytes)
);

DEFINE_EVENT(gdrdrv_range, gdrdrv_revoke,
	TP_PROTO(u64 handle, u64 address, u64 bytes),
	TP_ARGS(handle, address, bytes)
);

TRACE_EVENT(gdrdrv_map,
	TP_PROTO(u64 handle, u64 bytes, u32 mapping_type, int result),
	TP_ARGS(handle, bytes, mapping_type, result),
	TP_STRUCT__entry(
		__field(u64, handle)
		__field(u64, bytes)
		__field(u32, mapping_type)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->bytes = bytes;
		__entry->mapping_type = mapping_type;
		__entry->result = result;
	),
	TP_printk("handle=%llu bytes=%llu type=%u result=%d",
		  __entry->handle, __entry->bytes, __entry->mapping_type, __entry->result)
);

TRACE_EVENT(gdrdrv_unmap,
	TP_PROTO(u64 handle),
	TP_ARGS(handle),
	TP_STRUCT__entry(__field(u64, handle)),
	TP_fast_assign(__entry->handle = handle;),
	TP_printk("handle=%llu", __entry->handle)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
