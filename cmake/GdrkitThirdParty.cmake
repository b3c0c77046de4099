# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Header-only parts by others as interface targets: gdrkit_cli11, gdrkit_json (tools, bench, tests) and the path
# GDRKIT_EXPECTED_INCLUDE (inside the library). third_party/ exists only in an unpacked bundle and goes first
# there, so that a bundle builds the same everywhere.

set(GDRKIT_THIRD_PARTY ${PROJECT_SOURCE_DIR}/third_party)

# gdrkit_header_only(target header package): an interface target for a header-only library, nothing when it is missing.
function(gdrkit_header_only target header package)
  string(TOUPPER ${target}_INCLUDE variable)
  find_path(${variable} ${header} HINTS ${GDRKIT_THIRD_PARTY}/include)
  if(NOT ${variable})
    message(STATUS "${header} not found (Debian: ${package}): what uses ${target} cannot be built")
    return()
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${variable}})
endfunction()

find_path(GDRKIT_EXPECTED_INCLUDE tl/expected.hpp HINTS ${GDRKIT_THIRD_PARTY}/include)
if(NOT GDRKIT_EXPECTED_INCLUDE)
  message(FATAL_ERROR "tl/expected.hpp not found (Debian: libexpected-dev): the library needs it")
endif()

gdrkit_header_only(gdrkit_cli11 CLI/CLI.hpp libcli11-dev)
gdrkit_header_only(gdrkit_json nlohmann/json.hpp nlohmann-json3-dev)

# GoogleTest: the bundle's sources, else the machine's package, whose libraries are for the machine itself: for another
# architecture its sources (Debian: googletest). Sets GTest::gtest, GTest::gtest_main, GTest::gmock.
macro(gdrkit_find_googletest)
  set(googletest_sources ${GDRKIT_THIRD_PARTY}/googletest)
  if(CMAKE_CROSSCOMPILING AND NOT EXISTS ${googletest_sources}/CMakeLists.txt)
    set(googletest_sources /usr/src/googletest)
  endif()
  if(EXISTS ${googletest_sources}/CMakeLists.txt)
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK ON)
    add_subdirectory(${googletest_sources} ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
    foreach(part gtest gtest_main gmock gmock_main)
      if(NOT TARGET GTest::${part})
        add_library(GTest::${part} ALIAS ${part})
      endif()
    endforeach()
  else()
    find_package(GTest REQUIRED)
    if(NOT TARGET GTest::gmock)
      message(FATAL_ERROR "GoogleMock not found (Debian: libgmock-dev): the tests need it")
    endif()
  endif()
endmacro()
