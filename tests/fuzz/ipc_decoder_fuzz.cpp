// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary bytes as a CUDA IPC handle.
#include <cstring>

#include "backend/rm/memory_piece.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  driver::CudaIpcHandle handle{};
  std::uint64_t range_size = 0;
  if (size < sizeof range_size + handle.size()) return 0;
  std::memcpy(&range_size, data, sizeof range_size);
  std::memcpy(handle.data(), data + sizeof range_size, handle.size());
  if (const auto memory = backend::rm::decode_ipc_handle(handle, range_size)) {
    const auto& piece = memory->allocation;
    FUZZ_CHECK(piece.client != 0 && piece.object != 0 && piece.size_bytes == range_size && range_size != 0);
    FUZZ_CHECK(piece.offset < memory->object_bytes && piece.size_bytes <= memory->object_bytes - piece.offset);
  }
  return 0;
}

std::vector<fuzz::Bytes> gdrkit::fuzz::seeds() {
  // The words of a 100000-byte allocation at offset 0x103000 of a 2 MiB block.
  const std::uint32_t words[16] = {0x7ca15540, 0x55be, 0x200, 0, 0x186a0,    0,          0x200, 0x103000,
                                   6,          0xff00, 0x32,  0, 0xc1d0001d, 0x5c000096, 0,     0};
  const std::uint64_t range_size = 0x186a0;
  Bytes seed(sizeof range_size + sizeof words);
  std::memcpy(seed.data(), &range_size, sizeof range_size);
  std::memcpy(seed.data() + sizeof range_size, words, sizeof words);
  return {seed};
}
