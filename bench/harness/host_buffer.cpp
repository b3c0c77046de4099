// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "bench/harness/host_buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace gdrkit::bench {

HostBuffer::HostBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
  constexpr std::size_t page = 4096;
  data_ = static_cast<std::uint8_t*>(std::aligned_alloc(page, (size_bytes + page - 1) / page * page));
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_, 0xA5, size_bytes);
}

HostBuffer::~HostBuffer() { std::free(data_); }

}  // namespace gdrkit::bench
