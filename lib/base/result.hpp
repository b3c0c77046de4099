// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Result<T>: the one way errors travel inside the library, and the thread-local sentence that explains the last one.
#pragma once

#include <cerrno>
#include <tl/expected.hpp>

namespace gdrkit::base {

/// A positive errno value plus the code of the vendor interface that caused it (CUresult or RM status), 0 if none.
struct Error {
  int errno_value;
  int vendor_code = 0;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// Makes the error value and writes the thread's detail sentence (printf format, truncated at detail_capacity).
/// Only the first detector calls this; callers pass its Error on. Never allocates, never touches errno.
[[gnu::format(printf, 2, 3)]] tl::unexpected<Error> fail(int errno_value, const char* format, ...) noexcept;
[[gnu::format(printf, 3, 4)]] tl::unexpected<Error> fail_vendor(int errno_value, int vendor_code, const char* format,
                                                                ...) noexcept;

/// Passes an error on unchanged, whatever the value type it came with.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass(const Result<T>& failed) noexcept {
  return tl::unexpected<Error>(failed.error());
}

inline constexpr unsigned detail_capacity = 2048;

/// The sentence of this thread's last failure; "" before the first. Valid until the thread's next failure.
[[nodiscard]] const char* detail() noexcept;
[[gnu::format(printf, 1, 2)]] void set_detail(const char* format, ...) noexcept;

}  // namespace gdrkit::base
