/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Numbers and layouts that binaries built against GDRCopy's header carry in them; included by a C11 and a C++17 file.
 */
#ifndef GDRKIT_TESTS_GDRAPI_LAYOUT_H
#define GDRKIT_TESTS_GDRAPI_LAYOUT_H

#include <assert.h>
#include <gdrapi.h>
#include <gdrconfig.h>

static_assert(sizeof(gdr_t) == 8, "a pointer");
static_assert(sizeof(gdr_mh_t) == 8 && offsetof(gdr_mh_t, h) == 0, "one word");

static_assert(sizeof(gdr_info_v2_t) == 48 && sizeof(gdr_info_t) == 48, "");
static_assert(offsetof(gdr_info_v2_t, va) == 0 && sizeof(((gdr_info_v2_t*)0)->va) == 8, "");
static_assert(offsetof(gdr_info_v2_t, mapped_size) == 8 && sizeof(((gdr_info_v2_t*)0)->mapped_size) == 8, "");
static_assert(offsetof(gdr_info_v2_t, page_size) == 16 && sizeof(((gdr_info_v2_t*)0)->page_size) == 4, "");
static_assert(offsetof(gdr_info_v2_t, tm_cycles) == 24 && sizeof(((gdr_info_v2_t*)0)->tm_cycles) == 8, "");
static_assert(offsetof(gdr_info_v2_t, cycles_per_ms) == 32 && sizeof(((gdr_info_v2_t*)0)->cycles_per_ms) == 4, "");
static_assert(offsetof(gdr_info_v2_t, mapping_type) == 40 && sizeof(((gdr_info_v2_t*)0)->mapping_type) == 4, "");

static_assert(GDR_PIN_FLAG_DEFAULT == 0 && GDR_PIN_FLAG_FORCE_PCIE == 1, "");
static_assert(GDR_MAP_FLAG_DEFAULT == 0 && GDR_MAP_FLAG_REQ_WC_MAPPING == 1, "");
static_assert(GDR_MAP_FLAG_REQ_CACHE_MAPPING == 2 && GDR_MAP_FLAG_REQ_DEVICE_MAPPING == 3, "");
static_assert(GDR_MAPPING_TYPE_NONE == 0 && GDR_MAPPING_TYPE_WC == 1 && GDR_MAPPING_TYPE_CACHING == 2, "");
static_assert(GDR_MAPPING_TYPE_DEVICE == 3 && GDR_MAPPING_TYPE_MAX == 4, "");
static_assert(GDR_ATTR_USE_PERSISTENT_MAPPING == 1 && GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE == 2, "");
static_assert(GDR_ATTR_USING_DMA_BUF_MMAP == 3 && GDR_ATTR_MAX == 4, "");
static_assert(sizeof(gdr_pin_flags_t) == 4 && sizeof(gdr_map_flags_t) == 4 && sizeof(gdr_attr_t) == 4, "");

static_assert(GDR_API_VERSION == 0x00020006 && MINIMUM_GDRDRV_VERSION == 0x00020000, "");
static_assert(MAJOR_VERSION_SHIFT == 16 && MINOR_VERSION_MASK == 0xffff, "");
static_assert(GPU_PAGE_SHIFT == 16 && GPU_PAGE_SIZE == 65536 && GPU_PAGE_OFFSET == 65535, "");
static_assert(GPU_PAGE_MASK == 0xFFFFFFFFFFFF0000ul && sizeof(GPU_PAGE_SIZE) == sizeof(unsigned long), "");

#if defined(GDRAPI_X86) + defined(GDRAPI_ARM64) + defined(GDRAPI_POWER) != 1
#error "gdrconfig.h names exactly one processor family"
#endif

#endif
