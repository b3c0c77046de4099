/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
#include <gdrapi.h>
#include <gdrkit/gdrkit.h>
#include <gdrkit/shmem.h>
#include <gdrkit/shmem_collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SNIPPET */
