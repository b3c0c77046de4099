// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// errno_text: the untranslated sentence of an errno value; thread safe, never nullptr.
#pragma once

#include <cstring>

namespace gdrkit::capi {

[[nodiscard]] inline const char* errno_text(int errno_value) noexcept {
  const char* const text = strerrordesc_np(errno_value);
  return text == nullptr ? "Unknown error" : text;
}

}  // namespace gdrkit::capi
