// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::core {
namespace {

using cpu::MappingType;
using testing::HasSubstr;
using tests::any_type;
using tests::errno_of;
using tests::scripted_page_bytes;

class Mapping : public tests::OnScriptedBackend {};

TEST_F(Mapping, StartsAtTheFirstPinnedPage) {
  const Handle handle = pin(scripted_page_bytes + 100, 200);
  const auto info = tests::value_or_throw(map(context, handle, scripted_page_bytes, any_type));
  EXPECT_TRUE(info.is_mapped);
  EXPECT_EQ(info.mapping_address, script.device + scripted_page_bytes);
  EXPECT_EQ(info.mapping_bytes, scripted_page_bytes);
  EXPECT_EQ(info.mapping_type, MappingType::write_combining);
  EXPECT_EQ(info.verification, backend::Verification::content);
  EXPECT_EQ(pin_info(context, handle)->mapping_address, info.mapping_address);
}

TEST_F(Mapping, PassesSizeAndTypeToTheBackend) {
  script.type = MappingType::cached;
  const Handle handle = pin(0, 3 * scripted_page_bytes);
  ASSERT_TRUE(map(context, handle, 5000, MappingType::cached));
  EXPECT_EQ(script.last_map_bytes, 5000u);
  EXPECT_EQ(script.last_map_type, MappingType::cached);
  EXPECT_EQ(pin_info(context, handle)->mapping_bytes, 8192u);
}

TEST_F(Mapping, SecondMapReturnsEagainAndKeepsTheFirst) {
  const Handle handle = mapped_pin();
  EXPECT_EQ(errno_of(map(context, handle, 1, any_type)), EAGAIN);
  EXPECT_EQ(script.map_calls, 1);
  EXPECT_TRUE(pin_info(context, handle)->is_mapped);
}

TEST_F(Mapping, SizeMustFitThePinnedPages) {
  const Handle handle = pin(0, 10);
  EXPECT_EQ(errno_of(map(context, handle, 0, any_type)), EINVAL);
  EXPECT_EQ(errno_of(map(context, handle, scripted_page_bytes + 1, any_type)), EINVAL);
  EXPECT_EQ(errno_of(map(context, handle, SIZE_MAX, any_type)), EINVAL);
  EXPECT_EQ(script.map_calls, 0);
  EXPECT_TRUE(map(context, handle, scripted_page_bytes, any_type));
}

TEST_F(Mapping, FailedMapDoesNotChangeThePin) {
  const Handle handle = pin();
  script.map_error = EOPNOTSUPP;
  EXPECT_TRUE(tests::failed(map(context, handle, 1, MappingType::device), EOPNOTSUPP, "scripted: map fails"));
  EXPECT_FALSE(pin_info(context, handle)->is_mapped);
  script.map_error = 0;
  EXPECT_TRUE(map(context, handle, 1, any_type));
}

TEST_F(Mapping, RejectsInvalidResultsOfTheBackend) {
  const std::function<void(backend::MappedRegion*)> wrong[] = {
      [](backend::MappedRegion* region) { region->address = nullptr; },
      [](backend::MappedRegion* region) { region->address = static_cast<char*>(region->address) + 16; },
      [](backend::MappedRegion* region) { region->size_bytes = 4096; },
      [](backend::MappedRegion* region) { region->size_bytes = 2 * scripted_page_bytes; },
      [](backend::MappedRegion* region) { region->type = MappingType::none; },
  };
  const Handle handle = pin();
  for (const auto& bend : wrong) {
    script.bend_map = bend;
    EXPECT_TRUE(tests::failed(map(context, handle, scripted_page_bytes, any_type), EIO,
                              HasSubstr("'scripted' returned an invalid mapping")));
    EXPECT_EQ(script.mappings, 0);
    EXPECT_FALSE(pin_info(context, handle)->is_mapped);
  }
}

TEST_F(Mapping, KeepsTheFirstErrorIfCleanupFails) {
  const Handle handle = pin();
  script.bend_map = [](backend::MappedRegion* region) { region->type = MappingType::none; };
  script.unmap_error = ENXIO;
  EXPECT_TRUE(
      tests::failed(map(context, handle, 1, any_type), EIO, HasSubstr("'scripted' returned an invalid mapping")));
}

TEST_F(Mapping, CanBeMappedAgainAfterUnmap) {
  const Handle handle = mapped_pin();
  EXPECT_TRUE(unmap(context, handle));
  EXPECT_EQ(script.mappings, 0);
  EXPECT_EQ(errno_of(unmap(context, handle)), EINVAL);
  const base::Result<PinInfo> info = pin_info(context, handle);
  EXPECT_FALSE(info->is_mapped);
  EXPECT_EQ(info->mapping_address, nullptr);
  EXPECT_EQ(info->verification, backend::Verification::none);
  EXPECT_TRUE(map(context, handle, 1, any_type));
}

TEST_F(Mapping, UnmapRequiresAMapping) {
  EXPECT_EQ(errno_of(unmap(context, pin())), EINVAL);
  EXPECT_EQ(script.unmap_calls, 0);
}

TEST_F(Mapping, UnmapChecksTheExpectedAddress) {
  const Handle handle = mapped_pin();
  EXPECT_EQ(errno_of(unmap(context, handle, script.device + 4096)), EINVAL);
  EXPECT_TRUE(pin_info(context, handle)->is_mapped);
  EXPECT_TRUE(unmap(context, handle, script.device));
}

TEST_F(Mapping, RejectsCopiesBeforeTheBackendUnmaps) {
  const Handle handle = mapped_pin();
  int copied = 0;
  std::uint8_t byte = 1;
  script.on_unmap = [&] { copied = core::write(handle, 0, &byte, 1); };
  EXPECT_TRUE(unmap(context, handle));
  EXPECT_EQ(copied, EINVAL);
}

TEST_F(Mapping, FailedUnmapPreventsFurtherMaps) {
  const Handle handle = mapped_pin();
  script.unmap_error = EIO;
  EXPECT_EQ(errno_of(unmap(context, handle)), EIO);
  EXPECT_FALSE(pin_info(context, handle)->is_mapped);
  EXPECT_EQ(errno_of(unmap(context, handle)), EINVAL);
  script.unmap_error = 0;
  EXPECT_TRUE(tests::failed(map(context, handle, 1, any_type), EIO, HasSubstr("unpin the memory")));
  EXPECT_TRUE(unpin(context, handle));
  EXPECT_EQ(errno_of(map(context, mapped_pin(), 1, any_type)), EAGAIN);
}

}  // namespace
}  // namespace gdrkit::core
