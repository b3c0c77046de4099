// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
