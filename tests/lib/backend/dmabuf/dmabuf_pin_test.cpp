// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins and mappings: every kind of memory, one descriptor each, the mapping type, and frees by the owner.
#include <gmock/gmock.h>

#include "lib/backend/dmabuf/dmabuf_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Memory {
  const char* name;
  std::uint64_t (*allocate)(fakes::FakeCuda& cuda);
};

constexpr std::size_t pin_bytes = 192 * kib;
const Memory memories[] = {
    {"Malloc", [](fakes::FakeCuda& cuda) { return cuda.malloc(pin_bytes); }},
    {"SubAllocation",
     [](fakes::FakeCuda& cuda) {
       (void)cuda.malloc(100'000);
       return cuda.malloc(pin_bytes);
     }},
    {"Unaligned", [](fakes::FakeCuda& cuda) { return cuda.malloc(pin_bytes + 12'345) + 12'345; }},
    {"ThreeHandles",
     [](fakes::FakeCuda& cuda) {
       return cuda.vmm({64 * kib, 64 * kib, 64 * kib}, false, 2 * mib);
     }},
    {"InsideAPoolsBlock",
     [](fakes::FakeCuda& cuda) {
       (void)cuda.pool_malloc(3 * mib);
       return cuda.pool_malloc(pin_bytes);
     }},
    {"InsideAPoolsBlockFromItsStart",
     [](fakes::FakeCuda& cuda) {
       cuda.set_cuts_pool_exports(true);
       (void)cuda.pool_malloc(3 * mib);
       return cuda.pool_malloc(pin_bytes);
     }},
};

class DmabufPins : public ::testing::TestWithParam<Memory> {};

TEST_P(DmabufPins, SharesTheMemoryAndHoldsOneDescriptor) {
  DmabufMachine machine;
  const std::uint64_t address = machine.filled(GetParam().allocate(machine.cuda), pin_bytes);
  const auto backend = open_or_fail(machine);
  const auto pin = pin_or_fail(*backend, address, pin_bytes);
  EXPECT_EQ(machine.rm.census().descriptors, 1u);
  EXPECT_EQ(machine.rm.dmabufs_inherited_by_exec(), 0u);
  EXPECT_STRCASEEQ(pin->device().c_str(), machine.rm.gpus()[0].pci().c_str());
  const MappedRegion region = map_or_fail(*pin);
  EXPECT_EQ(region.type, MappingType::write_combining);
  EXPECT_EQ(region.verification, Verification::content);
  EXPECT_EQ(machine.rm.census().descriptors, 1u);
  EXPECT_EQ(machine.rm.vmas_inherited_by_fork(), 0u);
  std::uint8_t* const bytes = rm::own_byte(*pin, region, address);
  EXPECT_EQ(std::memcmp(bytes, machine.cuda.read(address, pin_bytes).data(), pin_bytes), 0);
  for (std::size_t at = 0; at < pin_bytes; at += 1000) bytes[at] = static_cast<std::uint8_t>(at);
  EXPECT_EQ(std::memcmp(bytes, machine.cuda.read(address, pin_bytes).data(), pin_bytes), 0);
  EXPECT_TRUE(tests::succeeded(pin->unmap()));
  EXPECT_EQ(machine.rm.census().vmas, 0u);
  EXPECT_TRUE(tests::succeeded(pin->unpin()));
  EXPECT_EQ(machine.rm.census().descriptors, 0u);
}

INSTANTIATE_TEST_SUITE_P(Dmabuf, DmabufPins, ::testing::ValuesIn(memories),
                         [](const auto& tested) { return tested.param.name; });

class DmabufPinning : public ::testing::Test {
 protected:
  void SetUp() override {
    backend = open_or_fail(machine);
    address = machine.allocate(pin_bytes);
  }
  base::Result<std::unique_ptr<BackendPin>> pin(bool force_pcie) {
    return backend->pin({address, pin_bytes, force_pcie});
  }
  base::Result<MappedRegion> map(MappingType type, bool force_pcie = false) {
    auto pinned = pin(force_pcie);
    if (!pinned) return base::pass(pinned);
    last = std::move(*pinned);
    return last->map(pin_bytes, type);
  }

  DmabufMachine machine;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> last;
  std::uint64_t address = 0;
};

TEST_F(DmabufPinning, RequestsPcieFirstAndOmitsItIfUnsupported) {
  ASSERT_TRUE(pin(false));
  EXPECT_EQ(machine.cuda.last_export_flags(), 0u);
  machine.cuda.is_pcie_export_supported = true;
  ASSERT_TRUE(pin(false));
  EXPECT_EQ(machine.cuda.last_export_flags(), 1u);
}

TEST_F(DmabufPinning, ForcedPcieHasNoFallback) {
  EXPECT_TRUE(tests::failed(pin(true), EOPNOTSUPP, HasSubstr("over PCIe")));
  EXPECT_EQ(machine.rm.census().descriptors, 0u);
  machine.cuda.is_pcie_export_supported = true;
  EXPECT_TRUE(tests::succeeded(pin(true)));
}

class DmabufCoherent : public ::testing::Test {
 protected:
  void SetUp() override {
    machine.cuda.is_pcie_export_supported = true;
    backend = open_or_fail(machine);
  }
  DmabufMachine machine{{}, rm::coherent_gpu()};
  std::unique_ptr<Backend> backend;
};

TEST_F(DmabufCoherent, IsCachedUnlessPcieIsForced) {
  for (const bool is_forced : {false, true}) {
    SCOPED_TRACE(is_forced);
    const std::uint64_t address = machine.cuda.malloc(pin_bytes);
    const auto pin = pin_or_fail(*backend, address, pin_bytes, is_forced);
    EXPECT_EQ(machine.cuda.last_export_flags(), is_forced ? 1u : 0u);
    const auto expected = is_forced ? MappingType::write_combining : MappingType::cached;
    const auto other = is_forced ? MappingType::cached : MappingType::write_combining;
    EXPECT_TRUE(tests::failed(pin->map(pin_bytes, other), EOPNOTSUPP));
    EXPECT_EQ(map_or_fail(*pin).type, expected);
  }
}

TEST_F(DmabufCoherent, MapsTheDeviceAddressUnlessPcieIsForced) {
  machine.cuda.names_host_addresses = true;
  const std::uint64_t address = machine.cuda.malloc_for_cpu(pin_bytes);
  const auto pin = pin_or_fail(*backend, address, pin_bytes);
  EXPECT_EQ(machine.rm.census().descriptors, 0u);
  const MappedRegion mapped = map_or_fail(*pin);
  EXPECT_EQ(mapped.address, reinterpret_cast<void*>(address));
  EXPECT_EQ(mapped.type, MappingType::cached);
  const auto by_pcie = pin_or_fail(*backend, address, pin_bytes, true);
  EXPECT_EQ(machine.rm.census().descriptors, 1u);
  const MappedRegion other = map_or_fail(*by_pcie);
  EXPECT_NE(other.address, mapped.address);
  EXPECT_EQ(other.type, MappingType::write_combining);
}

TEST_F(DmabufPinning, KeepsTheMemoryAfterItsOwnerFreesIt) {
  auto mapped = tests::value_or_throw(map(MappingType::none));
  const auto content = machine.cuda.read(address, pin_bytes);
  auto later = tests::value_or_throw(pin(false));
  machine.cuda.free(address);
  const std::uint8_t* bytes = rm::own_byte(*last, mapped, address);
  EXPECT_EQ(std::memcmp(bytes, content.data(), pin_bytes), 0);
  const auto afterwards = tests::value_or_throw(later->map(pin_bytes, MappingType::none));
  EXPECT_EQ(afterwards.verification, Verification::calibrated) << "CUDA no longer reports on it";
  EXPECT_EQ(std::memcmp(rm::own_byte(*later, afterwards, address), content.data(), pin_bytes), 0);
}

TEST_F(DmabufPinning, ReportsTheSizeOfBar1IfItIsFull) {
  ASSERT_TRUE(pin(false));
  machine.rm.set_dmabuf({ENOMEM, false, false});
  EXPECT_TRUE(tests::failed(map(MappingType::none), ENOMEM,
                            AllOf(HasSubstr("192 KiB"), HasSubstr("262144 MiB"), HasSubstr("resizable BAR"))));
  machine.rm.set_dmabuf({0, false, false});
  machine.cuda.export_result = 2;
  EXPECT_TRUE(tests::failed(pin(false), ENOMEM, HasSubstr("262144 MiB")));
}

}  // namespace
}  // namespace gdrkit::backend::dmabuf
