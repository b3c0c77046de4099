// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/secret/siphash.hpp"

#include <bit>
#include <cstring>

namespace gdrkit::shmem_impl::secret {
namespace {

static_assert(std::endian::native == std::endian::little);

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void add(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  [[nodiscard]] std::uint64_t end() noexcept {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

std::uint64_t word_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// The state after all of `head` and `rest`, before the rounds that end the hash. `variant` is 0xee for 128 bits of
/// output and 0 for 64.
State state_after(const SipKey& key, std::uint64_t variant, Bytes head, Bytes rest) noexcept {
  const std::uint64_t k0 = word_at(key.data());
  const std::uint64_t k1 = word_at(key.data() + 8);
  State state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ variant, k0 ^ 0x6c7967656e657261,
              k1 ^ 0x7465646279746573};
  for (std::size_t i = 0; i < head.size(); i += 8) state.add(word_at(head.data() + i));
  const std::size_t whole = rest.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) state.add(word_at(rest.data() + i));
  std::uint64_t last = static_cast<std::uint64_t>(head.size() + rest.size()) << 56;
  if (rest.size() != whole) {
    std::uint64_t tail = 0;
    std::memcpy(&tail, rest.data() + whole, rest.size() - whole);
    last |= tail;
  }
  state.add(last);
  return state;
}

}  // namespace

Tag siphash(const SipKey& key, Bytes head, Bytes rest) noexcept {
  State state = state_after(key, 0xee, head, rest);
  state.v2 ^= 0xee;
  const std::uint64_t first_half = state.end();
  state.v1 ^= 0xdd;
  const std::uint64_t second_half = state.end();
  Tag tag;
  std::memcpy(tag.data(), &first_half, 8);
  std::memcpy(tag.data() + 8, &second_half, 8);
  return tag;
}

std::uint64_t siphash_64(const SipKey& key, Bytes message) noexcept {
  State state = state_after(key, 0, {}, message);
  state.v2 ^= 0xff;
  return state.end();
}

}  // namespace gdrkit::shmem_impl::secret
