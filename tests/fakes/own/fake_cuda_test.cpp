// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The fake libcuda returns what a recording of libcuda 580.159.04 contains, and detects calls that would wait or break
// a capture.
#include "fakes/fake_cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

class FakeCudaTest : public ::testing::Test {
 protected:
  FakeCudaTest() : rm(driver_model("580.159.04"), {make_gpu(0)}), cuda(rm) {}

  driver::PointerAttributes attributes(std::uint64_t address) {
    driver::PointerAttributes at;
    EXPECT_EQ(driver::pointer_attributes(cuda, address, &at), 0);
    return at;
  }
  /// (offset, size) of each object of the export call; empty without an export.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> exported(std::uint64_t address, std::size_t size, int expected) {
    driver::ObservedExport seen;
    EXPECT_EQ(cuda.export_dmabuf(address, size, 0, &seen), expected);
    if (seen.dmabuf_fd >= 0) rm.close(seen.dmabuf_fd);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
    for (const auto& call : seen.ioctls) {
      const ExportLayout layout = export_layout(call.argument.size()).value();
      for (std::size_t i = 0; i < get<std::uint32_t>(call.argument.data(), 12); ++i) {
        pieces.emplace_back(get<std::uint64_t>(call.argument.data(), layout.offsets + 8 * i),
                            get<std::uint64_t>(call.argument.data(), layout.sizes + 8 * i));
      }
    }
    return pieces;
  }

  FakeRm rm;
  FakeCuda cuda;
};
using Pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST_F(FakeCudaTest, PutsSmallAllocationsIntoOneBlock) {
  const std::uint64_t first = cuda.malloc(0x1000);
  const std::uint64_t second = cuda.malloc(0x100000);
  EXPECT_EQ(second - first, 0x1000u);
  const auto at = attributes(second + 17);
  EXPECT_EQ(at.range_start, second);
  EXPECT_EQ(at.range_size, 0x100000u);
  EXPECT_EQ(at.mapping_base, first);
  EXPECT_EQ(at.mapping_size, 0x200000u);
  EXPECT_EQ(at.is_legacy_ipc_capable, 1u);
  EXPECT_EQ(exported(second, 0x100000, 0), (Pieces{{0x1000, 0x100000}}));
  EXPECT_EQ(exported(first, 0x120000, 0), (Pieces{{0, 0x120000}})) << "past the allocation, inside the block";
  EXPECT_TRUE(exported(first, 0x410000, 1).empty()) << "past the block";
}

TEST_F(FakeCudaTest, ReportsTheReservationAsTheRangeOfMappedHandles) {
  const std::uint64_t address = cuda.vmm({0x200000, 0x200000, 0x200000}, true, 0x1000000);
  const auto at = attributes(address + 0x210000);
  EXPECT_EQ(at.range_start, address);
  EXPECT_EQ(at.range_size, 0x1000000u);
  EXPECT_EQ(at.mapping_base, address + 0x200000);
  EXPECT_EQ(at.mapping_size, 0x200000u);
  EXPECT_EQ(at.context, nullptr);
  EXPECT_EQ(at.allowed_handle_types, 1u);
  const auto hole = attributes(address + 0x800000);
  EXPECT_EQ(hole.memory_type, 0u);
  EXPECT_EQ(hole.device_ordinal, -2);
  EXPECT_EQ(hole.range_start, address);
  EXPECT_EQ(exported(address + 0x10000, 0x5f0000, 0), (Pieces{{0x10000, 0x1f0000}, {0, 0x200000}, {0, 0x200000}}));
  EXPECT_TRUE(exported(address, 0x610000, 1).empty());
}

TEST_F(FakeCudaTest, ExportsWrongPiecesInsideAPoolBlockLikeLibcuda) {
  const std::uint64_t first = cuda.pool_malloc(0x1000);
  const std::uint64_t second = cuda.pool_malloc(0x500000);
  const std::uint64_t third = cuda.pool_malloc(0x6400000);
  EXPECT_EQ(exported(first, 0x10000, 0), (Pieces{{0, 0x10000}}));
  EXPECT_EQ(exported(second, 0x500000, 1), (Pieces{{0x1000, 0x4ff000}}));
  EXPECT_EQ(exported(round_down(third, 0x10000), 0x10000, 1), (Pieces{{0x500000, 0xffffffffffb10000}}));
  EXPECT_EQ(exported(round_down(third, 0x10000), 0x6410000, 0),
            (Pieces{{0x500000, 0x1b00000}, {0, 0x2000000}, {0, 0x2000000}, {0, 0x910000}}));
  cuda.free(first);
  EXPECT_TRUE(exported(first, 0x10000, 1).empty()) << "no allocation at the start of the range";
}

TEST_F(FakeCudaTest, PassesOnARangeThatBeginsBelowABlock) {
  const std::uint64_t address = cuda.malloc(8 * mib);
  EXPECT_EQ(exported(address - 0x10000, 0x20000, 1), (Pieces{{0xffffffffffff0000, 0x20000}}));
}

