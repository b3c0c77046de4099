// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A PE that only calls init.
#include "gdrkit/shmem.h"

int main() { return gdrkit_shmem_init(nullptr) == 0 ? 0 : 1; }
