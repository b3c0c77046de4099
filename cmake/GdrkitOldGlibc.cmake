# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Links everything for an older glibc than that of the build machine (packaging/glibc, docs/design/0022-packages.md),
# because packages and wheels also run on older machines.
set(GDRKIT_GLIBC "" CACHE STRING "oldest glibc that the result must run on, such as 2.28; empty: that of the build machine")
if(NOT GDRKIT_GLIBC)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(old_glibc ${PROJECT_BINARY_DIR}/old_glibc)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/glibc/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/glibc/old_glibc.py ${old_glibc} ${GDRKIT_GLIBC}
  ${CMAKE_C_COMPILER} COMMAND_ERROR_IS_FATAL ANY)
add_link_options(-L${old_glibc} -Wl,--wrap=__libc_start_main)
