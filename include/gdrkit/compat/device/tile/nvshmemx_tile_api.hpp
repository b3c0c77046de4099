/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Reports that gdrkit does not provide this header of NVSHMEM. */
#error "gdrkit has no tile functions: use the strided puts and gets (nvshmemx_float_iput_block) and collectives"
