// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/emulated_cuda.hpp"

#include <cstdio>

#include "shim/emulated_device_identity.hpp"
#include "shim/emulated_memory.hpp"

namespace gdrkit::fakes {

int EmulatedCuda::driver_get_version(int* version) noexcept {
  if (answer != 0) return answer;
  *version = 13000;
  return 0;
}

int EmulatedCuda::pointer_get_attributes(std::uint64_t address, shim::PointerAttributes* attributes) noexcept {
  if (answer != 0) return answer;
  *attributes = {};
  const auto found = shim::emulated_find(address);
  // As CUDA: an address of nobody's is no error. Nor is one past the exact end its allocation's.
  if (!found || address - found->start >= found->size_bytes) return 0;
  attributes->memory_type = found->kind == shim::EmulatedKind::host ? 1 : 2;
  attributes->is_managed = found->kind == shim::EmulatedKind::managed ? 1 : 0;
  attributes->device_ordinal = 0;
  attributes->range_start = found->start;
  attributes->range_size = found->size_bytes;
  attributes->buffer_id = found->buffer_id;
  return 0;
}

int EmulatedCuda::device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept {
  if (answer != 0) return answer;
  if (ordinal != 0) return 101;  // CUDA_ERROR_INVALID_DEVICE
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", shim::emulated_pci_bus_id);
  return 0;
}

}  // namespace gdrkit::fakes
