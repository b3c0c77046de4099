// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The part of Traffic that compares the received data with the sent data.
#include <algorithm>

#include "transfer/perftest/traffic.hpp"

namespace gdrkit::transfer::perftest {
namespace {

constexpr std::uint8_t untouched = 0xee;
constexpr std::size_t grh_bytes = 40;  // in front of a datagram

/// Never `untouched`, so that a missing byte counts as wrong.
std::uint8_t byte_at(std::size_t at, std::size_t pair, bool of_server) {
  return static_cast<std::uint8_t>((at * 7 + (at >> 8) + pair * 13 + (of_server ? 100 : 1)) % 0xe0);
}

}  // namespace

/// Every word that the other end added to was initially zero.
std::uint64_t Traffic::count_wrong_words() {
  std::uint64_t wrong = 0;
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    const std::uint64_t expected = exchange_.swap_value(rails_[pair].atomics, "check of the data");
    std::uint64_t word = 0;
    memory_.read(&word, memory_.receiving(static_cast<int>(pair)), sizeof word);
    wrong += word != expected ? 1 : 0;
  }
  return wrong;
}

void Traffic::send_patterns(std::size_t size_bytes) {
  begin(size_bytes, 1);
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    if (plan_.receives()) top_up(pair);
  }
  synchronize("check of the data");
  const bool sends = plan_.sends() || plan_.test->is_ping_pong();
  for (std::size_t pair = 0; sends && pair < rails_.size(); ++pair) post(pair, true);
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (const Rail& rail : rails_) {
      const bool misses_one = plan_.receives() && rail.received < 1 && !(plan_.is_ud() && peer_is_done());
      is_done = is_done && rail.done == rail.posted && !misses_one;
    }
    if (!is_done) (void)take(nullptr);
  }
  synchronize("check of the data");
}

std::uint64_t Traffic::count_wrong(std::size_t size_bytes) {
  if (plan_.test->verb == Verb::atomic) return count_wrong_words();
  // A read fills the reader's sending slot from the other end's receiving slot. Other operations transfer in the
  // opposite direction.
  const bool is_read = plan_.test->verb == Verb::read;
  const bool both = plan_.options->is_bidirectional || plan_.test->is_ping_pong();
  const bool is_source = both || plan_.is_server == is_read;
  const bool is_target = both || plan_.is_server != is_read;
  const std::size_t header = plan_.is_ud() ? grh_bytes : 0;
  std::vector<std::uint8_t> bytes(size_bytes + 1);
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    const std::uint64_t sending = memory_.sending(static_cast<int>(pair));
    const std::uint64_t receiving = memory_.receiving(static_cast<int>(pair));
    for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = byte_at(i, pair, plan_.is_server);
    if (is_source) memory_.write(is_read ? receiving : sending, bytes.data(), size_bytes);
    std::ranges::fill(bytes, untouched);
    if (is_target) memory_.write(is_read ? sending : receiving + header, bytes.data(), bytes.size());
  }
  send_patterns(size_bytes);
  std::uint64_t wrong = 0;
  for (std::size_t pair = 0; is_target && pair < rails_.size(); ++pair) {
    const int index = static_cast<int>(pair);
    memory_.read(bytes.data(), is_read ? memory_.sending(index) : memory_.receiving(index) + header, bytes.size());
    wrong += bytes[size_bytes] != untouched ? 1 : 0;
    for (std::size_t i = 0; i < size_bytes; ++i) wrong += bytes[i] != byte_at(i, pair, !plan_.is_server) ? 1 : 0;
  }
  return wrong;
}

}  // namespace gdrkit::transfer::perftest
