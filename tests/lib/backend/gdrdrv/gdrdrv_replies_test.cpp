// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A module that returns invalid replies: every used value is validated, and a pin that differs from the request is
// unpinned.
#include <gmock/gmock.h>

#include <cstring>

#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

constexpr unsigned info_number = 5;

struct InvalidField {
  const char* name;
  std::size_t offset;
  std::uint64_t value;
  std::size_t width;
};
void PrintTo(const InvalidField& field, std::ostream* out) { *out << field.name; }

void apply(const InvalidField& field, void* argument) {
  std::memcpy(static_cast<std::uint8_t*>(argument) + field.offset, &field.value, field.width);
}

class InvalidPinReply : public ::testing::TestWithParam<InvalidField> {};

TEST_P(InvalidPinReply, IsRejectedAndThePinReleased) {
  GdrdrvMachine machine;
  const auto memory = machine.allocate(3 * gpu_page);
  const auto backend = open_or_fail(machine);
  machine.module.bend = [](unsigned number, void* argument) {
    if (number == info_number) apply(GetParam(), argument);
  };
  EXPECT_TRUE(tests::failed(backend->pin({memory.address(), gpu_page + 1}), EIO,
                            ::testing::HasSubstr("the gdrdrv kernel module reports a different pin")));
  EXPECT_EQ(machine.module.census().pins, 0u);
  machine.module.bend = nullptr;
  EXPECT_NE(pin_or_fail(*backend, memory.address(), gpu_page), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Info, InvalidPinReply,
    ::testing::Values(InvalidField{"OtherAddress", 8, 0x7000'0000, 8}, InvalidField{"NoAddress", 8, 0, 8},
                      InvalidField{"OnePage", 16, gpu_page, 8}, InvalidField{"ThreePages", 16, 3 * gpu_page, 8},
                      InvalidField{"NoPages", 16, 0, 8}, InvalidField{"WholeAddressSpace", 16, UINT64_MAX, 8},
                      InvalidField{"SmallPages", 24, 4096, 4}, InvalidField{"LargePages", 24, 131'072, 4},
                      InvalidField{"NoPageSize", 24, 0, 4}, InvalidField{"MappedAlready", 40, 1, 4}),
    [](const auto& tested) { return tested.param.name; });

// mmap with an offset that overflows would map other memory, or nothing.
TEST(GdrdrvReplies, RejectsHandlesBeyondTheOffsetRange) {
  for (const std::uint64_t handle :
       {UINT64_MAX, UINT64_MAX / 4096, std::uint64_t{INT64_MAX} / 4096, std::uint64_t{INT64_MAX} / 4096 - 16 + 1}) {
    GdrdrvMachine machine({.first_handle = handle});
    const auto memory = machine.allocate(gpu_page);
    const auto backend = open_or_fail(machine);
    EXPECT_TRUE(tests::failed(backend->pin({memory.address(), 1}), EIO)) << handle;
    EXPECT_EQ(machine.module.census().pins, 0u);
  }
}

class InvalidMappingReply : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(InvalidMappingReply, IsRejectedAndUnmapped) {
  PinnedMachine machine;
  machine.module.bend = [](unsigned number, void* argument) {
    if (number == info_number) apply({"Type", 40, GetParam(), 4}, argument);
  };
  EXPECT_TRUE(tests::failed(machine.pin->map(gpu_page, MappingType::none), EIO, ::testing::HasSubstr("mapping type")));
  EXPECT_EQ(machine.module.census().vmas, 0u);
  machine.module.bend = nullptr;
  EXPECT_NE(map_or_fail(*machine.pin).address, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Types, InvalidMappingReply, ::testing::Values(0u, 4u, 256u, 257u, 0xffff'ffffu));

// The module ignores the request: the mapping differs from the requested one.
TEST(GdrdrvReplies, RejectsAndUnmapsAMappingOfAnotherType) {
  for (const std::uint32_t version : {0x0002'0000u, 0x0002'0004u, 0x0002'0006u}) {
    fakes::GdrdrvModel model = model_of(version);
    model.types = {1, 2};
    PinnedMachine machine(model);
    machine.module.bend = [version](unsigned number, void* argument) {
      if (version >= 0x0002'0005 && number == info_number) apply({"Type", 40, 1, 4}, argument);
    };
    EXPECT_TRUE(tests::failed(machine.pin->map(gpu_page, MappingType::cached), EOPNOTSUPP)) << version;
    EXPECT_EQ(machine.module.census().vmas, 0u);
    EXPECT_EQ(map_or_fail(*machine.pin, MappingType::write_combining).type, MappingType::write_combining);
  }
}

// Before 2.4, the module had two kinds of mapping without numbers.
TEST(GdrdrvReplies, DistinguishesCachedFromWriteCombiningForOldModules) {
  for (const std::uint32_t type : {1u, 2u}) {
    fakes::GdrdrvModel model = model_of(0x0002'0003);
    model.types = {type};
    PinnedMachine machine(model);
    EXPECT_EQ(map_or_fail(*machine.pin).type, static_cast<MappingType>(type));
  }
}

TEST(GdrdrvReplies, TreatsInvalidAttributesAsUnsupported) {
  GdrdrvMachine machine;
  machine.module.bend = [](unsigned number, void* argument) {
    if (number == 6) apply({"Value", 4, 7, 4}, argument);
  };
  const auto backend = open_or_fail(machine);
  EXPECT_FALSE(backend->traits().is_persistent);
  EXPECT_FALSE(backend->traits().supports_force_pcie);
}

TEST(GdrdrvReplies, TreatsEveryNonzeroFlagAsInvalidated) {
  PinnedMachine machine;
  EXPECT_FALSE(machine.pin->is_invalidated());
  machine.module.bend = [](unsigned number, void* argument) {
    if (number == 3) apply({"Flag", 8, 0x8000'0000, 4}, argument);
  };
  EXPECT_TRUE(machine.pin->is_invalidated());
  machine.module.bend = nullptr;
  EXPECT_TRUE(machine.pin->is_invalidated()) << "a pin stays invalidated";
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
