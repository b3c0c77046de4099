// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/shared_text.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace gdrkit::base {

/// What an allocation starts with; the text follows.
struct SharedText::Block {
  std::atomic<unsigned> copies{1};
};

SharedText SharedText::format(const char* format, va_list arguments) noexcept {
  constexpr const char* lost = "no memory is left for the text of this error";
  const int saved_errno = errno;
  char text[capacity];
  const int wanted = std::vsnprintf(text, sizeof text, format, arguments);
  // Text from a peer, a file or a variable must not control the terminal.
  for (char* at = text; wanted >= 0 && *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    const auto next = static_cast<unsigned char>(at[1]);
    const bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    if (is_c1) at[1] = '?';
    if (is_c1 || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) *at = '?';
  }
  void* memory = nullptr;
  if (wanted >= 0) memory = ::operator new(sizeof(Block) + std::strlen(text) + 1, std::nothrow);
  errno = saved_errno;
  if (memory == nullptr) return of_literal(lost);
  auto* const block = new (memory) Block;
  char* const kept = static_cast<char*>(memory) + sizeof(Block);
  std::strcpy(kept, text);
  return {kept, block};
}

SharedText::SharedText(const SharedText& other) noexcept : text_(other.text_), block_(other.block_) {
  if (block_ != nullptr) block_->copies.fetch_add(1, std::memory_order_relaxed);
}

void SharedText::release() noexcept {
  // Release pairs with the acquire of the thread that counts down to 0: all reads of the text happen before it is
  // freed.
  if (block_->copies.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  ::operator delete(block_);
}

}  // namespace gdrkit::base
