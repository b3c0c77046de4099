# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# <prefix>/<libdir>/gdrkit/nvshmem has the layout of an NVSHMEM installation, so that the build files of programs written for
# NVSHMEM need only another NVSHMEM_HOME: include/, lib/, lib/cmake/nvshmem and bin/nvshmrun. It consists of links, except
# for the CMake package, the script, and libnvshmem_host.so.3.
set(nvshmem_home ${CMAKE_INSTALL_LIBDIR}/gdrkit/nvshmem)
set(tree ${PROJECT_BINARY_DIR}/install/nvshmem)
file(REMOVE_RECURSE ${tree})
file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_LIBDIR}/gdrkit/nvshmem/lib ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH to_headers ${CMAKE_INSTALL_FULL_LIBDIR}/gdrkit/nvshmem/include ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH GDRKIT_TO_PROGRAMS ${CMAKE_INSTALL_FULL_LIBDIR}/gdrkit/nvshmem/bin ${CMAKE_INSTALL_FULL_BINDIR})
foreach(path to_libraries to_headers GDRKIT_TO_PROGRAMS)
  string(REGEX REPLACE "([^/])$" "\\1/" ${path} "${${path}}")
endforeach()
file(MAKE_DIRECTORY ${tree}/lib ${tree}/include)

# -lnvshmem links the host and the device library. It has no archive: nvlink rejects linker scripts named .a.
foreach(name nvshmem nvshmem_host)
  file(CREATE_LINK ${to_libraries}libgdrkit_shmem.so.0 ${tree}/lib/lib${name}.so SYMBOLIC)
endforeach()
# For programs that are linked with -rpath=$NVSHMEM_HOME/lib.
foreach(name gdrkit_shmem gdrkit)
  file(CREATE_LINK ${to_libraries}lib${name}.so.0 ${tree}/lib/lib${name}.so.0 SYMBOLIC)
endforeach()
file(GLOB names RELATIVE ${PROJECT_SOURCE_DIR}/include/gdrkit/compat CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/gdrkit/compat/*)
foreach(name IN LISTS names)
  file(CREATE_LINK ${to_headers}gdrkit/compat/${name} ${tree}/include/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${to_headers}gdrkit ${tree}/include/gdrkit SYMBOLIC)

# The version is that of the NVSHMEM whose names the headers have.
configure_file(${PROJECT_SOURCE_DIR}/cmake/nvshmem-config.cmake.in ${tree}/lib/cmake/nvshmem/NVSHMEMConfig.cmake @ONLY)
write_basic_package_version_file(${tree}/lib/cmake/nvshmem/NVSHMEMConfigVersion.cmake VERSION 3.8.0
  COMPATIBILITY AnyNewerVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/nvshmrun.in ${tree}/bin/nvshmrun @ONLY)
install(DIRECTORY ${tree}/ DESTINATION ${nvshmem_home} COMPONENT libgdrkit-dev USE_SOURCE_PERMISSIONS)

# All functions of GPU kernels are in the headers, so the device library has nothing to link.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/install/nvshmem_device.c CONTENT "typedef int gdrkit_nvshmem_device_is_in_the_headers;\n")
add_library(gdrkit_nvshmem_device STATIC ${PROJECT_BINARY_DIR}/install/nvshmem_device.c)
set_target_properties(gdrkit_nvshmem_device PROPERTIES OUTPUT_NAME nvshmem_device
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/install)
install(TARGETS gdrkit_nvshmem_device ARCHIVE DESTINATION ${nvshmem_home}/lib COMPONENT libgdrkit-dev)

# For programs that load NVSHMEM's library. Linking uses the name libnvshmem_host.so above: the headers are inline.
install(TARGETS gdrkit_nvshmem_host LIBRARY DESTINATION ${nvshmem_home}/lib NAMELINK_SKIP COMPONENT libgdrkit-dev)
