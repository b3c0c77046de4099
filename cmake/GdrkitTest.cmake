# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_add_test(NAME SOURCES file... LABELS label... [LIBRARIES target...] [TIMEOUT seconds]): a GoogleTest program
# that may use the inside of the library; each of its tests becomes one CTest test. Labels: unit conformance abi fuzz
# gpu. TIMEOUT is for one test (60 s if not said).

include(GoogleTest)

function(gdrkit_add_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LABELS;LIBRARIES" ${ARGN})
  if(NOT TEST_SOURCES OR NOT TEST_LABELS)
    message(FATAL_ERROR "gdrkit_add_test(${name}): SOURCES and LABELS are needed")
  endif()
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gdrkit_add_test(${name}): unknown arguments ${TEST_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} gdrkit_inside gdrkit_platform GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT GDRKIT_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^Rel")
    # A test is compiled once and run once; the library it tests keeps its own level.
    target_compile_options(${name} PRIVATE -O1)
  endif()
  # Not beside the programs: build/bin holds what a user runs.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
  # NO_PRETTY_VALUES: a parameter's printed value may hold an address or a separator; its index is a stable name.
  gtest_discover_tests(${name}
    TEST_PREFIX "${name}/"
    TEST_LIST ${name}_TESTS
    NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${TEST_TIMEOUT})
  # gtest_discover_tests passes no list as a property's value, so the labels are set by a script that CTest reads after.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${script} "foreach(test IN LISTS ${name}_TESTS)
  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${TEST_LABELS}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
