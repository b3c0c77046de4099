// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library with libibverbs' name that lacks almost all of its functions.
__attribute__((visibility("default"))) void* ibv_get_device_list(int* count) {
  *count = 0;
  return 0;
}
