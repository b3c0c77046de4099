// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// For NVRTC, which has no standard headers. size_t is built in.
#pragma once
#ifndef NULL
#define NULL nullptr
#endif
