# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_add_test(NAME SOURCES file... LABELS label... [LIBRARIES target...] [LAYERS layer...] [TIMEOUT seconds]
# [APART file...] [OPTIMISED] [THREADS_FILTER filter]): adds a GoogleTest program that may use library internals. Each
# of its tests becomes one CTest test. With sanitizers the whole program is one CTest test: starting it and searching
# for leaks take longer than most tests. Labels: see tests/README.md. LAYERS: link only these layers of lib/, which
# keeps cross builds short. TIMEOUT: for one test (default: 60 s). APART: see GdrkitUnity.cmake. OPTIMISED: for tests
# that compute for seconds.
# THREADS_FILTER: the tests that the thread sanitizer runs, for programs whose other tests have one thread
# (default: all).

include(GoogleTest)

# The programs with the label "threads", which run under the thread sanitizer.
add_custom_target(threads_tests)

# Optimising tests took more than half of their compile time. The code under test keeps its own level.
set(GDRKIT_TEST_LEVEL "")
if(GDRKIT_COLD_LEVEL)
  set(GDRKIT_TEST_LEVEL -O0)
endif()

# GoogleTest's headers are half of what the compiler reads for a test. They are precompiled once for all tests, which
# use -fPIE.
function(gdrkit_precompile_for_tests)
  if(NOT TARGET gdrkit_precompiled_for_tests)
    gdrkit_add_precompiled(gdrkit_precompiled_for_tests <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(gdrkit_precompiled_for_tests PRIVATE GTest::gmock)
    set_target_properties(gdrkit_precompiled_for_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(gdrkit_precompiled_for_tests PRIVATE -fPIE)
    target_compile_options(gdrkit_precompiled_for_tests PRIVATE ${GDRKIT_TEST_LEVEL})
  endif()
endfunction()

# Compile options of a test: of an executable, or of objects that several executables share.
function(gdrkit_set_test_options target) # files apart...
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  gdrkit_unite(${target} APART ${ARGN})
  if(GDRKIT_UNITY)
    gdrkit_precompile_for_tests()
    target_precompile_headers(${target} REUSE_FROM gdrkit_precompiled_for_tests)
  endif()
  target_compile_options(${target} PRIVATE ${GDRKIT_TEST_LEVEL})
endfunction()

function(gdrkit_add_test name)
  cmake_parse_arguments(TEST "OPTIMISED" "TIMEOUT;THREADS_FILTER" "SOURCES;LABELS;LIBRARIES;LAYERS;APART" ${ARGN})
  if(NOT TEST_SOURCES OR NOT TEST_LABELS)
    message(FATAL_ERROR "gdrkit_add_test(${name}): SOURCES and LABELS are required")
  endif()
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gdrkit_add_test(${name}): unknown arguments ${TEST_UNPARSED_ARGUMENTS}")
  endif()
  if(name MATCHES "_gpu_test$" AND NOT "gpu" IN_LIST TEST_LABELS)
    message(FATAL_ERROR "gdrkit_add_test(${name}): only programs that run on GPUs may end in _gpu_test (tests/support/place.hpp)")
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  set(layers gdrkit_inside gdrkit_platform)
  if(TEST_LAYERS)
    list(TRANSFORM TEST_LAYERS PREPEND gdrkit_ OUTPUT_VARIABLE layers)
  endif()
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} ${layers} GTest::gmock GTest::gtest_main)
  gdrkit_set_test_options(${name} ${TEST_APART})
  if(TEST_OPTIMISED)
    # GCC rejects headers that were precompiled at another level.
    set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    if(GDRKIT_TEST_LEVEL)
      target_compile_options(${name} PRIVATE -O1)
    endif()
  endif()
  if("threads" IN_LIST TEST_LABELS)
    add_dependencies(threads_tests ${name})
  endif()
  # build/bin contains only what a user runs.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
  if(GDRKIT_SANITIZE)
    set(arguments --gtest_brief=1)
    if(GDRKIT_SANITIZE MATCHES "thread" AND TEST_THREADS_FILTER)
      list(APPEND arguments "--gtest_filter=${TEST_THREADS_FILTER}")
    endif()
    add_test(NAME ${name} COMMAND ${name} ${arguments})
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT 900)
    return()
  endif()
  # NO_PRETTY_VALUES: a parameter's printed value may contain an address or a separator; its index is a stable name.
  gtest_discover_tests(${name}
    TEST_PREFIX "${name}/"
    TEST_LIST ${name}_TESTS
    NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${TEST_TIMEOUT})
  # gtest_discover_tests does not pass a list as a property's value, so a script that CTest reads later sets the labels.
  # Tests on GPUs run one at a time: some measure times, and some use all GPUs and much of their memory.
  set(lock "")
  if("gpu" IN_LIST TEST_LABELS)
    set(lock " RESOURCE_LOCK gpu")
  endif()
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${script} "foreach(test IN LISTS ${name}_TESTS)
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${TEST_LABELS}\"${lock})
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# gdrkit_add_test_objects(NAME SOURCES file... [LIBRARIES target...] [INCLUDES directory...]): compiles tests once, to be
# linked into several programs as $<TARGET_OBJECTS:NAME>.
function(gdrkit_add_test_objects name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES;INCLUDES" ${ARGN})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} gdrkit_inside gdrkit_platform GTest::gmock)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${TEST_INCLUDES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIE)
  gdrkit_set_test_options(${name})
endfunction()

# gdrkit_add_place_tests(NAME LABEL label SOURCES file... LIBRARIES target... [INCLUDES directory...] [THREADS_FILTER filter]): runs the same tests twice:
# NAME_emulated_test on the emulated device, NAME_gpu_test (label gpu) on GPUs if present. Both are
# linked from the same objects, which check the program's name (support/place.hpp).
function(gdrkit_add_place_tests name)
  cmake_parse_arguments(TEST "" "LABEL;THREADS_FILTER" "SOURCES;LIBRARIES;INCLUDES" ${ARGN})
  gdrkit_add_test_objects(${name}_objects SOURCES ${TEST_SOURCES} LIBRARIES ${TEST_LIBRARIES} INCLUDES ${TEST_INCLUDES})
  set(limit_s 120)
  if(GDRKIT_SANITIZE MATCHES "thread")
    set(limit_s 900) # on two cores, collectives of several PEs take minutes
  endif()
  foreach(place emulated gpu)
    set(labels ${TEST_LABEL} threads)
    if(place STREQUAL "gpu")
      set(labels gpu)
    endif()
    gdrkit_add_test(${name}_${place}_test SOURCES $<TARGET_OBJECTS:${name}_objects> LABELS ${labels}
      LIBRARIES ${TEST_LIBRARIES} TIMEOUT ${limit_s} THREADS_FILTER "${TEST_THREADS_FILTER}")
    set_target_properties(${name}_${place}_test PROPERTIES LINKER_LANGUAGE CXX)
  endforeach()
endfunction()

# gdrkit_add_program_tests(group): adds one CTest test, group/<class>, for each class of each *_test.py in this directory.
# They run the built programs. A test that cannot run prints the reason in its first line and exits with code 77.
function(gdrkit_add_program_tests group)
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "python3 not found: skipping the tests of the output of ${group}")
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS *_test.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX "^class [A-Za-z]+\\([A-Za-z]*Test\\):")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^class ([A-Za-z]+).*" "\\1" name "${line}")
      if(name MATCHES "Test$") # a base class
        continue()
      endif()
      add_test(NAME ${group}/${name} COMMAND ${Python3_EXECUTABLE} ${file} -v ${name})
      set_tests_properties(${group}/${name} PROPERTIES LABELS programs TIMEOUT 600
        SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Ran 0 tests"
        ENVIRONMENT "GDRKIT_BIN=$<TARGET_FILE_DIR:gdrkit_program>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support;PYTHONDONTWRITEBYTECODE=1")
    endforeach()
  endforeach()
endfunction()
