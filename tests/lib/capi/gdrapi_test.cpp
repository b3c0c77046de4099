// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The drop-in face on the emulated device, through the shared library: what callers of the original rely on.
#include "gdrapi.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gdrkit/gdrkit.h"
#include "lib/capi/emulated_fixture.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

// The binary symbol of API 2.3 and before; in source code the name is a macro for the newer function.
struct InfoV1 {
  std::uint64_t va, mapped_size;
  std::uint32_t page_size;
  std::uint64_t tm_cycles;
  std::uint32_t cycles_per_ms;
  unsigned mapped : 1, wc_mapping : 1;
};
extern "C" int gdr_get_info_v1(gdr_t, gdr_mh_t, InfoV1*) __asm__("gdr_get_info");

namespace gdrkit::tests {
namespace {

class Gdrapi : public OnEmulatedDevice {
 protected:
  void SetUp() override {
    OnEmulatedDevice::SetUp();
    g = gdr_open();
    ASSERT_NE(g, nullptr) << errno;
  }
  void TearDown() override {
    if (g != nullptr) {
      EXPECT_EQ(gdr_close(g), 0);
    }
    OnEmulatedDevice::TearDown();
  }

  gdr_mh_t pin(std::size_t offset = 0, std::size_t size = gpu_page) {
    gdr_mh_t handle{};
    EXPECT_EQ(gdr_pin_buffer(g, memory + offset, size, 0, 0, &handle), 0);
    return handle;
  }
  gdr_mh_t mapped_pin(std::size_t offset = 0, std::size_t size = gpu_page) {
    const gdr_mh_t handle = pin(offset, size);
    EXPECT_EQ(gdr_map(g, handle, &va, size), 0);
    return handle;
  }
  gdr_info_t info_of(gdr_mh_t handle) {
    gdr_info_t info{};
    EXPECT_EQ(gdr_get_info(g, handle, &info), 0);
    return info;
  }

