# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(GDRKIT_TRIPLET aarch64-linux-gnu)
set(GDRKIT_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
