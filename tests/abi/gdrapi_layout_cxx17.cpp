// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The layouts again as C++17 sees them, and what bit each of the two flags is.
#include <type_traits>

#include "gdrapi_layout.h"

static_assert(std::is_same_v<gdr_info_t, gdr_info_v2_t>);
static_assert(std::is_same_v<decltype(&gdr_get_info), int (*)(gdr_t, gdr_mh_t, gdr_info_v2_t*)>, "a macro for _v2");
static_assert(std::is_trivially_copyable_v<gdr_mh_t>);