  gdr_t g = nullptr;
  void* va = nullptr;
};

TEST_F(Gdrapi, CopiesInBothDirectionsThroughTheMapping) {
  const gdr_mh_t handle = mapped_pin(gpu_page, 2 * gpu_page);
  auto* const mapping = static_cast<std::uint8_t*>(va);
  std::uint64_t seed = 2;
  for (const std::size_t size : {1U, 3U, 8U, 100U, 4096U, 65537U}) {
    for (const std::size_t offset : {0U, 1U, 4U, 1023U}) {
      const std::vector<std::uint8_t> source = make_pattern(size, seed++);
      ASSERT_EQ(gdr_copy_to_mapping(handle, mapping + offset, source.data(), size), 0);
      std::memcpy(&expected[gpu_page + offset], source.data(), size);
      std::vector<std::uint8_t> target(size);
      ASSERT_EQ(gdr_copy_from_mapping(handle, target.data(), mapping + offset, size), 0);
      ASSERT_EQ(target, source);
    }
  }
  expect_device_as_expected();
  EXPECT_EQ(gdr_unmap(g, handle, va, 2 * gpu_page), 0);
  EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
}

TEST_F(Gdrapi, UsesTheEngineOfTheVariable) {
  ASSERT_EQ(gdr_close(g), 0);
  struct Case {
    const char* variable;
    const char* value;
    int result;
  };
  // The emulated device has no GPU that copies: "automatic" is the CPU there, and a named engine cannot run.
  for (const Case& each :
       {Case{"GDRKIT_DROPIN_ENGINE", "automatic", 0}, Case{"GDRKIT_DROPIN_ENGINE", "cpu", 0},
        Case{"GDRKIT_DROPIN_ENGINE", "mover", EOPNOTSUPP}, Case{"GDRKIT_DROPIN_ENGINE", "abacus", EINVAL},
        Case{"GDRKIT_DROPIN_ENGINE", "auto", EINVAL}, Case{"GDRKIT_ENGINE", "mover", 0}}) {
    ::setenv(each.variable, each.value, 1);
    g = gdr_open();
    ::unsetenv(each.variable);
    ASSERT_NE(g, nullptr) << errno;
    const gdr_mh_t handle = pin();
    ASSERT_EQ(gdr_map(g, handle, &va, gpu_page), each.result) << each.variable << " " << each.value;
    if (each.result == 0) {
      std::vector<std::uint8_t> target(5000);
      EXPECT_EQ(gdr_copy_from_mapping(handle, target.data(), va, target.size()), 0);
      EXPECT_EQ(std::memcmp(target.data(), expected.data(), target.size()), 0);
    }
    ASSERT_EQ(gdr_close(g), 0);
  }
  g = nullptr;
}

TEST_F(Gdrapi, InfoReflectsMapAndUnmap) {
  const gdr_mh_t handle = pin(gpu_page, 100);
  gdr_info_t info = info_of(handle);
  EXPECT_EQ(info.va, memory + gpu_page);
  EXPECT_EQ(info.mapped_size, gpu_page);
  EXPECT_EQ(info.page_size, gpu_page);
  EXPECT_EQ(info.mapped, 0u);
  EXPECT_EQ(info.wc_mapping, 0u);
  EXPECT_EQ(info.mapping_type, GDR_MAPPING_TYPE_NONE);
  ASSERT_EQ(gdr_map(g, handle, &va, 100), 0);
  info = info_of(handle);
  EXPECT_EQ(info.va, memory + gpu_page);
  EXPECT_EQ(info.mapped_size, gpu_page);
  EXPECT_EQ(info.mapped, 1u);
  EXPECT_EQ(info.wc_mapping, 1u);
  EXPECT_EQ(info.mapping_type, GDR_MAPPING_TYPE_WC);
  EXPECT_EQ(*static_cast<std::uint8_t*>(va), expected[gpu_page]);
  ASSERT_EQ(gdr_unmap(g, handle, va, 100), 0);
  EXPECT_EQ(info_of(handle).mapped, 0u);
  EXPECT_EQ(info_of(handle).mapping_type, GDR_MAPPING_TYPE_NONE);
}

TEST_F(Gdrapi, OldInfoSymbolWritesFortyBytes) {
  const gdr_mh_t handle = mapped_pin();
  unsigned char bytes[64];
  std::memset(bytes, 0xA5, sizeof bytes);
  InfoV1 info;
  ASSERT_EQ(gdr_get_info_v1(g, handle, reinterpret_cast<InfoV1*>(bytes)), 0);
  for (std::size_t i = 40; i < sizeof bytes; ++i) EXPECT_EQ(bytes[i], 0xA5) << i;
  std::memcpy(&info, bytes, sizeof info);
  EXPECT_EQ(info.va, memory);
  EXPECT_EQ(info.mapped_size, gpu_page);
  EXPECT_EQ(info.page_size, gpu_page);
  EXPECT_EQ(info.mapped, 1u);
  EXPECT_EQ(info.wc_mapping, 1u);
}

TEST_F(Gdrapi, PinsButDoesNotMapUnalignedAddresses) {
  const gdr_mh_t handle = pin(gpu_page + 8, 16);
  EXPECT_EQ(info_of(handle).va, memory + gpu_page);
  EXPECT_EQ(info_of(handle).mapped_size, gpu_page);
  EXPECT_EQ(gdr_map(g, handle, &va, 16), EINVAL);
  EXPECT_EQ(gdr_map(g, handle, &va, gpu_page), EINVAL);
  EXPECT_EQ(va, nullptr);
  const gdr_mh_t across = pin(gpu_page - 8, 16);
  EXPECT_EQ(info_of(across).va, memory);
  EXPECT_EQ(info_of(across).mapped_size, 2 * gpu_page);
}

TEST_F(Gdrapi, PinsOnePageForZeroUnalignedBytes) {
  EXPECT_EQ(info_of(pin(gpu_page + 4, 0)).mapped_size, gpu_page);
  gdr_mh_t handle{42};
  EXPECT_EQ(gdr_pin_buffer(g, memory, 0, 0, 0, &handle), EINVAL);
  EXPECT_EQ(handle.h, 42u);
}

TEST_F(Gdrapi, IgnoresTokensAndUnknownPinFlags) {
  gdr_mh_t handle{};
  EXPECT_EQ(gdr_pin_buffer(g, memory, gpu_page, 0x1234, 0x5678, &handle), 0);
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, 0xF0, &handle), 0);
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, 0xFFFFFFFE, &handle), 0);
}

TEST_F(Gdrapi, RejectsTheUnsupportedForcePcieFlag) {
  gdr_mh_t handle{};
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, GDR_PIN_FLAG_FORCE_PCIE, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, 0xF1, &handle), EINVAL);
  int value = -1;
  EXPECT_EQ(gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
  EXPECT_EQ(value, 0);
}

