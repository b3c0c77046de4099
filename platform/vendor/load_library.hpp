// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads a vendor's library at run time.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <mutex>

#include "base/result.hpp"

namespace gdrkit::platform {

/// Sets `*function`, to nullptr if the library lacks it. Returns whether the library has it. Also searches the
/// libraries with which the library is linked. `version` of the symbol: nullptr for any.
template <class Function>
bool find_function(void* library, const char* name, Function** function, const char* version = nullptr) noexcept {
  void* const found = version == nullptr ? ::dlsym(library, name) : ::dlvsym(library, name, version);
  *function = reinterpret_cast<Function*>(found);
  return found != nullptr;
}

/// Loads `file` and its functions (`find_all(library, &calls)`, a Status) once for each type of calls. The library
/// stays loaded. `title` and `remedy` are for the error ENOENT. A failed call may be repeated.
template <class Calls, class FindAll>
base::Result<const Calls*> load_library(const char* file, const char* title, const char* remedy,
                                        FindAll find_all) noexcept {
  static std::mutex mutex;
  static Calls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const text = ::dlerror();
    return base::fail(ENOENT, "cannot load %s (%s); %s", title, text != nullptr ? text : "unknown error", remedy);
  }
  Calls found;
  if (const base::Status all = find_all(library, &found); !all) {
    (void)::dlclose(library);
    return base::pass(all);
  }
  calls = found;
  is_loaded = true;
  return &calls;
}

}  // namespace gdrkit::platform
