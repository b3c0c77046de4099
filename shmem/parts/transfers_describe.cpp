// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A human-readable description of the transports to a PE.
#include <new>

#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

const char* name_of(transport::LocalMemory memory) noexcept {
  switch (memory) {
    case transport::LocalMemory::host: return "host";
    case transport::LocalMemory::pinned: return "pinned host";
    case transport::LocalMemory::heap: return "symmetric";
    case transport::LocalMemory::device: break;
  }
  return "device";
}

std::string size_text(std::size_t size_bytes) {
  return size_bytes % 1024 == 0 ? std::to_string(size_bytes / 1024) + " KiB" : std::to_string(size_bytes) + " bytes";
}

/// "host up to 32 KiB, symmetric": for each local memory that the transport serves.
std::string text_of(const std::size_t (&limits)[transport::local_memory_count]) {
  std::string text;
  for (std::size_t memory = 0; memory < transport::local_memory_count; ++memory) {
    if (limits[memory] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<transport::LocalMemory>(memory)));
    if (limits[memory] != SIZE_MAX) text += " up to " + size_text(limits[memory]);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

base::Result<std::string> Transfers::describe(int pe) noexcept try {
  auto slot = connections_.slot_of(pe);
  if (!slot) return base::pass(slot);
  std::string text;
  for (const auto& transport : transports_) {
    text += (text.empty() ? "" : "\n") + std::string(transport->name()) + ": ";
    if (auto serves = transport->serves(*slot); !serves) {
      text += std::string("not used: ") + serves.error().text();
      continue;
    }
    const transport::TransportLimits& limits = transport->limits();
    text += "put from " + text_of(limits.put) + "; get to " + text_of(limits.get);
  }
  text += connections_.is_remote(*slot) ? "\nGPU kernels: by a proxy thread of this PE, which executes their commands"
                                        : "\nGPU kernels: by loads and stores";
  return text;
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "out of memory while listing the transports for PE %d", pe);
}

}  // namespace gdrkit::shmem_impl::parts
