// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the bindings of gdrkit/shmem.h share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "host_bytes.hpp"

namespace gdrkit_python {

[[nodiscard]] void* at(std::uintptr_t address);
/// Throws gdrkit::Error with the library's text for a negative result.
int check_shmem(int result);

/// Calls without the GIL.
template <class Call>
int call_shmem(const Call& call) {
  int result = 0;
  {
    const nanobind::gil_scoped_release released;
    result = call();
  }
  return check_shmem(result);
}

/// The local side of a transfer: an address as an int, or an object with the buffer protocol, which is held.
class Local {
 public:
  Local(nanobind::handle object, std::size_t size_bytes, HostBytes::Access access) {
    if (nanobind::isinstance<nanobind::int_>(object)) {
      address_ = at(nanobind::cast<std::uintptr_t>(object));
      return;
    }
    host_.emplace(object, access);
    if (host_->bytes().size() < size_bytes)
      throw nanobind::value_error("the local memory is smaller than the transfer; pass larger memory");
    address_ = host_->bytes().data();
  }
  [[nodiscard]] void* get() const noexcept { return address_; }
  [[nodiscard]] bool is_host() const noexcept { return host_.has_value(); }

 private:
  std::optional<HostBytes> host_;
  void* address_ = nullptr;
};

using Stream = std::optional<std::uintptr_t>;

void bind_transfers(nanobind::module_& module);
void bind_words(nanobind::module_& module);
void bind_collectives(nanobind::module_& module);
void bind_export(nanobind::module_& module);

}  // namespace gdrkit_python
