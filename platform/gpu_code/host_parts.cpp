// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/host_parts.hpp"

#define GDRKIT_HOST_PART
#include "platform/gpu_code/gpu_kernels.def"
