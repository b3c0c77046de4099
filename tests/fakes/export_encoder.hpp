// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Encodes the EXPORT_TO_DMABUF_FD ioctls of one export as they are after the driver returned.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/cuda.hpp"
#include "fakes/cuda_memory_map.hpp"
#include "fakes/driver_model.hpp"

namespace gdrkit::fakes {

struct ExportResult {
  std::uint32_t status = 0;
  int fd = -1;
};

/// At most 128 objects per call; later calls pass the descriptor that the first one returned.
[[nodiscard]] std::vector<driver::ObservedIoctl> encode_export(const DriverModel& model, Handle client,
                                                               std::uint64_t total_bytes,
                                                               const std::vector<CudaMemoryMap::ExportPiece>& pieces,
                                                               std::uint64_t flags, const ExportResult& result);

}  // namespace gdrkit::fakes
