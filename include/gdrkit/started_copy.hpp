// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_STARTED_COPY_HPP
#define GDRKIT_STARTED_COPY_HPP

#include <gdrkit/copy.h>
#include <gdrkit/detail/owner.hpp>

/// @file
/// @brief StartedCopy: a copy that continues while the caller does other work.

namespace gdrkit {

/// @brief A copy started by Mapping::start_write() or Mapping::start_read().
///
/// Until it is finished, neither the caller nor a GPU kernel may write either side of the copy, and the target must not
/// be read. The destructor waits for completion and ignores errors.
/// @note The host memory must outlive this object.
class StartedCopy {
 public:
  /// @brief Takes ownership of a handle of gdrkit_start_write() or gdrkit_start_read().
  /// @param[in] copy  The handle. The caller must not pass it to gdrkit_finish_copy().
  explicit StartedCopy(gdrkit_copy_t copy) noexcept : owner_(copy) {}

  /// @brief Reports whether finish() can proceed without waiting for the GPU or for other threads.
  /// @return true if it can.
  /// @throws Error  EINVAL: the copy is finished.
  [[nodiscard]] bool is_done() const {
    const int result = gdrkit_is_copy_done(owner_.get());
    detail::check(result);
    return result != 0;
  }

  /// @brief Waits until the copy is complete.
  /// @throws Error  The error of the copy; see gdrkit_finish_copy().
  void finish() { owner_.close(); }

 private:
  detail::Owner<gdrkit_copy_t, gdrkit_finish_copy> owner_;
};

}  // namespace gdrkit

#endif