TEST_F(Gdrapi, PinsTheSameRangeTwice) {
  const gdr_mh_t first = mapped_pin();
  void* const first_va = va;
  const gdr_mh_t second = mapped_pin();
  EXPECT_NE(first.h, second.h);
  EXPECT_NE(first_va, va);
  EXPECT_EQ(gdr_unpin_buffer(g, first), 0);
  const std::uint8_t byte = static_cast<std::uint8_t>(~expected[5]);
  EXPECT_EQ(gdr_copy_to_mapping(second, static_cast<char*>(va) + 5, &byte, 1), 0);
  expected[5] = byte;
  expect_device_as_expected();
}

TEST_F(Gdrapi, ReturnsEinvalForMemoryThatCannotBePinned) {
  gdr_mh_t handle{42};
  EXPECT_EQ(gdr_pin_buffer(g, 0, gpu_page, 0, 0, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer(g, memory, SIZE_MAX, 0, 0, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer(g, UINT64_MAX - 1, 10, 0, 0, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer(g, memory, memory_bytes + gpu_page, 0, 0, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer(g, reinterpret_cast<std::uintptr_t>(&handle), 4, 0, 0, &handle), EINVAL);
  for (const driver::EmulatedKind kind : {driver::EmulatedKind::managed, driver::EmulatedKind::host}) {
    const auto other = value_or_throw(driver::emulated_allocate(gpu_page, kind));
    EXPECT_EQ(gdr_pin_buffer(g, other, gpu_page, 0, 0, &handle), EINVAL);
    EXPECT_TRUE(driver::emulated_free(other));
    EXPECT_EQ(gdr_pin_buffer(g, other, gpu_page, 0, 0, &handle), EINVAL);  // freed
  }
  EXPECT_EQ(handle.h, 42u);
}

TEST_F(Gdrapi, MapsAtLeastOneByteAndAtMostThePin) {
  const gdr_mh_t handle = pin(0, 100);
  EXPECT_EQ(gdr_map(g, handle, &va, 0), EINVAL);
  EXPECT_EQ(gdr_map(g, handle, &va, gpu_page + 1), EINVAL);
  EXPECT_EQ(va, nullptr);
  ASSERT_EQ(gdr_map(g, handle, &va, 10), 0);
  std::uint8_t byte = 0;
  EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, static_cast<char*>(va) + 4095, 1), 0);
  EXPECT_EQ(byte, expected[4095]);
  EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, static_cast<char*>(va) + 4096, 1), EINVAL);
}

TEST_F(Gdrapi, SecondMapReturnsEagainAndChecksFlags) {
  const gdr_mh_t handle = pin();
  for (const int flags : {-1, 4, 5, 1 << 30}) EXPECT_EQ(gdr_map_v2(g, handle, &va, gpu_page, flags), EINVAL) << flags;
  EXPECT_EQ(gdr_map_v2(g, handle, &va, gpu_page, GDR_MAP_FLAG_REQ_CACHE_MAPPING), EOPNOTSUPP);
  EXPECT_EQ(gdr_map_v2(g, handle, &va, gpu_page, GDR_MAP_FLAG_REQ_DEVICE_MAPPING), EOPNOTSUPP);
  EXPECT_EQ(va, nullptr);
  ASSERT_EQ(gdr_map_v2(g, handle, &va, gpu_page, GDR_MAP_FLAG_REQ_WC_MAPPING), 0);
  void* const first = va;
  EXPECT_EQ(gdr_map(g, handle, &va, gpu_page), EAGAIN);
  EXPECT_EQ(va, first);
}

TEST_F(Gdrapi, UnmapRequiresTheExactAddressAndANonzeroSize) {
  for (const std::size_t size : {std::size_t{1}, gpu_page / 2, gpu_page, 100 * gpu_page}) {
    const gdr_mh_t handle = mapped_pin();
    EXPECT_EQ(gdr_unmap(g, handle, nullptr, size), EINVAL);
    EXPECT_EQ(gdr_unmap(g, handle, va, 0), EINVAL);
    EXPECT_EQ(gdr_unmap(g, handle, static_cast<char*>(va) + 4096, size), EINVAL);
    EXPECT_EQ(gdr_unmap(g, handle, device, size), EINVAL);
    EXPECT_EQ(info_of(handle).mapped, 1u);
    EXPECT_EQ(gdr_unmap(g, handle, va, size), 0);
    EXPECT_EQ(gdr_unmap(g, handle, va, size), EINVAL);
    EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
  }
}