TEST_F(FakeCudaTest, ExportsMoreThan128ObjectsInSeveralCallsOfOneDescriptor) {
  const std::uint64_t address = cuda.vmm(std::vector<std::uint64_t>(130, 2 * mib), false);
  driver::ObservedExport seen;
  ASSERT_EQ(cuda.export_dmabuf(address, 260 * mib, 0, &seen), 0);
  ASSERT_EQ(seen.ioctls.size(), 2u);
  EXPECT_EQ(get<std::uint32_t>(seen.ioctls[1].argument.data(), 8), 130u);
  EXPECT_EQ(get<std::uint32_t>(seen.ioctls[1].argument.data(), 12), 2u);
  EXPECT_EQ(get<std::uint32_t>(seen.ioctls[1].argument.data(), 16), 128u);
  EXPECT_EQ(get<std::int32_t>(seen.ioctls[1].argument.data(), 0), seen.dmabuf_fd);
}

TEST_F(FakeCudaTest, DistinguishesManagedHostImportedAndFreedMemory) {
  const std::uint64_t managed = cuda.managed(0x40000), host = cuda.host(0x10000), imported = cuda.ipc_import(0x10000);
  const std::uint64_t freed = cuda.malloc(8 * mib);
  cuda.free(freed);
  EXPECT_EQ(attributes(managed).is_managed, 1u);
  EXPECT_EQ(attributes(host).memory_type, 1u);
  EXPECT_EQ(attributes(imported).memory_type, 2u);
  EXPECT_EQ(attributes(freed).memory_type, 0u);
  for (const std::uint64_t address : {managed, host, imported, freed})
    EXPECT_TRUE(exported(address, 0x10000, 1).empty());
}

TEST_F(FakeCudaTest, RequiresAContextOnTheCallingThread) {
  const std::uint64_t address = cuda.malloc(2 * mib);
  std::thread([&] {
    driver::ObservedExport seen;
    void* stream = nullptr;
    EXPECT_EQ(cuda.export_dmabuf(address, 0x10000, 0, &seen), 201);
    EXPECT_EQ(cuda.stream_create(&stream, driver::cuda_stream_non_blocking), 201);
  }).join();
}

TEST_F(FakeCudaTest, DetectsCallsThatInvalidateACapture) {
  void* stream = nullptr;
  ASSERT_EQ(cuda.stream_create(&stream, driver::cuda_stream_non_blocking), 0);
  cuda.threads().begin_capture(CaptureMode::global);
  int mode = 2;
  EXPECT_EQ(cuda.exchange_stream_capture_mode(&mode), 0);
  EXPECT_EQ(mode, 0);
  EXPECT_EQ(cuda.stream_synchronize(stream), 0) << "allowed on a relaxed thread";
  EXPECT_TRUE(rm.violations().list().empty());
  EXPECT_EQ(cuda.exchange_stream_capture_mode(&mode), 0);
  EXPECT_EQ(cuda.stream_synchronize(stream), 900);
  EXPECT_FALSE(cuda.threads().end_capture());
  EXPECT_EQ(rm.violations().list().size(), 1u);
}

TEST_F(FakeCudaTest, ExecutesAsynchronousWorkAtTheSynchronisation) {
  const std::uint64_t address = cuda.malloc(2 * mib);
  cuda.fill_pattern(address, 2 * mib);
  void* stream = nullptr;
  ASSERT_EQ(cuda.stream_create(&stream, driver::cuda_stream_non_blocking), 0);
  std::array<std::uint8_t, 128> target{};
  ASSERT_EQ(driver::gather_async(cuda, target.data(), address + 64, 4096, 64, 2, stream), 0);
  EXPECT_EQ(target, (std::array<std::uint8_t, 128>{}));
  ASSERT_EQ(cuda.stream_synchronize(stream), 0);
  EXPECT_TRUE(std::equal(target.begin(), target.begin() + 64, cuda.read(address + 64, 64).begin()));
  EXPECT_TRUE(std::equal(target.begin() + 64, target.end(), cuda.read(address + 64 + 4096, 64).begin()));
}

TEST_F(FakeCudaTest, DetectsTheDefaultStreamAndWritesToUserMemory) {
  const std::uint64_t address = cuda.malloc(2 * mib);
  void* stream = nullptr;
  const std::uint64_t word = 1;
  ASSERT_EQ(cuda.stream_create(&stream, driver::cuda_stream_non_blocking), 0);
  EXPECT_EQ(cuda.stream_synchronize(nullptr), 400);
  EXPECT_EQ(cuda.memcpy_host_to_device_async(address, &word, sizeof word, stream), 0);
  EXPECT_EQ(rm.violations().list().size(), 2u);
  EXPECT_EQ(cuda.stream_create(&stream, 0U), 0);
  EXPECT_EQ(rm.violations().list().size(), 3u) << "a stream that waits for the default stream";
}

}  // namespace
}  // namespace gdrkit::fakes
