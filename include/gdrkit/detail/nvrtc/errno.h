// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// For NVRTC: the numbers of Linux that gdrkit's headers use.
#pragma once
#define EINVAL 22
