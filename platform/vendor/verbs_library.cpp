// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/verbs_library.hpp"
#include "platform/vendor/load_library.hpp"

namespace gdrkit::platform {
namespace {

// By version: libibverbs has functions of the same names with other structures for programs from before 2008.
#define GDRKIT_VERBS_OPTIONAL_CALL(member, symbol, version, ...) \
  (void)find_function(library, #symbol, &calls->member, version);
#define GDRKIT_VERBS_CALL(member, symbol, version, ...)          \
  if (!find_function(library, #symbol, &calls->member, version)) \
    return base::fail(ENOSYS, "cannot use libibverbs.so.1: it lacks %s; install libibverbs from rdma-core", #symbol);
base::Status find_all_verbs(void* library, VerbsCalls* calls) noexcept {
#include "platform/vendor/verbs_calls.def"
  return {};
}
#define GDRKIT_VERBS_OPTIONAL_CALL(member, symbol, version, ...) \
  (void)find_function(library, #symbol, &calls->member, version);
base::Status find_all_verbs_data(void* library, VerbsDataCalls* calls) noexcept {
#include "platform/vendor/verbs_data_calls.def"
  return {};
}
#undef GDRKIT_VERBS_CALL

template <class Calls>
base::Result<const Calls*> load_verbs(base::Status (*find_all)(void*, Calls*) noexcept) noexcept {
  return load_library<Calls>("libibverbs.so.1", "libibverbs", "install libibverbs1", find_all);
}

}  // namespace

base::Result<const VerbsCalls*> verbs_calls() noexcept { return load_verbs(find_all_verbs); }
base::Result<const VerbsDataCalls*> verbs_data_calls() noexcept { return load_verbs(find_all_verbs_data); }

}  // namespace gdrkit::platform
