# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Man pages: gdrkit(1) and one page for each command, from the --help texts; one page for each C API, from its header
# (packaging/man).
set(GDRKIT_MAN_PAGES AUTO CACHE STRING "man pages, made by python3 and help2man: AUTO, ON (needs them) or OFF")
set_property(CACHE GDRKIT_MAN_PAGES PROPERTY STRINGS AUTO ON OFF)
if(NOT GDRKIT_MAN_PAGES OR NOT TARGET gdrkit_program OR GDRKIT_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter)
find_program(GDRKIT_HELP2MAN help2man)
if(NOT Python3_FOUND OR NOT GDRKIT_HELP2MAN)
  if(GDRKIT_MAN_PAGES STREQUAL "AUTO")
    message(STATUS "python3 or help2man not found: no man pages are built")
    return()
  endif()
  message(FATAL_ERROR "GDRKIT_MAN_PAGES=ON requires python3 and help2man")
endif()

set(pages ${PROJECT_BINARY_DIR}/man)
set(script ${PROJECT_SOURCE_DIR}/packaging/man/man_pages.py)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/include/gdrkit/*.h)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man.stamp
  COMMAND Python3::Interpreter -B ${script} ${PROJECT_SOURCE_DIR} ${pages} --programs $<TARGET_FILE_DIR:gdrkit_program>
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/man.stamp
  DEPENDS gdrkit_program ${script} ${headers}
  COMMENT "Man pages"
  VERBATIM)
add_custom_target(gdrkit_man_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/man.stamp)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT gdrkit)
install(DIRECTORY ${pages}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT libgdrkit-dev)
