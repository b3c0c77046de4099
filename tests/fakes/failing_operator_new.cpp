// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// operator new that fails if fakes::allocation_faults requests it. In a separate file: a compiler that sees both
// operators' bodies reports the pairing of free with new as an error.
#include <cstdlib>
#include <new>

#include "fakes/allocation_faults.hpp"

void* operator new(std::size_t size) {
  void* memory = gdrkit::fakes::allocation_faults.strikes() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return gdrkit::fakes::allocation_faults.strikes() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
