// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KeptMappings: a small mapping stays in BAR1 between unmap and the next map or unpin, unless another mapping needs its
// space.

#include <cstring>
#include <memory>
#include <vector>

#include "backend/rm/kept_mappings.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

namespace command = fakes::command;

class RmKeptMappings : public ::testing::Test {
 protected:
  std::unique_ptr<BackendPin> pin(std::size_t size_bytes) {
    return pin_or_fail(*backend, machine.allocate(size_bytes), size_bytes);
  }
  void map_and_unmap(BackendPin& pinned, std::size_t size_bytes = 0) {
    const auto region = pinned.map(size_bytes != 0 ? size_bytes : pinned.page_bytes(), MappingType::none);
    ASSERT_TRUE(tests::succeeded(region));
    const auto content = machine.cuda.read(pinned.page_address(), region->size_bytes);
    EXPECT_EQ(std::memcmp(region->address, content.data(), region->size_bytes), 0);
    ASSERT_TRUE(tests::succeeded(pinned.unmap()));
    EXPECT_EQ(machine.rm.census().vmas, 0u);
  }
  [[nodiscard]] std::size_t mappings() const { return machine.rm.census().rm_mappings; }

  RmMachine machine;
  std::unique_ptr<Backend> backend = open_or_fail(machine);
};

TEST_F(RmKeptMappings, MapAgainWithoutTheDriver) {
  const auto pinned = pin(64 * kib);
  map_and_unmap(*pinned);
  const unsigned maps = machine.rm.count_of(command::rm_map);
  const std::size_t descriptors = machine.rm.census().descriptors;
  for (int i = 0; i < 3; ++i) map_and_unmap(*pinned);
  EXPECT_EQ(machine.rm.count_of(command::rm_map), maps);
  EXPECT_EQ(machine.rm.census().descriptors, descriptors);
  EXPECT_TRUE(tests::succeeded(pinned->unpin()));
  EXPECT_EQ(mappings(), 0u);
  EXPECT_EQ(machine.rm.count_of(command::rm_unmap), 0u) << "freeing the object ends its mapping";
}

TEST_F(RmKeptMappings, MapSeveralPiecesAgain) {
  const std::uint64_t address = machine.filled(machine.cuda.vmm({256 * kib, 256 * kib, 256 * kib}, false), 768 * kib);
  const auto pinned = pin_or_fail(*backend, address, 768 * kib);
  map_and_unmap(*pinned);
  EXPECT_EQ(mappings(), 3u);
  map_and_unmap(*pinned);
  EXPECT_EQ(mappings(), 3u);
  EXPECT_TRUE(tests::succeeded(pinned->unpin()));
}

TEST_F(RmKeptMappings, AreReplacedIfTheSizeChanges) {
  const auto pinned = pin(256 * kib);
  map_and_unmap(*pinned, 64 * kib);
  map_and_unmap(*pinned, 256 * kib);
  map_and_unmap(*pinned, 64 * kib);
  EXPECT_EQ(mappings(), 1u);
}

TEST_F(RmKeptMappings, AreFewAndSmall) {
  const auto large = pin(2 * mib);
  map_and_unmap(*large);
  EXPECT_EQ(mappings(), 0u);
  std::vector<std::unique_ptr<BackendPin>> pins;
  for (std::size_t i = 0; i < KeptMappings::most_mappings + 3; ++i) pins.push_back(pin(64 * kib));
  for (const auto& each : pins) map_and_unmap(*each);
  EXPECT_EQ(mappings(), KeptMappings::most_mappings);
  EXPECT_TRUE(tests::succeeded(pins[0]->unpin()));
  map_and_unmap(*pins.back());
  EXPECT_EQ(mappings(), KeptMappings::most_mappings) << "the place of the first one is free again";
}

TEST_F(RmKeptMappings, ReleaseTheirBar1ForAnotherPin) {
  const auto first = pin(1 * mib), second = pin(1 * mib);
  map_and_unmap(*first);
  auto& heap = machine.rm.state().bar1(0);
  heap.occupy(2 * mib, heap.size() - 2 * mib);
  ASSERT_LT(heap.available(), 2 * mib);
  map_and_unmap(*second);
  map_and_unmap(*first);
}

TEST_F(RmKeptMappings, ReleaseTheirDescriptorsForAnotherPin) {
  const auto first = pin(64 * kib), second = pin(64 * kib);
  map_and_unmap(*first);
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors);
  map_and_unmap(*second);
  map_and_unmap(*first);
}

TEST_F(RmKeptMappings, ReleaseTheirDescriptorsForAPin) {
  const auto first = pin(64 * kib);
  map_and_unmap(*first);
  const std::uint64_t address = machine.cuda.malloc(64 * kib);
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors);
  EXPECT_TRUE(tests::succeeded(backend->pin({address, 64 * kib})));
  EXPECT_EQ(mappings(), 0u);
}

TEST_F(RmKeptMappings, EndByRmUnmapIfTheirObjectCannotBeFreed) {
  const auto pinned = pin(64 * kib);
  map_and_unmap(*pinned);
  machine.plan.fail_every("RM_FREE", {0, 0x1f, 0});
  EXPECT_FALSE(pinned->unpin());
  machine.plan.stop();
  EXPECT_EQ(mappings(), 0u);
}

TEST(RmKeptMappingsOfTwoGpus, ReleaseTheirDescriptorsForTheOtherGpu) {
  RmMachine machine(fakes::driver_model("580.159.04"), 2, {.gpus = {0, 1}});
  machine.cuda.activate_primary(1);
  const auto backend = open_or_fail(machine);
  std::vector<std::unique_ptr<BackendPin>> pins;
  for (int device = 0; device < 2; ++device) {
    const std::uint64_t address = machine.filled(machine.cuda.malloc(64 * kib, device), 64 * kib);
    pins.push_back(pin_or_fail(*backend, address, 64 * kib));
  }
  ASSERT_TRUE(tests::succeeded(pins[0]->map(64 * kib, MappingType::none)));
  ASSERT_TRUE(tests::succeeded(pins[0]->unmap()));
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors);
  EXPECT_TRUE(tests::succeeded(pins[1]->map(64 * kib, MappingType::none)));
}

TEST_F(RmKeptMappings, DoNotKeepARejectedMapping) {
  const auto pinned = pin(64 * kib);
  machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
  EXPECT_TRUE(tests::failed(pinned->map(pinned->page_bytes(), MappingType::none), EIO));
  EXPECT_EQ(mappings(), 0u);
  machine.rm.set_mapping_shows(fakes::MappingShows::memory);
  map_and_unmap(*pinned);
}

TEST_F(RmKeptMappings, AreClosedInAForkedChild) {
  const auto pinned = pin(64 * kib);
  map_and_unmap(*pinned);
  const auto end = tests::run_in_child([&] {
    pinned->abandon_after_fork();
    backend->abandon_after_fork();
    return machine.rm.census().descriptors == 0 ? 0 : 1;
  });
  EXPECT_EQ(end.exit_code, 0) << "signal " << end.signal;
  map_and_unmap(*pinned);
}

}  // namespace
}  // namespace gdrkit::backend::rm
