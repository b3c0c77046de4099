// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library with NVML's name that lacks nearly all of it.
__attribute__((visibility("default"))) int nvmlInit_v2(void) { return 0; }
