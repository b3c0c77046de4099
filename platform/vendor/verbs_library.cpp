// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/verbs_data_library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace gdrkit::platform {
namespace {

/// By version: libibverbs has functions of the same names with other structures for programs from before 2008.
template <class Function>
bool load(void* library, const char* name, const char* version, Function** function) noexcept {
  *function = reinterpret_cast<Function*>(::dlvsym(library, name, version));
  return *function != nullptr;
}

/// The first missing function, or nullptr.
#define GDRKIT_VERBS_OPTIONAL_CALL(member, symbol, version, ...) (void)load(library, #symbol, version, &calls->member);
#define GDRKIT_VERBS_CALL(member, symbol, version, ...) \
  if (!load(library, #symbol, version, &calls->member)) return #symbol;
const char* load_all(void* library, VerbsCalls* calls) noexcept {
#include "platform/vendor/verbs_calls.def"
  return nullptr;
}
#define GDRKIT_VERBS_OPTIONAL_CALL(member, symbol, version, ...) (void)load(library, #symbol, version, &calls->member);
const char* load_all(void* library, VerbsDataCalls* calls) noexcept {
#include "platform/vendor/verbs_data_calls.def"
  return nullptr;
}
#undef GDRKIT_VERBS_CALL

/// One instance for each kind of calls. A failed call may be repeated.
template <class Calls>
base::Result<const Calls*> loaded() noexcept {
  static std::mutex mutex;
  static Calls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  void* library = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = ::dlerror();
    return base::fail(ENOENT, "cannot load libibverbs (%s); install libibverbs1",
                      text != nullptr ? text : "unknown error");
  }
  if (const char* missing = load_all(library, &calls); missing != nullptr) {
    (void)::dlclose(library);
    return base::fail(ENOSYS, "cannot use libibverbs.so.1: it lacks %s; install libibverbs from rdma-core", missing);
  }
  is_loaded = true;
  return &calls;
}

}  // namespace

base::Result<const VerbsCalls*> verbs_calls() noexcept { return loaded<VerbsCalls>(); }
base::Result<const VerbsDataCalls*> verbs_data_calls() noexcept { return loaded<VerbsDataCalls>(); }

}  // namespace gdrkit::platform
