# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
# Programs carry their C++ run-time library, so that one build runs on machines with an older or newer one. Applies to
# every program defined after this file is included; the shared libraries have their own, stricter rules (src/capi).

if(GDRKIT_STATIC_RUNTIME AND NOT GDRKIT_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
  check_cxx_source_compiles("#include <string>
int main(int argc, char** argv) { return std::string(argv[0]).size() == 0 ? argc : 0; }" GDRKIT_HAS_STATIC_RUNTIME)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(GDRKIT_HAS_STATIC_RUNTIME)
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -static-libstdc++ -static-libgcc")
  else()
    message(STATUS "this compiler has no static libstdc++: the programs need the shared one where they run")
  endif()
endif()
