// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary bytes as the parameters of libcuda's dma-buf export, in one or several calls.
#include <linux/ioctl.h>

#include <cstring>

#include "backend/rm/memory_piece.hpp"
#include "fakes/driver_model.hpp"
#include "fakes/export_encoder.hpp"
#include "fakes/wire.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit;

namespace {

/// The header of an input. Calls with one layout follow; the last one may be truncated.
struct Input {
  std::uint64_t size_bytes;
  std::uint64_t expected_offset;
  std::uint8_t is_old;
  std::int8_t result;
};

/// The input of an export of `objects` objects, each with `each` bytes from `offset` on.
fuzz::Bytes encode(bool is_old, std::uint32_t objects, std::uint64_t each, std::uint64_t offset = 0,
                   std::uint32_t status = fakes::rm_status::ok) {
  const Input input{objects * each, offset, is_old, 0};
  std::vector<fakes::CudaMemoryMap::ExportPiece> pieces;
  for (std::uint32_t i = 0; i < objects; ++i) pieces.push_back({0x5c000096u + i, offset, each});
  fuzz::Bytes all(sizeof input);
  std::memcpy(all.data(), &input, sizeof input);
  const auto model = fakes::driver_model(is_old ? "565.57.01" : "580.159.04");
  for (const auto& call : fakes::encode_export(model, 0xc1d0001d, input.size_bytes, pieces, 0, {status, 0})) {
    all.insert(all.end(), call.argument.begin(), call.argument.end());
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
  const std::size_t bytes = (input.is_old & 1) != 0 ? 2600 : 2608;
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
  for (const bool is_old : {false, true}) {
    all.push_back(encode(is_old, 1, 0x300000, 0x100000, fakes::rm_status::invalid_argument));
  }
  return all;
}
