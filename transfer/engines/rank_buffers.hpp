// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankBuffers: a rank's two buffers, in host memory or a GPU's, for engines that bring no memory of their own.
#pragma once

#include <cstdint>

#include "platform/device/device.hpp"
#include "transfer/engines/message_engine.hpp"

namespace gdrkit::transfer::engines {

class RankBuffers {
 public:
  /// Zeroed where they are host memory. Throws Failure.
  explicit RankBuffers(const MessageRequest& request);
  RankBuffers(const RankBuffers&) = delete;
  RankBuffers& operator=(const RankBuffers&) = delete;
  ~RankBuffers();

  [[nodiscard]] std::uint64_t source() const noexcept { return source_.address; }
  [[nodiscard]] std::uint64_t target() const noexcept { return target_.address; }

 private:
  struct Buffer {
    void* host = nullptr;
    platform::Allocation device;
    std::uint64_t address = 0;
  };
  static void allocate(const MessageRequest& request, std::size_t size_bytes, Buffer* buffer);

  Buffer source_;
  Buffer target_;
};

}  // namespace gdrkit::transfer::engines