TEST_F(Gdrapi, UnpinWhileMappedAndCloseWithLiveHandlesSucceed) {
  EXPECT_EQ(gdr_unpin_buffer(g, mapped_pin()), 0);
  const gdr_mh_t left = mapped_pin();
  EXPECT_EQ(gdr_close(g), 0);
  std::uint8_t byte = 0;
  EXPECT_EQ(gdr_copy_from_mapping(left, &byte, va, 1), EINVAL);
  EXPECT_EQ(gdr_close(g), EINVAL);
  g = nullptr;
}

TEST_F(Gdrapi, MappedMemoryStaysReadableAfterItsFree) {
  const auto other = value_or_throw(driver::emulated_allocate(gpu_page, driver::EmulatedKind::device));
  std::memset(reinterpret_cast<void*>(other), 0x77, gpu_page);
  gdr_mh_t handle{};
  ASSERT_EQ(gdr_pin_buffer(g, other, gpu_page, 0, 0, &handle), 0);
  ASSERT_EQ(gdr_map(g, handle, &va, gpu_page), 0);
  EXPECT_TRUE(driver::emulated_free(other));
  std::uint8_t byte = 0;
  EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, va, 1), 0);
  EXPECT_EQ(byte, 0x77);
  int flag = -1;
  EXPECT_EQ(gdr_get_callback_flag(g, handle, &flag), 0);
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(gdr_unmap(g, handle, va, gpu_page), 0);
  EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
}

TEST_F(Gdrapi, ReportsVersion26WithoutAModule) {
  int major = 0;
  int minor = 0;
  gdr_runtime_get_version(&major, &minor);
  EXPECT_EQ(major, 2);
  EXPECT_EQ(minor, 6);
  gdr_runtime_get_version(nullptr, nullptr);
  major = minor = 0;
  EXPECT_EQ(gdr_driver_get_version(g, &major, &minor), 0);
  EXPECT_EQ(major, 2);
  EXPECT_EQ(minor, 6);
}

TEST_F(Gdrapi, ReturnsAttributesAndZeroForUnknownOnes) {
  int value = -1;
  EXPECT_EQ(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
  EXPECT_EQ(value, 0);
  for (const unsigned unknown : {0u, 4u, 99u, ~0u}) {
    value = -1;
    gdr_attr_t attribute{};
    std::memcpy(&attribute, &unknown, sizeof attribute);
    EXPECT_EQ(gdr_get_attribute(g, attribute, &value), EINVAL) << unknown;
    EXPECT_EQ(value, 0) << unknown;
  }
}

TEST_F(Gdrapi, ReportsMappingTypes) {
  const char* text = nullptr;
  for (const auto& [type, name] : {std::pair{GDR_MAPPING_TYPE_NONE, "None"},
                                   {GDR_MAPPING_TYPE_WC, "Write Combining"},
                                   {GDR_MAPPING_TYPE_CACHING, "Caching"},
                                   {GDR_MAPPING_TYPE_DEVICE, "Device"}}) {
    EXPECT_EQ(gdr_get_mapping_type_string(type, &text), 0) << name;
    EXPECT_STREQ(text, name);
  }
  for (const unsigned unknown : {4u, 5u, ~0u}) {
    gdr_mapping_type_t type{};
    std::memcpy(&type, &unknown, sizeof type);
    EXPECT_EQ(gdr_get_mapping_type_string(type, &text), EINVAL);
  }
  EXPECT_STREQ(text, "Device");
  EXPECT_EQ(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_WC, nullptr), EINVAL);
}

TEST_F(Gdrapi, NullOutputPointersReturnEinval) {
  const gdr_mh_t handle = pin();
  int value = 0;
  EXPECT_EQ(gdr_pin_buffer(g, memory, gpu_page, 0, 0, nullptr), EINVAL);
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, 0, nullptr), EINVAL);
  EXPECT_EQ(gdr_get_callback_flag(g, handle, nullptr), EINVAL);
  EXPECT_EQ(gdr_get_info_v2(g, handle, nullptr), EINVAL);
  EXPECT_EQ(gdr_get_info_v1(g, handle, nullptr), EINVAL);
  EXPECT_EQ(gdr_map(g, handle, nullptr, gpu_page), EINVAL);
  EXPECT_EQ(gdr_map_v2(g, handle, nullptr, gpu_page, 0), EINVAL);
  EXPECT_EQ(gdr_driver_get_version(g, nullptr, &value), EINVAL);
  EXPECT_EQ(gdr_driver_get_version(g, &value, nullptr), EINVAL);
  EXPECT_EQ(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, nullptr), EINVAL);
  EXPECT_EQ(info_of(handle).mapped, 0u);
}

