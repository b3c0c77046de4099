// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// For NVRTC: the types that libcu++ declares for it (cuda/std/cstdint), so that both can be included.
#pragma once
using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
#ifndef INT32_MAX
#define INT32_MAX 2147483647
#endif
#ifndef SIZE_MAX
#define SIZE_MAX 18446744073709551615ULL
#endif
