# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Unpacks the PTX of all GPU kernels (made by "./run ptx") into the directory from which sources embed it. These sources
# depend on the archive, because the unpacked files keep the times of the archive's entries.
set(GDRKIT_PTX_ARCHIVE ${CMAKE_CURRENT_LIST_DIR}/gpu_ptx.tar.xz)
set(GDRKIT_PTX_DIRECTORY ${PROJECT_BINARY_DIR}/ptx)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GDRKIT_PTX_ARCHIVE})
file(ARCHIVE_EXTRACT INPUT ${GDRKIT_PTX_ARCHIVE} DESTINATION ${GDRKIT_PTX_DIRECTORY})
