// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// demand: returns the value of a Result, or ends the tool.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {

/// Returns the value. Throws Failure(failed) with `prefix` and the error message if `result` is an error.
template <class T>
T demand(base::Result<T> result, const char* prefix = "") {
  if (!result.has_value()) fail(std::string(prefix) + result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace gdrkit::cli
