/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrkit/shmem.h>

int main(void) {
  long numbers[1000] = {0};
  /* SNIPPET */
  return 0;
}
