// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary bytes as the parameters of libcuda's dma-buf export, in one or several calls.
#include <linux/ioctl.h>

#include <cstring>

#include "backend/rm/memory_piece.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit;

namespace {

constexpr std::size_t old_bytes = 2600, new_bytes = 2608;

struct Input {
  std::uint64_t size_bytes;
  std::uint64_t expected_offset;
  std::uint8_t is_old;
  std::int8_t result;
};

template <class T>
void put(fuzz::Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A header, then calls with one layout; the last call may be truncated.
fuzz::Bytes encode(bool is_old, std::uint32_t objects, std::uint64_t each) {
  fuzz::Bytes all(sizeof(Input));
  put(all, 0, objects * each);
  put(all, 8, std::uint64_t{0});
  put(all, 16, static_cast<std::uint8_t>(is_old));
  for (std::uint32_t index = 0; index < objects; index += 128) {
    const std::uint32_t count = objects - index < 128 ? objects - index : 128;
    fuzz::Bytes call(is_old ? old_bytes : new_bytes);
    put(call, 4, 0xc1d0001du);
    put(call, 8, objects);
    put(call, 12, count);
    put(call, 16, index);
    put(call, 24, objects * each);
    for (std::uint32_t i = 0; i < count; ++i) {
      put(call, (is_old ? 32 : 36) + 4 * std::size_t{i}, 0x5c000096u + i);
      put(call, (is_old ? 1568 : 1576) + 8 * std::size_t{i}, each);
    }
    all.insert(all.end(), call.begin(), call.end());
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{};
  if (size < sizeof input) return 0;
  std::memcpy(&input, data, sizeof input);
  data += sizeof input;
  size -= sizeof input;
  const std::size_t bytes = (input.is_old & 1) != 0 ? old_bytes : new_bytes;
  std::vector<driver::ObservedIoctl> seen;
  while (size > 0) {
    const std::size_t length = size < bytes ? size : bytes;
    seen.push_back({_IOC(_IOC_READ | _IOC_WRITE, 'F', 0xd9, length), input.result, {data, data + length}});
    data += length;
    size -= length;
  }
  if (const auto pieces = backend::rm::decode_export(seen, input.size_bytes)) {
    std::uint64_t total = 0;
    FUZZ_CHECK(!pieces->empty());
    for (const auto& piece : *pieces) {
      FUZZ_CHECK(piece.client == pieces->front().client && piece.client != 0 && piece.object != 0);
      FUZZ_CHECK(piece.size_bytes != 0 && piece.offset + piece.size_bytes > piece.offset);
      total += piece.size_bytes;
    }
    FUZZ_CHECK(total == input.size_bytes && input.result >= 0);
  }
  if (const auto piece = backend::rm::decode_rejected_export(seen, input.expected_offset, input.size_bytes)) {
    FUZZ_CHECK(piece->offset == input.expected_offset && piece->size_bytes == input.size_bytes && seen.size() == 1);
  }
  return 0;
}

std::vector<fuzz::Bytes> gdrkit::fuzz::seeds() {
  std::vector<Bytes> all = {encode(false, 1, 0x10000), encode(true, 1, 0x10000), encode(false, 3, 0x200000),
                            encode(false, 130, 0x200000), encode(true, 130, 0x200000)};
  for (const bool is_old : {false, true}) {  // a call that the driver rejected
    Bytes refused = encode(is_old, 1, 0x300000);
    put(refused, 8, std::uint64_t{0x100000});
    put(refused, sizeof(Input) + (is_old ? 544 : 552), std::uint64_t{0x100000});
    put(refused, sizeof(Input) + (is_old ? 2592 : 2600), std::uint32_t{0x1f});
    all.push_back(refused);
  }
  return all;
}
