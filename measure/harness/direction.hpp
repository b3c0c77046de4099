// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Direction of a copy, and the addresses of a series of copies.
#pragma once

#include <algorithm>
#include <cstddef>

namespace gdrkit::measure {

enum class Direction { to_device, from_device };

[[nodiscard]] constexpr const char* direction_name(Direction direction) {
  return direction == Direction::to_device ? "to_device" : "from_device";
}

inline constexpr std::size_t line_bytes = 64;
/// A CPU core keeps a few lines fetched by streaming loads (measured: repeated loads of one line then take a tenth of
/// the true time). Copies of more lines than this cannot be served from there.
inline constexpr std::size_t largest_rotated_bytes = 16 * line_bytes;
/// The addresses of small copies from the device rotate through this many bytes, which any pinned buffer has.
inline constexpr std::size_t rotation_bytes = 65536;

/// Offset of copy number `number`. Copies to the device stay at 0; small ones from it take the next line each time.
class Rotation {
 public:
  Rotation(Direction direction, std::size_t size_bytes) {
    if (direction == Direction::to_device || size_bytes > largest_rotated_bytes) return;
    stride_ = std::max(size_bytes, line_bytes);
    places_ = rotation_bytes / stride_;
  }
  [[nodiscard]] bool is_rotating() const { return places_ > 1; }
  [[nodiscard]] std::size_t offset(std::size_t number) const { return number % places_ * stride_; }

 private:
  std::size_t stride_ = 0;
  std::size_t places_ = 1;
};

}  // namespace gdrkit::measure
