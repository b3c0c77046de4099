// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Result<T>: the one way errors travel inside the library, and Error, which carries its own text.
#pragma once

#include <cerrno>
#include <tl/expected.hpp>
#include <utility>

#include "base/shared_text.hpp"

namespace gdrkit::base {

/// Why a call failed. A copy costs one atomic increment, and may be read on another thread, or after all that it names
/// is gone.
struct Error {
  int errno_value = 0;  ///< positive
  int vendor_code = 0;  ///< of the vendor's interface that caused it (CUresult or RM status), 0 if none
  SharedText sentence = {};

  /// The operation, the object, the cause and what to do; never nullptr. Valid while this Error or a copy lives.
  [[nodiscard]] const char* text() const noexcept { return sentence.c_str(); }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// Makes the error value with its text (printf format). Only the first detector calls this; callers pass its Error on.
/// Replaces control characters by '?'. Never changes errno. If memory is exhausted, the error keeps its errno and
/// vendor code, and gets a static text.
[[gnu::format(printf, 2, 3)]] tl::unexpected<Error> fail(int errno_value, const char* format, ...) noexcept;
[[gnu::format(printf, 3, 4)]] tl::unexpected<Error> fail_vendor(int errno_value, int vendor_code, const char* format,
                                                                ...) noexcept;
/// As fail, with a literal that is not copied: allocates nothing, for use without memory and in forked children.
[[nodiscard]] inline tl::unexpected<Error> fail_literal(int errno_value, const char* literal) noexcept {
  return tl::unexpected<Error>(Error{errno_value, 0, SharedText::of_literal(literal)});
}

/// Passes an error on unchanged, from a result of any value type.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass(const Result<T>& failed) noexcept {
  return tl::unexpected<Error>(failed.error());
}

/// For sequences that run to their end: `first` keeps the first error, with its own text.
inline void keep_first(Status& first, Status next) noexcept {
  if (first && !next) first = std::move(next);
}

}  // namespace gdrkit::base
