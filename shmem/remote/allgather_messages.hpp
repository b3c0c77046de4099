// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// AllgatherMessages: messages of other PEs for barriers and all-gathers, kept until this PE takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "shmem/remote/message.hpp"

namespace gdrkit::shmem_impl::remote {

class AllgatherMessages {
 public:
  /// Adds a piece of a message. Pieces of one sender must be added in order.
  void add(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  /// Returns whether the message of `pe` for allgather `number` is complete. Drops its messages for earlier allgathers.
  [[nodiscard]] bool has(std::uint64_t place, int pe, std::uint64_t number) noexcept;
  /// Removes and returns the message. Call it only if has() returned true.
  [[nodiscard]] std::vector<char> take(std::uint64_t place, int pe) noexcept;

 private:
  struct Message {
    std::uint64_t number;
    std::uint64_t size_bytes;  // of the whole message; `data` contains the pieces received so far
    std::vector<char> data;
  };
  [[nodiscard]] static std::uint64_t key(std::uint64_t place, int pe) noexcept {
    return place << 32 | static_cast<std::uint32_t>(pe);
  }

  std::unordered_map<std::uint64_t, std::deque<Message>> allgather_messages_;
};

}  // namespace gdrkit::shmem_impl::remote
