// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two adapters, as a library with libibverbs' names. Built as libibverbs.so.1 in a separate directory.
#include "fakes/fake_verbs.hpp"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "platform/vendor/verbs_library.hpp"

using gdrkit::platform::VerbsContext;
using gdrkit::platform::VerbsDeviceHandle;
using gdrkit::platform::VerbsDomain;
using gdrkit::platform::VerbsRegion;

namespace {

constexpr int device_count = 2;

struct Adapter {
  char name[64];
  bool is_open;
  bool has_domain;
};
Adapter adapters[device_count] = {{"mlx5_0", false, false}, {"mlx5_1", false, false}};
VerbsDeviceHandle* list[device_count + 1] = {};
int lists = 0;
int regions = 0;
int violations = 0;
bool returns_invalid_values = false;
std::map<std::string, int> failures;

/// Returns whether the call of this name fails, with errno set.
bool fails(const char* name) {
  const auto failure = failures.find(name);
  if (failure == failures.end()) return false;
  errno = failure->second;
  return true;
}

/// The handle of an adapter is its address.
template <class Handle>
Adapter* of(Handle* handle) {
  for (Adapter& adapter : adapters) {
    if (reinterpret_cast<Adapter*>(handle) == &adapter) return &adapter;
  }
  ++violations;
  return &adapters[0];
}

void expect(bool is_so) { violations += is_so ? 0 : 1; }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void fake_verbs_fail(const char* name, int error) {
  if (name == nullptr) return failures.clear();
  failures[name] = error;
}
EXPORT int fake_verbs_violations() { return violations; }
EXPORT int fake_verbs_held() {
  int held = lists + regions;
  for (const Adapter& adapter : adapters) held += (adapter.is_open ? 1 : 0) + (adapter.has_domain ? 1 : 0);
  return held;
}
EXPORT void fake_verbs_return_invalid_values(bool is_enabled) {
  returns_invalid_values = is_enabled;
  std::memset(adapters[1].name, '\x9b', sizeof adapters[1].name);
  if (!is_enabled) std::strcpy(adapters[1].name, "mlx5_1");
}

EXPORT VerbsDeviceHandle** ibv_get_device_list(int* count) {
  if (fails(__func__)) return nullptr;
  for (int i = 0; i < device_count; ++i) list[i] = reinterpret_cast<VerbsDeviceHandle*>(&adapters[i]);
  *count = returns_invalid_values ? INT_MAX : device_count;
  ++lists;
  return list;
}
EXPORT void ibv_free_device_list(VerbsDeviceHandle** freed) {
  expect(freed == list && lists == 1);
  --lists;
}
EXPORT const char* ibv_get_device_name(VerbsDeviceHandle* device) {
  expect(lists == 1);
  return fails(__func__) ? nullptr : of(device)->name;
}
EXPORT VerbsContext* ibv_open_device(VerbsDeviceHandle* device) {
  Adapter* adapter = of(device);
  expect(lists == 1 && !adapter->is_open);
  if (fails(__func__)) return nullptr;
  adapter->is_open = true;
  return reinterpret_cast<VerbsContext*>(adapter);
}
EXPORT int ibv_close_device(VerbsContext* context) {
  Adapter* adapter = of(context);
  expect(adapter->is_open && !adapter->has_domain);
  adapter->is_open = false;
  return fails(__func__) ? -1 : 0;
}
EXPORT VerbsDomain* ibv_alloc_pd(VerbsContext* context) {
  Adapter* adapter = of(context);
  expect(adapter->is_open && !adapter->has_domain);
  if (fails(__func__)) return nullptr;
  adapter->has_domain = true;
  return reinterpret_cast<VerbsDomain*>(adapter);
}
EXPORT int ibv_dealloc_pd(VerbsDomain* domain) {
  Adapter* adapter = of(domain);
  expect(adapter->has_domain && regions == 0);
  adapter->has_domain = false;
  return fails(__func__) ? errno : 0;
}
EXPORT VerbsRegion* ibv_reg_dmabuf_mr(VerbsDomain* domain, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                                      int fd, int access) {
  Adapter* adapter = of(domain);
  expect(adapter->has_domain && offset == 0 && length == 0 && iova == 0 && fd == -1 && access == 0);
  if (!fails(__func__)) errno = EBADF;
  if (errno != 0) return nullptr;
  ++regions;
  return reinterpret_cast<VerbsRegion*>(adapter);
}
EXPORT int ibv_dereg_mr(VerbsRegion* region) {
  (void)of(region);
  expect(regions == 1);
  --regions;
  return fails(__func__) ? errno : 0;
}
