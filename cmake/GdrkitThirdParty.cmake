# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Third-party header-only libraries as interface targets: gdrkit_cli11, gdrkit_json, gdrkit_boost_math (programs,
# tests) and the path GDRKIT_EXPECTED_INCLUDE (library internals). third_party/ exists only in an unpacked bundle and
# takes precedence there, so that a bundle builds the same everywhere.

set(GDRKIT_THIRD_PARTY ${PROJECT_SOURCE_DIR}/third_party)

# gdrkit_header_only(target header package): adds an interface target for a header-only library, or nothing if it is
# missing.
function(gdrkit_header_only target header package)
  string(TOUPPER ${target}_INCLUDE variable)
  find_path(${variable} ${header} HINTS ${GDRKIT_THIRD_PARTY}/include)
  if(NOT ${variable})
    message(STATUS "${header} not found (Debian: ${package}): targets that use ${target} are not built")
    return()
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${variable}})
endfunction()

find_path(GDRKIT_EXPECTED_INCLUDE tl/expected.hpp HINTS ${GDRKIT_THIRD_PARTY}/include)
if(NOT GDRKIT_EXPECTED_INCLUDE)
  message(FATAL_ERROR "cannot build the library: tl/expected.hpp not found (Debian: libexpected-dev)")
endif()

gdrkit_header_only(gdrkit_cli11 CLI/CLI.hpp libcli11-dev)
gdrkit_header_only(gdrkit_json nlohmann/json.hpp nlohmann-json3-dev)
gdrkit_header_only(gdrkit_boost_math boost/math/distributions/students_t.hpp libboost-dev)

# GoogleTest: the bundle's sources if present, else the installed package. Its libraries are built for the host, so a
# cross build compiles its sources (Debian: googletest). Sets GTest::gtest, GTest::gtest_main, GTest::gmock.
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
      message(FATAL_ERROR "cannot build the tests: GoogleMock not found (Debian: libgmock-dev)")
    endif()
  endif()
endmacro()
