# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Install rules: headers, libraries with their links, programs and their shell completion (if they are built), a
# CMake package (targets gdrkit::gdrkit, gdrkit::gdrkit_c, gdrkit::gdrapi, gdrkit::shmem, gdrkit::nvshmem) and
# pkg-config files. The installed tree is relocatable as a whole.
# Each component is the content of one package and has its Debian name (packaging/README.md): libgdrapi2 (including
# libgdrapi.so, because NCCL loads that name), libgdrkit0, gdrkit-shmem, libgdrkit-dev, gdrkit (the programs), and
# documentation. Installed only on request: gdrkit-dkms, gdrkit-modules.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/gdrkit)
set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET gdrkit_shmem)
  set(shmem gdrkit_shmem gdrkit_nvshmem)
  set_target_properties(gdrkit_shmem PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
install(TARGETS gdrapi EXPORT gdrkit-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libgdrapi2)
install(TARGETS gdrkit gdrkit_cxx EXPORT gdrkit-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libgdrkit0 NAMELINK_COMPONENT libgdrkit-dev)
if(TARGET gdrkit_shmem)
  install(TARGETS ${shmem} EXPORT gdrkit-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT gdrkit-shmem NAMELINK_COMPONENT libgdrkit-dev)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libgdrkit-dev
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh" REGEX "/nvrtc/[a-z_]+$")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)

install(EXPORT gdrkit-targets NAMESPACE gdrkit:: DESTINATION ${package_directory} COMPONENT libgdrkit-dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gdrkit-config.cmake.in
  ${PROJECT_BINARY_DIR}/install/gdrkit-config.cmake INSTALL_DESTINATION ${package_directory}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/gdrkit-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/gdrkit-config.cmake
  ${PROJECT_BINARY_DIR}/install/gdrkit-config-version.cmake DESTINATION ${package_directory}
  COMPONENT libgdrkit-dev)

# Relative to the .pc file if the directories are relative, so that the tree stays relocatable.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(GDRKIT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(GDRKIT_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(GDRKIT_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH upwards /prefix/${pkgconfig_directory} /prefix)
  string(REGEX REPLACE "/$" "" upwards "${upwards}")
  set(GDRKIT_PC_PREFIX "\${pcfiledir}/${upwards}")
  set(GDRKIT_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(GDRKIT_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(name gdrkit gdrapi ${shmem})
  get_target_property(GDRKIT_PC_VERSION ${name} VERSION)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/install/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/${name}.pc DESTINATION ${pkgconfig_directory} COMPONENT libgdrkit-dev)
endforeach()

if(TARGET gdrkit_program)
  file(RELATIVE_PATH libraries /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
    file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  endif()
  set_target_properties(gdrkit_program PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  install(TARGETS gdrkit_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT gdrkit)
  # The build creates these links next to the program.
  foreach(name IN LISTS GDRKIT_LINK_NAMES)
    install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} DESTINATION ${CMAKE_INSTALL_BINDIR}
      COMPONENT gdrkit)
  endforeach()
  # The directories below the prefix that each shell searches below /usr and /usr/local.
  foreach(place bash:bash-completion/completions/gdrkit zsh:zsh/site-functions/_gdrkit
      fish:fish/vendor_completions.d/gdrkit.fish)
    string(REGEX MATCH "^([a-z]+):(.*)/([^/]+)$" place "${place}")
    install(FILES ${PROJECT_BINARY_DIR}/completions/gdrkit.${CMAKE_MATCH_1}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2} RENAME ${CMAKE_MATCH_3} COMPONENT gdrkit)
  endforeach()
endif()

if(TARGET gdrkit_shmem)
  include(GdrkitNvshmemHome)
endif()
include(GdrkitManPages)
include(GdrkitModules)

# Builds what `cmake --install` needs, without the rest of "all".
add_custom_target(gdrkit_installed)
foreach(target gdrapi gdrkit gdrkit_shmem gdrkit_nvshmem_device gdrkit_nvshmem_host gdrkit_program gdrkit_man_pages)
  if(TARGET ${target})
    add_dependencies(gdrkit_installed ${target})
  endif()
endforeach()
