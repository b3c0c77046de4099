# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(GDRKIT_TRIPLET powerpc64le-linux-gnu)
set(GDRKIT_QEMU qemu-ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
