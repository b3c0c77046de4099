# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_add_layer(NAME SOURCES ... DEPENDS ...): adds one layer of lib/ as the OBJECT library gdrkit_NAME. Fails at
# configure time if DEPENDS lists a layer that cmake/layers.txt does not allow, so that the targets match the documented
# layers.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/layers.txt GDRKIT_LAYER_LINES REGEX "^lib/")

add_library(gdrkit_flags INTERFACE)
target_compile_options(gdrkit_flags INTERFACE -Wall -Wextra -Wconversion -Werror=return-type
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
target_compile_options(gdrkit_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about overlapping copies inside std::string that do not exist (GCC bug 105651).
  target_compile_options(gdrkit_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
option(GDRKIT_WARNINGS_AS_ERRORS "treat warnings as errors" OFF)
if(GDRKIT_WARNINGS_AS_ERRORS)
  target_compile_options(gdrkit_flags INTERFACE -Werror)
endif()
target_include_directories(gdrkit_flags INTERFACE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/include)
if(GDRKIT_SANITIZE)
  target_compile_options(gdrkit_flags INTERFACE -fsanitize=${GDRKIT_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(gdrkit_flags INTERFACE -fsanitize=${GDRKIT_SANITIZE})
  find_program(GDRKIT_LLD ld.lld) # links a program with debug information in a third of the time
  if(GDRKIT_LLD)
    target_link_options(gdrkit_flags INTERFACE -fuse-ld=lld)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # The sanitizer's functions are in the program only. The last of both linker options counts.
    target_link_options(gdrkit_flags INTERFACE -Wl,-z,undefs)
    if(GDRKIT_SANITIZE MATCHES "address")
      target_compile_definitions(gdrkit_flags INTERFACE __SANITIZE_ADDRESS__)  # as GCC does
    endif()
    # C programs may pass any number as an enum. A test calls all functions of a library with the same arguments. The
    # check of virtual tables fails without free file descriptors, and does not link into C programs.
    if(GDRKIT_SANITIZE MATCHES "undefined")
      target_compile_options(gdrkit_flags INTERFACE -fno-sanitize=enum,function,vptr)
    endif()
  endif()
  if(GDRKIT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The warning: fences are not modelled. The thread sanitizer would report a race wherever only a fence orders
    # accesses.
    target_compile_options(gdrkit_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()

function(gdrkit_add_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;DEPENDS" ${ARGN})
  set(allowed "")
  foreach(line IN LISTS GDRKIT_LAYER_LINES)
    if(line MATCHES "^lib/${name}:(.*)$")
      string(REGEX REPLACE " +" ";" allowed "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  foreach(dependency IN LISTS LAYER_DEPENDS)
    if(NOT lib/${dependency} IN_LIST allowed)
      message(FATAL_ERROR "cannot add layer '${name}': cmake/layers.txt does not allow the dependency '${dependency}'")
    endif()
  endforeach()
  add_library(gdrkit_${name} OBJECT ${LAYER_SOURCES})
  target_link_libraries(gdrkit_${name} PUBLIC gdrkit_flags)
  target_include_directories(gdrkit_${name} SYSTEM PUBLIC ${GDRKIT_EXPECTED_INCLUDE})
  gdrkit_precompile(gdrkit_${name})
endfunction()
