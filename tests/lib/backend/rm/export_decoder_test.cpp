// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/memory_piece.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "fakes/export_encoder.hpp"
#include "fakes/wire.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using fakes::put;
using Pieces = std::vector<fakes::CudaMemoryMap::ExportPiece>;
constexpr std::uint32_t client = 0xc1d0001d;

std::vector<driver::ObservedIoctl> encoded(const char* version, std::uint64_t total, const Pieces& pieces,
                                           std::uint32_t status = 0) {
  return fakes::encode_export(fakes::driver_model(version), client, total, pieces, 0, {status, status == 0 ? 7 : -1});
}

class ExportDecoder : public ::testing::TestWithParam<const char*> {
 protected:
  std::size_t status_at() const { return fakes::driver_model(GetParam()).export_bytes - 8; }
  std::size_t sizes_at() const { return status_at() - 1024; }
};

TEST_P(ExportDecoder, FindsEveryObjectOfSeveralCalls) {
  Pieces pieces;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    pieces.push_back({0x5c000096 + i, i * 0x1000u, 0x10000u + i});
    total += pieces.back().size_bytes;
  }
  const auto decoded = tests::value_or_throw(decode_export(encoded(GetParam(), total, pieces), total));
  ASSERT_EQ(decoded.size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(decoded[i], (MemoryPiece{client, pieces[i].object, pieces[i].offset, pieces[i].size_bytes}));
  }
}

TEST_P(ExportDecoder, RejectsInconsistentExports) {
  const std::uint64_t total = 0x30000;
  const Pieces pieces = {{0x5c000096, 0x1000, 0x10000}, {0x5c000097, 0, 0x20000}};
  using Change = std::function<void(std::vector<driver::ObservedIoctl>&)>;
  const auto word = [](std::size_t at, auto value) -> Change {
    return [=](auto& calls) { put(calls[0].argument.data(), at, value); };
  };
  const std::vector<std::pair<const char*, Change>> changes = {
      {"a status", word(status_at(), std::uint32_t{0x1f})},
      {"no client", word(4, std::uint32_t{0})},
      {"more objects in all than seen", word(8, std::uint32_t{3})},
      {"fewer objects in all than seen", word(8, std::uint32_t{1})},
      {"no objects", word(12, std::uint32_t{0})},
      {"more objects than fit", word(12, std::uint32_t{129})},
      {"a count that wraps", word(12, std::uint32_t{0xffffffff})},
      {"a start in the middle", word(16, std::uint32_t{1})},
      {"another total", word(24, total + 0x1000)},
      {"an object without a handle", word(sizes_at() == 1568 ? 32 : 36, std::uint32_t{0})},
      {"an empty object", word(sizes_at(), std::uint64_t{0})},
      {"sizes with a wrong sum", word(sizes_at(), std::uint64_t{0x8000})},
      {"an object larger than the range", word(sizes_at(), total + 1)},
      {"an offset that wraps", word(sizes_at() - 1024, UINT64_MAX - 5)},
      {"an errno", [](auto& calls) { calls[0].result = -EIO; }},
      {"a structure of unknown size",
       [](auto& calls) { calls[0].argument.resize(2616), calls[0].request += 8ul << 16; }},
      {"a size that is not the argument's", [](auto& calls) { calls[0].argument.resize(2592); }},
      {"the same call twice", [](auto& calls) { calls.push_back(calls[0]); }},
      {"no call at all", [](auto& calls) { calls.clear(); }},
  };
  ASSERT_TRUE(decode_export(encoded(GetParam(), total, pieces), total));
  for (const auto& [what, change] : changes) {
    auto calls = encoded(GetParam(), total, pieces);
    change(calls);
    const auto failed = decode_export(calls, total);
    EXPECT_FALSE(failed) << what;
    EXPECT_NE(tests::text_of(failed), "") << what;
  }
}

TEST_P(ExportDecoder, AcceptsTheObjectOfARejectedExportOnlyAtTheExpectedOffset) {
  const auto rejected = encoded(GetParam(), 0x500000, {{0x5c0001b4, 0x1000, 0x4ff000}}, 0x1f);
  const auto piece = tests::value_or_throw(decode_rejected_export(rejected, 0x1000, 0x500000));
  EXPECT_EQ(piece, (MemoryPiece{client, 0x5c0001b4, 0x1000, 0x500000}));
  EXPECT_FALSE(decode_rejected_export(rejected, 0x2000, 0x500000));
  EXPECT_FALSE(
      decode_rejected_export(encoded(GetParam(), 0x500000, {{0x5c0001b4, 0x1000, 0x500000}}), 0x1000, 0x500000))
      << "not rejected";
  EXPECT_FALSE(
      decode_rejected_export(encoded(GetParam(), 0x500000, {{0x5c0001b4, 0x1000, 0x4ff000}}, 0x56), 0x1000, 0x500000))
      << "rejected for another reason";
  EXPECT_FALSE(decode_rejected_export({}, 0x1000, 0x500000));
}

INSTANTIATE_TEST_SUITE_P(Layouts, ExportDecoder, ::testing::Values("565.57.01", "580.159.04"),
                         [](const auto& tested) { return std::string(tested.param).substr(0, 3); });

TEST(IpcDecoder, ReadsTheRecordedHandle) {
  // A 100000-byte allocation at offset 0x103000 of a 2 MiB block, driver 580.159.04.
  constexpr std::uint32_t words[16] = {0x7ca15540, 0x55be, 0x200, 0, 0x186a0,    0,          0x200, 0x103000,
                                       6,          0xff00, 0x32,  0, 0xc1d0001d, 0x5c000096, 0,     0};
  driver::CudaIpcHandle handle{};
  std::memcpy(handle.data(), words, sizeof words);
  const auto memory = tests::value_or_throw(decode_ipc_handle(handle, 100000));
  EXPECT_EQ(memory.allocation, (MemoryPiece{0xc1d0001d, 0x5c000096, 0x103000, 100000}));
  EXPECT_EQ(memory.object_bytes, 2u << 20);
  EXPECT_FALSE(decode_ipc_handle(handle, 100001)) << "CUDA's attributes differ";
  for (const std::size_t essential : {16U, 24U, 48U, 52U}) {
    driver::CudaIpcHandle broken = handle;
    put(broken.data(), essential, std::uint32_t{0});
    EXPECT_FALSE(decode_ipc_handle(broken, 100000)) << "word at " << essential;
  }
  put(handle.data(), 28, std::uint32_t{0x1f0000});
  EXPECT_FALSE(decode_ipc_handle(handle, 100000)) << "reaches past its block";
}

}  // namespace
}  // namespace gdrkit::backend::rm
