// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MemoryPiece: part of one RM memory object, with the handles of the memory's owner.
#pragma once

#include <cstdint>

namespace gdrkit::backend::rm {

struct MemoryPiece {
  std::uint32_t client = 0;  ///< the RM client that owns the object: CUDA's client in this process
  std::uint32_t object = 0;
  std::uint64_t offset = 0;  ///< bytes from the object's start
  std::uint64_t size_bytes = 0;

  bool operator==(const MemoryPiece&) const = default;
};

}  // namespace gdrkit::backend::rm