/// Handles that are none: what each is called, the value, and how it came to be.
class GdrapiBadHandle : public Gdrapi, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    Gdrapi::SetUp();
    good_pin = mapped_pin();
    const std::string& kind = GetParam();
    if (kind == "null") return;
    if (kind == "one") bad_context = bad_pin = 1;
    if (kind == "all_ones") bad_context = bad_pin = ~0UL;
    if (kind == "pointer") bad_context = bad_pin = reinterpret_cast<unsigned long>(this);
    if (kind == "neighbour") bad_context = reinterpret_cast<unsigned long>(g) ^ 1, bad_pin = good_pin.h ^ 1;
    if (kind == "swapped") bad_context = good_pin.h, bad_pin = reinterpret_cast<unsigned long>(g);
    if (kind == "stale") make_stale();
    if (kind == "foreign") make_foreign();
  }
  void TearDown() override {
    if (foreign.value != 0) {
      EXPECT_EQ(gdrkit_close(foreign), 0);
    }
    Gdrapi::TearDown();
  }

  void make_stale() {
    gdr_t other = gdr_open();
    bad_context = reinterpret_cast<unsigned long>(other);
    EXPECT_EQ(gdr_close(other), 0);
    const gdr_mh_t gone = pin();
    bad_pin = gone.h;
    EXPECT_EQ(gdr_unpin_buffer(g, gone), 0);
  }
  /// Live handles of the other library in this process.
  void make_foreign() {
    gdrkit_pin_t foreign_pin{};
    ASSERT_EQ(gdrkit_open(nullptr, &foreign), 0);
    ASSERT_EQ(gdrkit_pin(foreign, memory, gpu_page, &foreign_pin), 0);
    void* address = nullptr;
    ASSERT_EQ(gdrkit_map(foreign_pin, nullptr, &address), 0);
    bad_context = foreign.value;
    bad_pin = foreign_pin.value;
  }

  gdr_mh_t good_pin{};
  unsigned long bad_context = 0;
  unsigned long bad_pin = 0;
  gdrkit_context_t foreign{};
};

TEST_P(GdrapiBadHandle, EveryFunctionRejectsAnInvalidContext) {
  gdr_t const bad = reinterpret_cast<gdr_t>(bad_context);
  gdr_mh_t out{42};
  int value = 42;
  void* address = nullptr;
  gdr_info_v2_t info{};
  InfoV1 old_info{};
  EXPECT_EQ(gdr_close(bad), EINVAL);
  EXPECT_EQ(gdr_pin_buffer(bad, memory, gpu_page, 0, 0, &out), EINVAL);
  EXPECT_EQ(gdr_pin_buffer_v2(bad, memory, gpu_page, 0, &out), EINVAL);
  EXPECT_EQ(gdr_unpin_buffer(bad, good_pin), EINVAL);
  EXPECT_EQ(gdr_get_callback_flag(bad, good_pin, &value), EINVAL);
  EXPECT_EQ(gdr_get_info_v2(bad, good_pin, &info), EINVAL);
  EXPECT_EQ(gdr_get_info_v1(bad, good_pin, &old_info), EINVAL);
  EXPECT_EQ(gdr_map(bad, good_pin, &address, gpu_page), EINVAL);
  EXPECT_EQ(gdr_map_v2(bad, good_pin, &address, gpu_page, 0), EINVAL);
  EXPECT_EQ(gdr_unmap(bad, good_pin, va, gpu_page), EINVAL);
  EXPECT_EQ(gdr_driver_get_version(bad, &value, &value), EINVAL);
  EXPECT_EQ(gdr_get_attribute(bad, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), EINVAL);
  EXPECT_EQ(out.h, 42u);
  EXPECT_EQ(value, 42);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(info_of(good_pin).mapped, 1u);
}

