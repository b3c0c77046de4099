// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/harness/host_buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/size.hpp"
#include "platform/device/host_memory.hpp"

namespace gdrkit::measure {

HostBuffer::HostBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
  // The pages are touched below. Linux cannot fail then, and would kill a process.
  if (const std::size_t available = platform::available_host_bytes(); size_bytes > available) {
    cli::fail("cannot allocate " + cli::size_text(size_bytes) + " of host memory for the copies: " +
              cli::rough_size_text(available) + " are available; choose a smaller size");
  }
  // Not from the heap, whose pages an earlier memory policy may have placed elsewhere.
  void* mapped =
      ::mmap(nullptr, size_bytes == 0 ? 1 : size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::uint8_t*>(mapped);
  std::memset(data_, 0xA5, size_bytes);
}

HostBuffer::~HostBuffer() { ::munmap(data_, size_bytes_ == 0 ? 1 : size_bytes_); }

}  // namespace gdrkit::measure
