// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/said_messages.hpp"

#include <utility>

namespace gdrkit::shmem_impl::remote {

void SaidMessages::add(const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  auto& said = said_[key(message.offset, message.from)];
  if (message.compare == 0) said.push_back({message.operand, message.size_bytes, {}});
  if (said.empty() || said.back().number != message.operand) return;  // a piece of a meeting that timed out on this PE
  std::vector<char>& bytes = said.back().data;
  if (bytes.size() != message.compare || size_bytes > message.size_bytes - bytes.size()) return;
  bytes.insert(bytes.end(), data, data + size_bytes);
}

bool SaidMessages::has(std::uint64_t place, int pe, std::uint64_t number) noexcept {
  const auto found = said_.find(key(place, pe));
  if (found == said_.end()) return false;
  std::deque<Said>& said = found->second;
  while (!said.empty() && said.front().number < number) said.pop_front();
  return !said.empty() && said.front().data.size() == said.front().size_bytes;
}

std::vector<char> SaidMessages::take(std::uint64_t place, int pe) noexcept {
  std::deque<Said>& said = said_.find(key(place, pe))->second;
  std::vector<char> data = std::move(said.front().data);
  said.pop_front();
  return data;
}

}  // namespace gdrkit::shmem_impl::remote
