// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SharedText: an immutable text whose copies share one allocation.
#pragma once

#include <cstdarg>
#include <utility>

namespace gdrkit::base {

/// No function throws or changes errno. Different threads may read, copy and destroy copies at the same time.
class SharedText {
 public:
  static constexpr unsigned capacity = 2048;  ///< bytes of the longest text, including its NUL

  constexpr SharedText() noexcept = default;  ///< ""
  /// Formats as printf does and truncates at `capacity`. Returns a static text if memory is exhausted.
  [[nodiscard, gnu::format(printf, 1, 0)]] static SharedText format(const char* format, va_list arguments) noexcept;
  /// Refers to `text`, which must outlive every copy; allocates nothing.
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

  [[nodiscard]] const char* c_str() const noexcept { return text_; }  ///< valid while this copy or another one exists

 private:
  struct Block;
  SharedText(const char* text, Block* block) noexcept : text_(text), block_(block) {}
  void release() noexcept;

  const char* text_ = "";
  Block* block_ = nullptr;  ///< nullptr: the text is static
};

}  // namespace gdrkit::base
