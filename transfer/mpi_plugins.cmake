# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# The plug-ins of `gdrkit osu --engine mpi`, one for each MPI with headers here: build/lib/gdrkit, installed next to the
# libraries. The program contains their source, for MPIs that are missing here.
set(plugin_directory ${CMAKE_CURRENT_SOURCE_DIR}/engines/mpi)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${plugin_directory}/plugin.c ${plugin_directory}/plugin.h)
file(READ ${plugin_directory}/plugin.h plugin_header)
file(READ ${plugin_directory}/plugin.c plugin_source)
string(REPLACE "#include \"plugin.h\"" "${plugin_header}" plugin_source "${plugin_source}")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/osu_mpi_plugin_source.hpp @ONLY CONTENT
[=[// The plug-in's source in one file.
#pragma once
namespace gdrkit::transfer::engines {
inline constexpr const char* plugin_source = R"plugin(@plugin_source@)plugin";
}  // namespace gdrkit::transfer::engines
]=])
target_include_directories(gdrkit_transfer PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
file(RELATIVE_PATH plugins_from_programs ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/gdrkit)
set_property(SOURCE engines/mpi_plugin.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  GDRKIT_OSU_PLUGIN_DIRECTORY="${plugins_from_programs}/")

set(plugins "")
foreach(mpi openmpi mpich)
  # Debian's names first; in other distributions each MPI has its own directory.
  find_program(GDRKIT_MPICC_${mpi} NAMES mpicc.${mpi} DOC "compiler of ${mpi}, for its plug-in")
  find_program(GDRKIT_MPICC_${mpi} NAMES mpicc PATHS /usr/lib64/${mpi}/bin /usr/lib/${mpi}/bin NO_DEFAULT_PATH)
  if(NOT GDRKIT_MPICC_${mpi})
    continue()
  endif()
  # The compiler may be installed without the headers.
  execute_process(COMMAND ${GDRKIT_MPICC_${mpi}} -fsyntax-only ${plugin_directory}/plugin.c RESULT_VARIABLE code
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT code EQUAL 0)
    message(STATUS "${GDRKIT_MPICC_${mpi}} does not find mpi.h: gdrkit osu is built without a plug-in for it")
    continue()
  endif()
  set(plugin ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/gdrkit/gdrkit_osu_${mpi}.so)
  add_custom_command(OUTPUT ${plugin}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/gdrkit
    COMMAND ${GDRKIT_MPICC_${mpi}} -O2 -Wall -Wextra -fvisibility=hidden -shared -fPIC -o ${plugin} ${plugin_directory}/plugin.c
    DEPENDS ${plugin_directory}/plugin.c ${plugin_directory}/plugin.h
    COMMENT "plug-in of gdrkit osu for ${mpi}"
    VERBATIM)
  list(APPEND plugins ${plugin})
endforeach()
add_custom_target(gdrkit_osu_plugins DEPENDS ${plugins})
add_dependencies(gdrkit_transfer gdrkit_osu_plugins)
if(GDRKIT_INSTALL AND plugins)
  install(PROGRAMS ${plugins} DESTINATION ${CMAKE_INSTALL_LIBDIR}/gdrkit COMPONENT gdrkit)
endif()
