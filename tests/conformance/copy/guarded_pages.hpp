// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Ordinary pages between two inaccessible ones: an access past either end causes a fault.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace gdrkit::testing {

class GuardedPages {
 public:
  static constexpr std::size_t page_bytes = 4096;

  explicit GuardedPages(std::size_t pages) : size_(pages * page_bytes) {
    void* mapped = mmap(nullptr, size_ + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    start_ = static_cast<unsigned char*>(mapped) + page_bytes;
    if (mprotect(start_, size_, PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
  }
  ~GuardedPages() { munmap(start_ - page_bytes, size_ + 2 * page_bytes); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  [[nodiscard]] unsigned char* begin() const { return start_; }
  [[nodiscard]] unsigned char* end() const { return start_ + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  unsigned char* start_;
  std::size_t size_;
};

}  // namespace gdrkit::testing
