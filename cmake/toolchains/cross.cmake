# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Common part of the toolchain files. They set GDRKIT_TRIPLET, CMAKE_SYSTEM_PROCESSOR and GDRKIT_QEMU: Debian's cross
# compilers (g++-aarch64-linux-gnu, g++-powerpc64le-linux-gnu), and qemu-user to run the results.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${GDRKIT_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${GDRKIT_TRIPLET}-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${GDRKIT_TRIPLET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Header-only libraries work for all architectures.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_CROSSCOMPILING_EMULATOR ${GDRKIT_QEMU};-L;/usr/${GDRKIT_TRIPLET})
