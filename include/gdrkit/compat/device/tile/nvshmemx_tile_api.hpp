/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A path of NVSHMEM's. */
#error "gdrkit has no tile functions: use the strided puts and gets (nvshmemx_float_iput_block) and collectives"
