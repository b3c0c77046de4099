// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/secret/blake2s.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gdrkit::shmem_impl::secret {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t block_bytes = 64;
constexpr std::uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

struct State {
  std::uint32_t chain[8];
  std::uint64_t hashed_bytes = 0;
  std::uint8_t block[block_bytes] = {};
  std::size_t filled = 0;

  void compress(bool is_last) noexcept {
    std::uint32_t words[16];
    std::memcpy(words, block, sizeof words);
    std::uint32_t v[16];
    std::copy_n(chain, 8, v);
    std::copy_n(initial, 8, v + 8);
    v[12] ^= static_cast<std::uint32_t>(hashed_bytes);
    v[13] ^= static_cast<std::uint32_t>(hashed_bytes >> 32);
    if (is_last) v[14] = ~v[14];
    const auto mix = [&v](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint32_t x,
                          std::uint32_t y) noexcept {
      v[a] += v[b] + x;
      v[d] = std::rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 12);
      v[a] += v[b] + y;
      v[d] = std::rotr(v[d] ^ v[a], 8);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 7);
    };
    for (const auto& at : order) {
      for (std::size_t i = 0; i < 4; ++i) mix(i, 4 + i, 8 + i, 12 + i, words[at[2 * i]], words[at[2 * i + 1]]);
      for (std::size_t i = 0; i < 4; ++i) {
        mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, words[at[8 + 2 * i]], words[at[9 + 2 * i]]);
      }
    }
    for (std::size_t i = 0; i < 8; ++i) chain[i] ^= v[i] ^ v[i + 8];
  }

  void add(Bytes bytes) noexcept {
    while (!bytes.empty()) {
      if (filled == block_bytes) {  // not earlier: the last block is compressed differently
        hashed_bytes += block_bytes;
        compress(false);
        filled = 0;
      }
      const std::size_t count = std::min(bytes.size(), block_bytes - filled);
      std::memcpy(block + filled, bytes.data(), count);
      filled += count;
      bytes = bytes.subspan(count);
    }
  }
};

}  // namespace

Digest blake2s(Bytes key, std::initializer_list<Bytes> parts) noexcept {
  State state{};
  std::copy_n(initial, 8, state.chain);
  state.chain[0] ^= 0x01010000u ^ static_cast<std::uint32_t>(key.size() << 8 ^ sizeof(Digest));
  if (!key.empty()) {
    std::memcpy(state.block, key.data(), key.size());
    state.filled = block_bytes;
  }
  for (const Bytes part : parts) state.add(part);
  state.hashed_bytes += state.filled;
  std::fill(state.block + state.filled, state.block + block_bytes, std::uint8_t{0});
  state.compress(true);
  Digest digest;
  std::memcpy(digest.data(), state.chain, sizeof digest);
  return digest;
}

Key derive_key(const Key& key, std::string_view purpose, std::initializer_list<Bytes> context) noexcept {
  Digest of_context = blake2s(key, {bytes_of(purpose)});
  for (const Bytes part : context) of_context = blake2s(of_context, {part});
  return of_context;
}

bool are_equal(Bytes one, Bytes other) noexcept {
  volatile std::uint8_t difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    difference = static_cast<std::uint8_t>(difference | (one[i] ^ other[i]));
  }
  return difference == 0;
}

}  // namespace gdrkit::shmem_impl::secret
