// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Result<T>, the type by which functions of the library return errors, and Error, which contains its own text.
#pragma once

#include <cerrno>
#include <tl/expected.hpp>
#include <utility>

#include "base/shared_text.hpp"

namespace gdrkit::base {

/// Why a call failed. Copying it costs one atomic increment. Other threads may read a copy. It stays valid after the
/// objects that it names are destroyed.
struct Error {
  int errno_value = 0;  ///< positive
  int vendor_code = 0;  ///< the CUresult or RM status that caused the error, 0 if none
  SharedText sentence = {};

  /// The operation, the object, the cause and what to do; never nullptr. Valid while this Error or a copy exists.
  [[nodiscard]] const char* text() const noexcept { return sentence.c_str(); }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// Creates an error with its text (printf format). Only the function that detects the error calls this; its callers
/// pass the Error on. Replaces control characters by '?'. Never changes errno. If memory is exhausted, the error
/// keeps its errno and vendor code, and gets a static text.
[[gnu::format(printf, 2, 3)]] tl::unexpected<Error> fail(int errno_value, const char* format, ...) noexcept;
[[gnu::format(printf, 3, 4)]] tl::unexpected<Error> fail_vendor(int errno_value, int vendor_code, const char* format,
                                                                ...) noexcept;
/// As fail, but refers to the literal and allocates nothing: for use when memory is exhausted and in forked children.
[[nodiscard]] inline tl::unexpected<Error> fail_literal(int errno_value, const char* literal) noexcept {
  return tl::unexpected<Error>(Error{errno_value, 0, SharedText::of_literal(literal)});
}

/// Passes an error on unchanged, with another value type.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass(const Result<T>& failed) noexcept {
  return tl::unexpected<Error>(failed.error());
}

/// Returns success or the error, without the value.
template <class T>
[[nodiscard]] Status status_of(const Result<T>& result) noexcept {
  return result ? Status() : Status(pass(result));
}

/// For sequences that continue after an error: `first` keeps the first error.
inline void keep_first(Status& first, Status next) noexcept {
  if (first && !next) first = std::move(next);
}

}  // namespace gdrkit::base
