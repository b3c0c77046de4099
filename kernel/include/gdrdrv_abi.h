/* SPDX-FileCopyrightText: The gdrkit authors */
/* SPDX-License-Identifier: MIT */
/*
 * The user ABI of /dev/gdrdrv, for the module, its programs and gdrkit's library: the numbers, layouts and offsets of
 * GDRCopy's library.
 *
 * Most request numbers encode the size of a pointer instead of the structure's size, and all declare both directions.
 * Existing programs use these numbers, so they cannot change. Padding is ignored, because those programs do not clear
 * it.
 */
#ifndef GDRDRV_ABI_H
#define GDRDRV_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GDRDRV_VERSION_MAJOR 2
#define GDRDRV_VERSION_MINOR 6
#define GDRDRV_VERSION (GDRDRV_VERSION_MAJOR << 16 | GDRDRV_VERSION_MINOR)
/* The oldest library version that this module supports. */
#define GDRDRV_MINIMUM_API (2 << 16 | 0)

#define GDRDRV_GPU_PAGE_SHIFT 16
#define GDRDRV_GPU_PAGE_SIZE (1ULL << GDRDRV_GPU_PAGE_SHIFT)

#define GDRDRV_MAGIC 0xDA

#define GDRDRV_PIN_FORCE_PCIE 1

#define GDRDRV_ATTRIBUTE_PERSISTENT 1
#define GDRDRV_ATTRIBUTE_FORCE_PCIE 2

enum gdrdrv_mapping_type {
	GDRDRV_MAPPING_NONE = 0,
	GDRDRV_MAPPING_WC = 1,
	GDRDRV_MAPPING_CACHED = 2,
	GDRDRV_MAPPING_DEVICE = 3
};

struct gdrdrv_pin_request {
	__u64 address;
	__u64 size_bytes;
	__u64 p2p_token;
	__u32 va_space;
	__u32 padding;
	__u64 handle; /* out */
};

struct gdrdrv_pin_v2_request {
	__u64 address;
	__u64 size_bytes;
	__u32 flags;
	__u32 padding;
	__u64 handle; /* out */
};

struct gdrdrv_unpin_request {
	__u64 handle;
};

struct gdrdrv_callback_flag_request {
	__u64 handle;
	__u32 is_revoked; /* out */
	__u32 padding;
};

struct gdrdrv_info_request {
	__u64 handle;
	__u64 address; /* out, from here on */
	__u64 mapped_bytes;
	__u32 page_bytes;
	__u32 tsc_khz;
	__u64 pin_cycles;
	__u32 is_mapped;
	__u32 is_write_combining;
};

struct gdrdrv_info_v2_request {
	__u64 handle;
	__u64 address; /* out, from here on */
	__u64 mapped_bytes;
	__u32 page_bytes;
	__u32 tsc_khz;
	__u64 pin_cycles;
	__u32 mapping_type;
	__u32 padding;
};

struct gdrdrv_attribute_request {
	__u32 attribute;
	__u32 value; /* out */
};

struct gdrdrv_mapping_type_request {
	__u64 handle;
	__u32 mapping_type;
	__u32 padding;
};

struct gdrdrv_version_request {
	__u32 version;	   /* out */
	__u32 minimum_api; /* out */
};

/* The offset for mmap() is the handle times the host's page size. */

#define GDRDRV_IOCTL(number, size) _IOC(_IOC_READ | _IOC_WRITE, GDRDRV_MAGIC, number, size)

#define GDRDRV_PIN GDRDRV_IOCTL(1, 40)
#define GDRDRV_UNPIN GDRDRV_IOCTL(2, 8)
#define GDRDRV_CALLBACK_FLAG GDRDRV_IOCTL(3, 8)
#define GDRDRV_INFO GDRDRV_IOCTL(4, 8)
#define GDRDRV_INFO_V2 GDRDRV_IOCTL(5, 8)
#define GDRDRV_ATTRIBUTE GDRDRV_IOCTL(6, 8)
#define GDRDRV_PIN_V2 GDRDRV_IOCTL(7, 32)
#define GDRDRV_MAPPING_TYPE GDRDRV_IOCTL(8, 8)
#define GDRDRV_GET_VERSION GDRDRV_IOCTL(255, 8)

#ifndef __cplusplus /* which lacks this name; the layouts are the same */
_Static_assert(sizeof(struct gdrdrv_pin_request) == 40, "layout");
_Static_assert(sizeof(struct gdrdrv_pin_v2_request) == 32, "layout");
_Static_assert(sizeof(struct gdrdrv_unpin_request) == 8, "layout");
_Static_assert(sizeof(struct gdrdrv_callback_flag_request) == 16, "layout");
_Static_assert(sizeof(struct gdrdrv_info_request) == 48, "layout");
_Static_assert(sizeof(struct gdrdrv_info_v2_request) == 48, "layout");
_Static_assert(sizeof(struct gdrdrv_attribute_request) == 8, "layout");
_Static_assert(sizeof(struct gdrdrv_mapping_type_request) == 16, "layout");
_Static_assert(sizeof(struct gdrdrv_version_request) == 8, "layout");
#endif

#endif
