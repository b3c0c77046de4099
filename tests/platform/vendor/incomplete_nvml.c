// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
<<<<<<< HEAD:tests/platform/vendor/poor_nvml.c
// A library with NVML's name that lacks almost all of its functions.
=======
// An incomplete library with NVML's name.
>>>>>>> refs/heads/words-kernel:tests/platform/vendor/incomplete_nvml.c
__attribute__((visibility("default"))) int nvmlInit_v2(void) { return 0; }
