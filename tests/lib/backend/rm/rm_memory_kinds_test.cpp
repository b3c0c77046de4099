// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every supported kind of CUDA memory: the mapping refers to the user's memory, and all resources are released.
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

struct Kind {
  const char* name;
  std::size_t size_bytes;
  std::uint64_t (*allocate)(fakes::FakeCuda& cuda);
  std::uint64_t from = 0;  ///< offset of the pin in the allocation
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

const Kind kinds[] = {
    {"Large", 4 * mib, [](fakes::FakeCuda& cuda) { return cuda.malloc(4 * mib); }},
    {"SmallFirstOfItsBlock", 4096, [](fakes::FakeCuda& cuda) { return cuda.malloc(4096); }},
    {"SubAllocation", 100000,
     [](fakes::FakeCuda& cuda) {
       (void)cuda.malloc(4096);
       return cuda.malloc(100000);
     }},
    {"OneByte", 1, [](fakes::FakeCuda& cuda) { return cuda.malloc(1); }},
    {"UnalignedInside", 2 * mib + 77, [](fakes::FakeCuda& cuda) { return cuda.malloc(4 * mib); }, 0x1234},
    {"VmmExportable", 2 * mib, [](fakes::FakeCuda& cuda) { return cuda.vmm({2 * mib}, true); }},
    {"VmmNotExportable", 2 * mib, [](fakes::FakeCuda& cuda) { return cuda.vmm({2 * mib}, false, 10 * mib); }},
    {"VmmOfThreeHandles", 6 * mib,
     [](fakes::FakeCuda& cuda) {
       return cuda.vmm({2 * mib, 2 * mib, 2 * mib}, true, 16 * mib);
     }},
    {"VmmFromTheMiddleOfTheSecondHandle", 3 * mib - 100,
     [](fakes::FakeCuda& cuda) {
       return cuda.vmm({2 * mib, 2 * mib, 2 * mib}, false, 16 * mib);
     },
     3 * mib + 50},
    {"VmmOf130Handles", 260 * mib,
     [](fakes::FakeCuda& cuda) { return cuda.vmm(std::vector<std::uint64_t>(130, 2 * mib), false); }},
    {"PoolFirstOfItsBlock", 4096, [](fakes::FakeCuda& cuda) { return cuda.pool_malloc(4096); }},
    {"PoolInsideABlock", 5 * mib,
     [](fakes::FakeCuda& cuda) {
       (void)cuda.pool_malloc(4096);
       return cuda.pool_malloc(5 * mib);
     }},
    {"PoolFarInsideABlock", 64 * kib,
     [](fakes::FakeCuda& cuda) {
       (void)cuda.pool_malloc(20 * mib);
       return cuda.pool_malloc(64 * kib);
     }},
    {"PoolOverFourBlocks", 100 * mib,
     [](fakes::FakeCuda& cuda) {
       (void)cuda.pool_malloc(5 * mib);
       return cuda.pool_malloc(100 * mib);
     }},
    {"PoolWhoseBlockStartIsFree", 64 * kib,
     [](fakes::FakeCuda& cuda) {
       const std::uint64_t first = cuda.pool_malloc(8 * mib);
       const std::uint64_t second = cuda.pool_malloc(64 * kib);
       cuda.free(first);
       return second;
     }},
    {"ExportablePool", 2 * mib, [](fakes::FakeCuda& cuda) { return cuda.pool_malloc(2 * mib, true); }},
    {"UnderASubdevice", 4 * mib,
     [](fakes::FakeCuda& cuda) {
       cuda.is_memory_under_subdevice = true;
       return cuda.malloc(4 * mib);
     }},
};

class RmMemoryKind : public ::testing::TestWithParam<Kind> {};

TEST_P(RmMemoryKind, IsMappedAndVerified) {
  RmMachine machine;
  const Kind& kind = GetParam();
  const std::uint64_t address = machine.filled(kind.allocate(machine.cuda) + kind.from, kind.size_bytes);
  const auto before = machine.cuda.read(address, kind.size_bytes);
  auto backend = open_or_fail(machine);
  auto pin = pin_or_fail(*backend, address, kind.size_bytes);
  EXPECT_LE(pin->page_address(), address);
  EXPECT_EQ(pin->page_address() % backend->traits().page_size_bytes, 0u);
  EXPECT_GE(pin->page_address() + pin->page_bytes(), address + kind.size_bytes);
  EXPECT_EQ(pin->device(), machine.rm.gpus()[0].pci());
  const MappedRegion region = map_or_fail(*pin);
  EXPECT_EQ(region.type, MappingType::write_combining);
  EXPECT_EQ(region.verification, kind.size_bytes >= 128 ? Verification::content : Verification::calibrated);
  auto* own = own_byte(*pin, region, address);
  EXPECT_EQ(std::memcmp(own, before.data(), kind.size_bytes), 0) << "the mapping refers to other memory";
  EXPECT_EQ(machine.cuda.read(address, kind.size_bytes), before) << "pin or map wrote to the user's memory";
  std::memset(own, 0x5a, kind.size_bytes);
  EXPECT_EQ(machine.cuda.read(address, kind.size_bytes), std::vector<std::uint8_t>(kind.size_bytes, 0x5a));
  EXPECT_EQ(machine.rm.vmas_inherited_by_fork(), 0u);
  EXPECT_TRUE(pin->unmap());
  EXPECT_TRUE(pin->unpin());
}

TEST_P(RmMemoryKind, IsReleasedByTheDestructors) {
  RmMachine machine;
  const std::uint64_t address = GetParam().allocate(machine.cuda) + GetParam().from;
  auto backend = open_or_fail(machine);
  auto pin = pin_or_fail(*backend, address, GetParam().size_bytes);
  (void)map_or_fail(*pin);
}

INSTANTIATE_TEST_SUITE_P(Rm, RmMemoryKind, ::testing::ValuesIn(kinds),
                         [](const auto& tested) { return tested.param.name; });

class RmPin : public OnRmMachine {
 protected:
  static constexpr std::size_t size = 4 * mib;
};

TEST_F(RmPin, CanBeMappedRepeatedly) {
  pin(machine.allocate(size), size);
  for (int round = 0; round < 3; ++round) {
    const MappedRegion region = map_or_fail(*pinned);
    EXPECT_EQ(std::memcmp(region.address, machine.cuda.read(address, size).data(), size), 0);
    ASSERT_TRUE(pinned->unmap());
    EXPECT_EQ(machine.rm.census(), census);
  }
}

TEST_F(RmPin, MapsAPrefixOfItsPages) {
  pin(machine.filled(machine.cuda.vmm({2 * mib, 2 * mib}, false), size), size);
  for (const std::size_t requested :
       {std::size_t{1}, std::size_t{4097}, std::size_t{2 * mib}, std::size_t{2 * mib + 4096}}) {
    auto mapped = tests::value_or_throw(pinned->map(requested, MappingType::write_combining));
    EXPECT_EQ(mapped.size_bytes, (requested + 4095) / 4096 * 4096);
    EXPECT_EQ(std::memcmp(mapped.address, machine.cuda.read(address, requested).data(), requested), 0);
    ASSERT_TRUE(pinned->unmap());
  }
}

TEST_F(RmPin, KeepsTheMemoryAliveAfterItsOwnerFreedIt) {
  pin(machine.allocate(size), size);
  const auto content = machine.cuda.read(address, size);
  const auto memory = machine.cuda.memory_at(address);
  const MappedRegion region = map_or_fail(*pinned);
  machine.cuda.free(address);
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(std::memcmp(region.address, content.data(), content.size()), 0);
  EXPECT_FALSE(pinned->is_invalidated());
  EXPECT_TRUE(pinned->unpin());
  EXPECT_TRUE(memory.expired()) << "the GPU memory is still held";
}

TEST_F(RmPin, CanBeMappedAfterItsOwnerFreedTheMemory) {
  pin(machine.allocate(size), size);
  const auto content = machine.cuda.read(address, size);
  machine.cuda.free(address);
  const MappedRegion region = map_or_fail(*pinned);
  EXPECT_EQ(std::memcmp(region.address, content.data(), content.size()), 0);
  EXPECT_NE(region.verification, Verification::content);
}

}  // namespace
}  // namespace gdrkit::backend::rm
