// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions of nvshmem.h that concern GPU code of NVSHMEM. libnvshmem_host.so.3 exports the versions in
// replaced_functions.cpp instead. Include this file before nvshmem.h, which then defines them under other names.
#pragma once

#define nvshmem_finalize gdrkit_nvshmem_finalize
#define nvshmem_team_destroy gdrkit_nvshmem_team_destroy
#define nvshmem_team_split_2d gdrkit_nvshmem_team_split_2d
#define nvshmem_team_split_strided gdrkit_nvshmem_team_split_strided
#define nvshmemx_culibrary_init gdrkit_nvshmemx_culibrary_init
#define nvshmemx_cumodule_init gdrkit_nvshmemx_cumodule_init
#define nvshmemx_hostlib_finalize gdrkit_nvshmemx_hostlib_finalize
#define nvshmemx_team_init gdrkit_nvshmemx_team_init
