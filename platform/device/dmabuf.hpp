// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// export_dmabuf: exports GPU memory as a dma-buf, which an RDMA device can register.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::platform {

/// The range must be whole pages of one allocation. The caller closes the descriptor. EOPNOTSUPP: the driver or the
/// device does not support dma-buf.
[[nodiscard]] base::Result<int> export_dmabuf(const Device& device, std::uint64_t address,
                                              std::size_t size_bytes) noexcept;
/// The same with the given driver functions, for tests with a fake driver.
[[nodiscard]] base::Result<int> export_dmabuf(const CudaCalls& calls, std::uint64_t address,
                                              std::size_t size_bytes) noexcept;

}  // namespace gdrkit::platform
