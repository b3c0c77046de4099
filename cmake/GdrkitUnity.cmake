# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# A fast first build. Off by default: a developer compiles one file at a time, and a missing include must cause an
# error. ./run turns it on.
#
# gdrkit_unite(target [COLD] [APART path...]): with GDRKIT_UNITY, compiles up to 12 files of a directory together, so that
# their common headers are read once. Files whose path relative to the target's directory begins with an APART path are
# compiled alone. These are files with timed loops, whose code must not depend on the build mode, and files whose
# unnamed namespace shares a name with another file of the directory. lib/ and shmem/ are never united. A local name may
# equal a global name of another file, so united targets are compiled without -Wshadow (GdrkitLayer.cmake). COLD: a
# release compiles all but APART with -O1, builds with sanitizers with -O0: options, documents and tables, which run
# once.
#
# gdrkit_precompile([LEVEL option] target...): with GDRKIT_UNITY, reads the standard headers once for all of these
# libraries. It reads them once more for each other optimisation level, because GCC 13 rejects headers that were
# precompiled at another level.

option(GDRKIT_UNITY "compile the files of a directory together, with precompiled headers: a faster first build" OFF)

set(GDRKIT_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <chrono> <cstdint> <cstdio> <cstring> <functional> <map>
  <memory> <mutex> <optional> <set> <string> <string_view> <thread> <utility> <variant> <vector> <tl/expected.hpp>)

if(GDRKIT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651 (GdrkitLayer.cmake): with precompiled headers GCC reports the same copies under these names, too.
  target_compile_options(gdrkit_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread>)
endif()

# A target that uses the precompiled headers has the same processor options and the same -fPIC or -fPIE.
function(gdrkit_add_precompiled name)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp)
  target_link_libraries(${name} PRIVATE gdrkit_flags)
  target_include_directories(${name} SYSTEM PRIVATE ${GDRKIT_EXPECTED_INCLUDE})
  target_precompile_headers(${name} PRIVATE ${GDRKIT_PRECOMPILED_HEADERS} ${ARGN})
endfunction()

function(gdrkit_precompile)
  if(NOT GDRKIT_UNITY)
    return()
  endif()
  cmake_parse_arguments(PRECOMPILE "" "LEVEL" "" ${ARGN})
  set(headers gdrkit_precompiled${PRECOMPILE_LEVEL})
  if(NOT TARGET ${headers})
    gdrkit_add_precompiled(${headers})
    target_compile_options(${headers} PRIVATE ${PRECOMPILE_LEVEL})
  endif()
  foreach(target IN LISTS PRECOMPILE_UNPARSED_ARGUMENTS)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endforeach()
endfunction()

# The optimisation level of COLD targets, whose code runs once. With the address and undefined-behaviour sanitizers,
# clang takes three times as long for -Og as for -O0.
set(GDRKIT_COLD_LEVEL "")
if(GDRKIT_SANITIZE)
  set(GDRKIT_COLD_LEVEL -O0)
elseif(CMAKE_BUILD_TYPE MATCHES "^Rel")
  set(GDRKIT_COLD_LEVEL -O1)
endif()

function(gdrkit_unite target)
  if(NOT GDRKIT_UNITY)
    return()
  endif()
  cmake_parse_arguments(UNITE "COLD" "" "APART" ${ARGN})
  set(apart_level "")
  if(UNITE_COLD AND GDRKIT_COLD_LEVEL)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
    separate_arguments(apart_level UNIX_COMMAND "${CMAKE_CXX_FLAGS_${build_type}}")
    list(FILTER apart_level INCLUDE REGEX "^-O")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${GDRKIT_COLD_LEVEL}>)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^[$]<TARGET_OBJECTS:")
  get_target_property(source_directory ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${source_directory})
    get_filename_component(directory ${path} DIRECTORY)
    file(RELATIVE_PATH relative ${source_directory} ${path})
    set(is_apart FALSE)
    foreach(apart IN LISTS UNITE_APART)
      string(FIND "${relative}" "${apart}" position)
      if(position EQUAL 0)
        set(is_apart TRUE)
      endif()
    endforeach()
    if(is_apart)
      set_property(SOURCE ${path} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      if(apart_level)
        set_property(SOURCE ${path} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${apart_level})
        set_property(SOURCE ${path} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
      endif()
      continue()
    endif()
    file(RELATIVE_PATH directory ${PROJECT_SOURCE_DIR} ${directory})
    string(MAKE_C_IDENTIFIER "${directory}" group)
    list(LENGTH members_${group} count)
    list(APPEND members_${group} ${path})
    math(EXPR part "${count} / 12")
    set_property(SOURCE ${path} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
