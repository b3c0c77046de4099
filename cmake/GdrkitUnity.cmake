# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# gdrkit_unite(target [APART path...]): with GDRKIT_UNITY, compiles the files of one folder together, 12 at most, so that
# the headers they share are read once: most of the time of a first build is spent in these. Files whose path relative to
# the target's folder begins with one of APART are compiled alone: those with timed loops, which must not depend on how they
# were built, and those whose unnamed namespace has a name that another file of the folder has too.
#
# Off by default: a developer compiles one file at a time, and a file that lacks an include must not go unnoticed. ./run
# turns it on. lib/ and shmem/ are never united. A local name that a neighbour's file uses at its top is no fault, so
# united targets are not warned of shadowing (GdrkitLayer.cmake).

option(GDRKIT_UNITY "compile the files of a folder together: a faster first build" OFF)

function(gdrkit_unite target)
  if(NOT GDRKIT_UNITY)
    return()
  endif()
  cmake_parse_arguments(UNITE "" "" "APART" ${ARGN})
  get_target_property(sources ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${home})
    get_filename_component(folder ${path} DIRECTORY)
    file(RELATIVE_PATH relative ${home} ${path})
    set(is_apart FALSE)
    foreach(apart IN LISTS UNITE_APART)
      string(FIND "${relative}" "${apart}" position)
      if(position EQUAL 0)
        set(is_apart TRUE)
      endif()
    endforeach()
    if(is_apart)
      set_property(SOURCE ${path} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" group)
    list(LENGTH members_${group} count)
    list(APPEND members_${group} ${path})
    math(EXPR part "${count} / 12")
    set_property(SOURCE ${path} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
