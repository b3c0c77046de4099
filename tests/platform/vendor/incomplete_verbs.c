// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An incomplete library with libibverbs' name.
__attribute__((visibility("default"))) void* ibv_get_device_list(int* count) {
  *count = 0;
  return 0;
}
