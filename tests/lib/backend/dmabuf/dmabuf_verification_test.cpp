// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Map never returns a mapping of other memory or of only a part, and verification never writes to the user's memory.
#include <gmock/gmock.h>

#include "lib/backend/dmabuf/dmabuf_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

using ::testing::HasSubstr;

class DmabufVerification : public ::testing::Test {
 protected:
  void SetUp() override {
    backend = open_or_fail(machine);
    address = machine.filled(machine.cuda.vmm({128 * kib, 128 * kib, 128 * kib}, false, 2 * mib), size);
    pinned = pin_or_fail(*backend, address, size);
  }
  void expect_map_fails(int errno_value, const char* text) {
    EXPECT_TRUE(tests::failed(pinned->map(size, MappingType::none), errno_value, HasSubstr(text)));
    EXPECT_EQ(machine.rm.census().vmas, 0u) << "the rejected mapping must be removed";
  }

  static constexpr std::size_t size = 384 * kib;
  DmabufMachine machine;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> pinned;
  std::uint64_t address = 0;
};

TEST_F(DmabufVerification, RejectsAMappingWithoutItsLastPages) {
  machine.rm.set_dmabuf({0, true, false});
  expect_map_fails(EIO, "last page");
  // The first block is mapped, so a mapping of this block alone is valid.
  const auto first = tests::value_or_throw(pinned->map(128 * kib, MappingType::none));
  EXPECT_EQ(first.verification, Verification::content);
}

TEST_F(DmabufVerification, RejectsAMappingWithoutMemory) {
  machine.rm.set_dmabuf({0, false, true});
  expect_map_fails(EIO, "last page");
}

TEST_F(DmabufVerification, ComparesEveryBlock) {
  for (unsigned wrong = 0; wrong < 3; ++wrong) {
    machine.rm.set_mapping_shows(fakes::MappingShows::other_memory, wrong);
    expect_map_fails(EIO, "the CPU and CUDA read different data");
  }
  machine.rm.set_mapping_shows(fakes::MappingShows::memory);
  EXPECT_TRUE(tests::succeeded(pinned->map(size, MappingType::none)))
      << "the pin must stay valid after a rejected mapping";
}

TEST_F(DmabufVerification, DetectsALostGpuByAllOnes) {
  machine.rm.set_mapping_shows(fakes::MappingShows::all_ones);
  expect_map_fails(ENODEV, "GPU is lost");
}

TEST_F(DmabufVerification, CalibratesIfTheContentIsTrivial) {
  const std::vector<std::uint8_t> zeros(size);
  machine.cuda.write(address, zeros.data(), zeros.size());
  EXPECT_EQ(map_or_fail(*pinned).verification, Verification::calibrated);
  EXPECT_EQ(machine.cuda.read(address, size), zeros);
}

TEST_F(DmabufVerification, NeverWritesToTheMemory) {
  const auto content = machine.cuda.read(address, size);
  ASSERT_TRUE(pinned->map(size, MappingType::none));
  EXPECT_EQ(machine.cuda.read(address, size), content);
}

}  // namespace
}  // namespace gdrkit::backend::dmabuf
