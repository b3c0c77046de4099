// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library with NVML's name that lacks almost all of its functions.
__attribute__((visibility("default"))) int nvmlInit_v2(void) { return 0; }
