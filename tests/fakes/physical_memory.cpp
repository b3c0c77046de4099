// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/physical_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace gdrkit::fakes {

PhysicalMemory::PhysicalMemory(unsigned gpu, std::uint64_t bytes, std::uint64_t page_bytes)
    : gpu_(gpu), bytes_(bytes), page_bytes_(page_bytes), file_(::memfd_create("fake-gpu-memory", MFD_CLOEXEC)) {
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
    throw std::system_error(errno, std::generic_category(), "fake GPU memory");
  }
  void* view = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (view == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "fake GPU memory");
  view_ = static_cast<std::uint8_t*>(view);
}

PhysicalMemory::~PhysicalMemory() {
  ::munmap(view_, bytes_);
  ::close(file_);
}

}  // namespace gdrkit::fakes
