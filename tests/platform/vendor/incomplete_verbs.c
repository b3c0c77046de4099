// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
<<<<<<< HEAD:tests/platform/vendor/poor_verbs.c
// A library with libibverbs' name that lacks almost all of its functions.
=======
// An incomplete library with libibverbs' name.
>>>>>>> refs/heads/words-kernel:tests/platform/vendor/incomplete_verbs.c
__attribute__((visibility("default"))) void* ibv_get_device_list(int* count) {
  *count = 0;
  return 0;
}
