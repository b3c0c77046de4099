// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Who closes a handle, and what stays open as long as something made from it lives. Not API.
#ifndef GDRKIT_DETAIL_OWNER_HPP
#define GDRKIT_DETAIL_OWNER_HPP

#include <gdrkit/context.h>
#include <gdrkit/pin.h>
#include <gdrkit/error.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace gdrkit::detail {

/// A handle that `Close` closes once. The destructor ignores its error.
template <class Handle, int (*Close)(Handle)>
class Owner {
 public:
  Owner() noexcept = default;
  explicit Owner(Handle handle) noexcept : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owner& operator=(Owner&& other) noexcept {
    Owner taken(std::move(other));
    std::swap(handle_, taken.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_.value != 0) Close(handle_);
  }
  [[nodiscard]] Handle get() const noexcept { return handle_; }
  /// Closes now and throws if that fails.
  void close() {
    const Handle handle = std::exchange(handle_, Handle{});
    if (handle.value != 0) check(Close(handle));
  }

 private:
  Handle handle_{};
};

using OwnedContext = Owner<gdrkit_context_t, gdrkit_close>;

/// A pin, which is unpinned before its context may be closed.
struct OwnedPin {
  std::shared_ptr<OwnedContext> context;
  Owner<gdrkit_pin_t, gdrkit_unpin> pin;
  std::size_t size_bytes = 0;
};

}  // namespace gdrkit::detail

#endif
