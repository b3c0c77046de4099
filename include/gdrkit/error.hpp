// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_ERROR_HPP
#define GDRKIT_ERROR_HPP

#if __cplusplus < 202002L
#error "gdrkit/gdrkit.hpp needs C++20 (-std=c++20); C and older C++ can use gdrkit/gdrkit.h"
#endif

#include <gdrkit/errors.h>

#include <system_error>

/// @file
/// @brief Error: the exception that all objects of gdrkit.hpp throw.

namespace gdrkit {

/// @brief A failed call of the library.
///
/// code() compares with std::errc; what() is the library's error message.
/// @code{.cpp}
/// try {
///   const gdrkit::Context context({.backend = "rm"});
/// } catch (const gdrkit::Error& error) {
///   if (error.code() == std::errc::no_such_device) std::puts(error.what());
/// }
/// @endcode
class Error : public std::system_error {
 public:
  /// @brief Creates an error.
  /// @param[in] errno_value  A positive errno.
  /// @param[in] detail       The message; not NULL.
  Error(int errno_value, const char* detail) : std::system_error(errno_value, std::generic_category(), detail) {}
};

/// @cond private
namespace detail {

inline void check(int result) {
  if (result < 0) throw Error(-result, gdrkit_last_error());
}

}  // namespace detail
/// @endcond

}  // namespace gdrkit

#endif
