// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankBuffers: a rank's two buffers in host or GPU memory, for engines that do not allocate memory.
#pragma once

#include <cstdint>

#include "platform/device/device.hpp"
#include "transfer/engines/message_engine.hpp"

namespace gdrkit::transfer::engines {

class RankBuffers {
 public:
  /// Host memory is zeroed. Throws Failure.
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
