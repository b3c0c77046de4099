// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SharedText: a text that never changes; its copies share one allocation.
#pragma once

#include <cstdarg>
#include <utility>

namespace gdrkit::base {

/// Nothing here throws or touches errno. Copies may be read, made and destroyed on different threads at the same time.
class SharedText {
 public:
  static constexpr unsigned capacity = 2048;  ///< bytes of the longest text, its NUL included

  constexpr SharedText() noexcept = default;  ///< ""
  /// printf's text, truncated at `capacity`. If memory is exhausted, it is a static text about that.
  [[nodiscard, gnu::format(printf, 1, 0)]] static SharedText format(const char* format, va_list arguments) noexcept;
  /// Refers to `text`, which must outlive the process's last copy; allocates nothing.
  [[nodiscard]] static SharedText of_literal(const char* text) noexcept { return SharedText(text, nullptr); }

  SharedText(const SharedText& other) noexcept;
  SharedText(SharedText&& other) noexcept
      : text_(std::exchange(other.text_, "")), block_(std::exchange(other.block_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(text_, other.text_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedText() {
    if (block_ != nullptr) release();
  }

  [[nodiscard]] const char* c_str() const noexcept { return text_; }  ///< valid while this copy or another one lives

 private:
  struct Block;
  SharedText(const char* text, Block* block) noexcept : text_(text), block_(block) {}
  void release() noexcept;

  const char* text_ = "";
  Block* block_ = nullptr;  ///< nullptr: the text is static
};

}  // namespace gdrkit::base
