// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FirstError: keeps the first error of a sequence that must run to its end, with the sentence that explains it.
#pragma once

#include <cstring>

#include "base/result.hpp"

namespace gdrkit::core {

class FirstError {
 public:
  void note(const base::Status& status) noexcept {
    if (status || has_failed_) return;
    error_ = status.error();
    has_failed_ = true;
    std::strncpy(detail_, base::detail(), sizeof detail_ - 1);
  }

  /// The first error, its sentence the thread's detail again; success if nothing failed.
  [[nodiscard]] base::Status status() const noexcept {
    if (!has_failed_) return {};
    base::set_detail("%s", detail_);
    return tl::unexpected<base::Error>(error_);
  }

 private:
  bool has_failed_ = false;
  base::Error error_{};
  char detail_[base::detail_capacity] = "";
};

}  // namespace gdrkit::core
