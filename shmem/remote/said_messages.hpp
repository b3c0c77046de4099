// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SaidMessages: what other PEs sent for meetings, until this PE comes to hear it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "shmem/remote/message.hpp"

namespace gdrkit::shmem_impl::remote {

class SaidMessages {
 public:
  /// A piece of a message. Pieces of one sender come in their order.
  void add(const RemoteMessage& message, const char* data, std::size_t size_bytes);
  /// Whether all that `pe` sent for that meeting is there. Forgets what it sent for earlier ones.
  [[nodiscard]] bool has(std::uint64_t place, int pe, std::uint64_t number) noexcept;
  /// Takes it; only if it is there.
  [[nodiscard]] std::vector<char> take(std::uint64_t place, int pe) noexcept;

 private:
  struct Said {
    std::uint64_t number;
    std::uint64_t size_bytes;  // of which `data` has what came so far
    std::vector<char> data;
  };
  [[nodiscard]] static std::uint64_t key(std::uint64_t place, int pe) noexcept {
    return place << 32 | static_cast<std::uint32_t>(pe);
  }

  std::unordered_map<std::uint64_t, std::deque<Said>> said_;
};

}  // namespace gdrkit::shmem_impl::remote
