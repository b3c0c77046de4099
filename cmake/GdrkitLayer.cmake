# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_add_layer(NAME SOURCES ... DEPENDS ...): one layer of lib/ as the OBJECT library gdrkit_NAME. Fails at configure
# time when DEPENDS names a layer that cmake/layers.txt does not allow, so that the target graph is the layer picture.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/layers.txt GDRKIT_LAYER_LINES REGEX "^lib/")

add_library(gdrkit_flags INTERFACE)
target_compile_options(gdrkit_flags INTERFACE -Wall -Wextra -Wconversion -Werror=return-type
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
target_compile_options(gdrkit_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies inside std::string where there are none (GCC bug 105651).
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
  if(GDRKIT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It says that fences are not modelled: where one is all the order there is, a race would be reported.
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
      message(FATAL_ERROR "layer '${name}' may not depend on '${dependency}' (cmake/layers.txt)")
    endif()
  endforeach()
  add_library(gdrkit_${name} OBJECT ${LAYER_SOURCES})
  target_link_libraries(gdrkit_${name} PUBLIC gdrkit_flags)
  target_include_directories(gdrkit_${name} SYSTEM PUBLIC ${GDRKIT_EXPECTED_INCLUDE})
  gdrkit_precompile(gdrkit_${name})
endfunction()