TEST_P(GdrapiBadHandle, EveryFunctionRejectsAnInvalidPin) {
  const gdr_mh_t bad{bad_pin};
  int value = 42;
  void* address = nullptr;
  gdr_info_v2_t info{};
  InfoV1 old_info{};
  std::uint8_t byte = 42;
  EXPECT_EQ(gdr_unpin_buffer(g, bad), EINVAL);
  EXPECT_EQ(gdr_get_callback_flag(g, bad, &value), EINVAL);
  EXPECT_EQ(gdr_get_info_v2(g, bad, &info), EINVAL);
  EXPECT_EQ(gdr_get_info_v1(g, bad, &old_info), EINVAL);
  EXPECT_EQ(gdr_map(g, bad, &address, gpu_page), EINVAL);
  EXPECT_EQ(gdr_map_v2(g, bad, &address, gpu_page, 0), EINVAL);
  EXPECT_EQ(gdr_unmap(g, bad, va, gpu_page), EINVAL);
  EXPECT_EQ(gdr_copy_to_mapping(bad, va, &byte, 1), EINVAL);
  EXPECT_EQ(gdr_copy_from_mapping(bad, &byte, va, 1), EINVAL);
  EXPECT_EQ(value, 42);
  EXPECT_EQ(byte, 42);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(info_of(good_pin).mapped, 1u);
  expect_device_as_expected();
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GdrapiBadHandle,
                         testing::Values("null", "one", "all_ones", "pointer", "neighbour", "swapped", "stale",
                                         "foreign"),
                         [](const auto& test) { return test.param; });

TEST_F(Gdrapi, PinOfAnotherContextReturnsEinval) {
  const gdr_mh_t handle = mapped_pin();
  gdr_t other = gdr_open();
  ASSERT_NE(other, nullptr);
  gdr_info_t info{};
  EXPECT_EQ(gdr_get_info(other, handle, &info), EINVAL);
  EXPECT_EQ(gdr_unmap(other, handle, va, gpu_page), EINVAL);
  EXPECT_EQ(gdr_unpin_buffer(other, handle), EINVAL);
  EXPECT_EQ(gdr_close(other), 0);
  EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
}

TEST_F(Gdrapi, RejectsCallsOfAForkedChildWithoutSideEffects) {
  const gdr_mh_t handle = mapped_pin();
  const gdr_mh_t unmapped = pin(gpu_page);
  const ChildEnd end = run_in_child([&] {
    std::uint8_t byte = 1;
    gdr_mh_t out{};
    gdr_info_t info{};
    void* address = nullptr;
    const bool is_refused = gdr_map(g, unmapped, &address, gpu_page) == EACCES &&
                            gdr_pin_buffer(g, memory, gpu_page, 0, 0, &out) == EACCES &&
                            gdr_get_info(g, handle, &info) == EACCES && gdr_unmap(g, handle, va, gpu_page) == EACCES &&
                            gdr_unpin_buffer(g, handle) == EACCES && gdr_close(g) == EACCES &&
                            gdr_copy_to_mapping(handle, va, &byte, 1) == EINVAL &&
                            gdr_copy_from_mapping(handle, &byte, va, 1) == EINVAL;
    if (!is_refused) return 1;
    gdr_t const own = gdr_open();
    return own != nullptr && gdr_close(own) == 0 ? 0 : 2;
  });
  EXPECT_EQ(end.exit_code, 0);
  std::uint8_t byte = 0;
  EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, va, 1), 0);
  EXPECT_EQ(byte, expected[0]);
}

TEST_F(Gdrapi, OpenSetsErrnoOnFailure) {
  ::setenv("GDRKIT_BACKEND", "abacus", 1);
  errno = 0;
  EXPECT_EQ(gdr_open(), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  ::setenv("GDRKIT_COPY_KERNEL", "abacus", 1);
  errno = 0;
  EXPECT_EQ(gdr_open(), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Gdrapi, ForcedDmabufHasNoFallback) {
  ::setenv("GDRCOPY_USE_DMABUF_MMAP", "1", 1);
  errno = 0;
  EXPECT_EQ(gdr_open(), nullptr);  // two forced backends that disagree
  EXPECT_EQ(errno, EINVAL);
  ::unsetenv("GDRKIT_BACKEND");
  gdr_t const forced = gdr_open();
  int uses_dmabuf = 1;
  if (forced != nullptr) {
    EXPECT_EQ(gdr_get_attribute(forced, GDR_ATTR_USING_DMA_BUF_MMAP, &uses_dmabuf), 0);
    EXPECT_EQ(gdr_close(forced), 0);
  }
  EXPECT_EQ(uses_dmabuf, 1);
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  for (const char* not_exactly_one : {"0", "", "01", "yes", "11"}) {
    ::setenv("GDRCOPY_USE_DMABUF_MMAP", not_exactly_one, 1);
    gdr_t const other = gdr_open();
    EXPECT_NE(other, nullptr) << not_exactly_one;
    EXPECT_EQ(gdr_close(other), 0);
  }
}

}  // namespace
}  // namespace gdrkit::tests
