# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Install rules of the kernel modules, for packages only: a plain `cmake --install` skips them.
# Components: gdrkit-dkms, the sources that DKMS builds; gdrkit-modules, prebuilt modules
# (GDRKIT_PREBUILT_MODULES: a directory with the .ko files, GDRKIT_PREBUILT_LINUX: the Linux that they were built for).
# Both include the files that load the modules.
set(kernel ${PROJECT_SOURCE_DIR}/kernel)
set(GDRKIT_PREBUILT_MODULES "" CACHE PATH "directory with prebuilt kernel modules, for the component gdrkit-modules")
set(GDRKIT_PREBUILT_LINUX "" CACHE STRING "Linux version of GDRKIT_PREBUILT_MODULES, as uname -r prints it")

# A package contains the modules that dkms.conf builds, without the fakes and tests next to them.
set(source_directory src/gdrkit-${PROJECT_VERSION})
file(STRINGS ${kernel}/dkms.conf modules REGEX "^BUILT_MODULE_LOCATION")
list(TRANSFORM modules REPLACE "^.*=\"(.*)\"$" "\\1")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel}/dkms.conf)
install(FILES ${kernel}/Kbuild ${kernel}/Makefile ${kernel}/dkms.conf DESTINATION ${source_directory}
  COMPONENT gdrkit-dkms EXCLUDE_FROM_ALL)
install(PROGRAMS ${kernel}/dkms_prepare.sh ${kernel}/dkms_install.sh DESTINATION ${source_directory} COMPONENT gdrkit-dkms EXCLUDE_FROM_ALL)
foreach(directory include compat ${modules})
  install(DIRECTORY ${kernel}/${directory} DESTINATION ${source_directory} COMPONENT gdrkit-dkms EXCLUDE_FROM_ALL
    USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.[ch]" PATTERN "Kbuild" PATTERN "*.sh" PATTERN "*.txt")
endforeach()

if(GDRKIT_PREBUILT_MODULES)
  list(TRANSFORM modules PREPEND "${GDRKIT_PREBUILT_MODULES}/" OUTPUT_VARIABLE built)
  list(TRANSFORM built APPEND ".ko")
  install(FILES ${built} DESTINATION lib/modules/${GDRKIT_PREBUILT_LINUX}/updates/gdrkit
    COMPONENT gdrkit-modules EXCLUDE_FROM_ALL)
endif()

foreach(component gdrkit-dkms gdrkit-modules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/modules/ DESTINATION lib COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
