// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/allgather_messages.hpp"

#include <utility>

namespace gdrkit::shmem_impl::remote {

void AllgatherMessages::add(const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  auto& messages = allgather_messages_[key(message.offset, message.from)];
  if (message.compare == 0) messages.push_back({message.operand, message.size_bytes, {}});
  if (messages.empty() || messages.back().number != message.operand)
    return;  // a piece of an allgather that timed out on this PE
  std::vector<char>& bytes = messages.back().data;
  if (bytes.size() != message.compare || size_bytes > message.size_bytes - bytes.size()) return;
  bytes.insert(bytes.end(), data, data + size_bytes);
}

bool AllgatherMessages::has(std::uint64_t place, int pe, std::uint64_t number) noexcept {
  const auto found = allgather_messages_.find(key(place, pe));
  if (found == allgather_messages_.end()) return false;
  std::deque<Message>& messages = found->second;
  while (!messages.empty() && messages.front().number < number) messages.pop_front();
  return !messages.empty() && messages.front().data.size() == messages.front().size_bytes;
}

std::vector<char> AllgatherMessages::take(std::uint64_t place, int pe) noexcept {
  std::deque<Message>& messages = allgather_messages_.find(key(place, pe))->second;
  std::vector<char> data = std::move(messages.front().data);
  messages.pop_front();
  return data;
}

}  // namespace gdrkit::shmem_impl::remote
