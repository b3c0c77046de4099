// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit's own C API on the emulated device, through the shared library.
#include "gdrkit/gdrkit.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "gdrapi.h"
#include "gdrkit/detail/engine_profile.h"
#include "lib/capi/emulated_fixture.hpp"
#include "support/forked_child.hpp"

namespace gdrkit::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Ne;

class GdrkitApi : public OnGdrkitContext {
 protected:
  gdrkit_pin_t pin(std::size_t offset, std::size_t size) {
    gdrkit_pin_t handle{};
    EXPECT_EQ(gdrkit_pin(context, memory + offset, size, &handle), 0) << gdrkit_last_error();
    return handle;
  }
  gdrkit_pin_t mapped_pin(std::size_t offset, std::size_t size) {
    const gdrkit_pin_t handle = pin(offset, size);
    EXPECT_EQ(gdrkit_map(handle, nullptr, &address), 0) << gdrkit_last_error();
    return handle;
  }
  gdrkit_pin_info info_of(gdrkit_pin_t handle) {
    auto info = sized<gdrkit_pin_info>();
    EXPECT_EQ(gdrkit_get_pin_info(handle, &info), 0);
    return info;
  }

  /// Opens the context again, with a value of GDRKIT_ENGINE.
  void open_again_with_engine(const char* name) {
    ASSERT_EQ(gdrkit_close(context), 0);
    ::setenv("GDRKIT_ENGINE", name, 1);
    ASSERT_EQ(gdrkit_open(nullptr, &context), 0);
    ::unsetenv("GDRKIT_ENGINE");
  }

  void* address = nullptr;
};

TEST_F(GdrkitApi, SupportsAnyAlignmentWithOffsetsFromTheUsersAddress) {
  const std::size_t start = gpu_page + 1001;
  const std::size_t size = gpu_page + 77;
  const gdrkit_pin_t handle = mapped_pin(start, size);
  EXPECT_EQ(*static_cast<std::uint8_t*>(address), expected[start]);
  const std::vector<std::uint8_t> source = make_pattern(size, 9);
  for (const auto& [offset, length] : {std::pair<std::size_t, std::size_t>{0, 1}, {3, 5}, {64, 4096}, {0, size}}) {
    ASSERT_EQ(gdrkit_write(handle, offset, source.data(), length), 0);
    std::memcpy(&expected[start + offset], source.data(), length);
    std::vector<std::uint8_t> target(length);
    ASSERT_EQ(gdrkit_read(handle, offset, target.data(), length), 0);
    EXPECT_EQ(std::memcmp(target.data(), source.data(), length), 0);
  }
  EXPECT_EQ(gdrkit_write(handle, size - 1, source.data(), 2), -EINVAL);
  EXPECT_EQ(gdrkit_read(handle, size, address, 1), -EINVAL);
  expect_device_as_expected();
}

TEST_F(GdrkitApi, PinInfoReflectsMapAndUnmap) {
  const gdrkit_pin_t handle = pin(gpu_page + 100, 50);
  gdrkit_pin_info info = info_of(handle);
  EXPECT_EQ(info.page_size_bytes, gpu_page);
  EXPECT_EQ(info.page_address, memory + gpu_page);
  EXPECT_EQ(info.page_bytes, gpu_page);
  EXPECT_EQ(info.user_address, memory + gpu_page + 100);
  EXPECT_EQ(info.user_bytes, 50u);
  EXPECT_EQ(info.is_mapped, 0);
  EXPECT_EQ(info.address, nullptr);
  auto options = sized<gdrkit_map_options>();
  options.mapping_type = GDRKIT_MAPPING_WRITE_COMBINING;
  ASSERT_EQ(gdrkit_map(handle, &options, &address), 0);
  info = info_of(handle);
  EXPECT_EQ(info.is_mapped, 1);
  EXPECT_EQ(info.mapping_type, GDRKIT_MAPPING_WRITE_COMBINING);
  EXPECT_EQ(info.verification, GDRKIT_VERIFIED_BY_INTERFACE);
  EXPECT_EQ(info.address, address);
  EXPECT_EQ(gdrkit_is_invalidated(handle), 0);
  EXPECT_EQ(gdrkit_unmap(handle), 0);
  EXPECT_EQ(info_of(handle).is_mapped, 0);
  EXPECT_EQ(info_of(handle).address, nullptr);
}

TEST_F(GdrkitApi, ContextInfoReportsBackendAndCopyKernels) {
  auto info = sized<gdrkit_context_info>();
  ASSERT_EQ(gdrkit_get_context_info(context, &info), 0);
  EXPECT_STREQ(info.backend_name, "emulated");
  EXPECT_EQ(info.is_emulated, 1);
  EXPECT_EQ(info.is_persistent, 1);
  EXPECT_EQ(info.page_size_bytes, gpu_page);
  bool is_listed = false;
  for (unsigned i = 0; const char* name = gdrkit_copy_kernel_name(i, nullptr); ++i) {
    is_listed = is_listed || std::string(name) == info.store_kernel_name;
  }
  EXPECT_TRUE(is_listed) << info.store_kernel_name;
  EXPECT_STRNE(info.load_kernel_name, "");
}

TEST_F(GdrkitApi, OptionsForceBackendAndCopyKernel) {
  ::unsetenv("GDRKIT_BACKEND");
  bool has_usable = false;
  for (unsigned i = 0;; ++i) {
    int is_usable = -1;
    const char* const name = gdrkit_copy_kernel_name(i, &is_usable);
    if (name == nullptr) break;
    auto options = sized<gdrkit_open_options>();
    options.backend = "emulated";
    options.copy_kernel = name;
    gdrkit_context_t other{};
    const int result = gdrkit_open(&options, &other);
    if (is_usable == 0) {
      EXPECT_EQ(result, -EOPNOTSUPP) << name;
      continue;
    }
    ASSERT_EQ(result, 0) << gdrkit_last_error();
    auto info = sized<gdrkit_context_info>();
    ASSERT_EQ(gdrkit_get_context_info(other, &info), 0);
    EXPECT_STREQ(info.backend_name, "emulated");
    EXPECT_STREQ(info.store_kernel_name, name);
    EXPECT_EQ(gdrkit_close(other), 0);
    has_usable = true;
  }
  EXPECT_TRUE(has_usable);
}

TEST_F(GdrkitApi, OpenReportsWhyItFails) {
  auto options = sized<gdrkit_open_options>();
  options.backend = "abacus";
  gdrkit_context_t other{42};
  EXPECT_TRUE(failed(gdrkit_open(&options, &other), EINVAL, AllOf(HasSubstr("abacus"), HasSubstr("emulated"))));
  options.backend = nullptr;
  options.copy_kernel = "abacus";
  EXPECT_TRUE(failed(gdrkit_open(&options, &other), EINVAL, HasSubstr("abacus")));
  EXPECT_EQ(other.value, 42u);
  EXPECT_EQ(gdrkit_open(nullptr, nullptr), -EINVAL);
}

TEST_F(GdrkitApi, RejectsInvalidCallsWithTheReason) {
  gdrkit_pin_t out{42};
  const auto managed = value_or_throw(driver::emulated_allocate(gpu_page, driver::EmulatedKind::managed));
  EXPECT_TRUE(failed(gdrkit_pin(context, managed, 1, &out), EOPNOTSUPP, HasSubstr("managed")));
  EXPECT_TRUE(driver::emulated_free(managed));
  EXPECT_TRUE(failed(gdrkit_pin(context, memory + 10, memory_bytes, &out), EINVAL,
                     HasSubstr("past the end of the allocation")));
  EXPECT_EQ(gdrkit_pin(context, memory, 0, &out), -EINVAL);
  EXPECT_EQ(gdrkit_pin(context, 0, 1, &out), -EINVAL);
  EXPECT_EQ(out.value, 42u);
}

TEST_F(GdrkitApi, MapOptionsSelectAnEngine) {
  const gdrkit_pin_t handle = pin(0, 2 * gpu_page);
  auto options = sized<gdrkit_map_options>();
  options.engine = GDRKIT_ENGINE_AUTOMATIC;  // the emulated device has no GPU that copies: the CPU does
  ASSERT_EQ(gdrkit_map(handle, &options, &address), 0) << gdrkit_last_error();
  std::vector<std::uint8_t> seen(gpu_page);
  EXPECT_EQ(gdrkit_read(handle, 77, seen.data(), seen.size()), 0);
  EXPECT_EQ(std::memcmp(seen.data(), expected.data() + 77, seen.size()), 0);
  ASSERT_EQ(gdrkit_unmap(handle), 0);
  ASSERT_EQ(gdrkit_map(handle, nullptr, &address), 0) << gdrkit_last_error();
  ASSERT_EQ(gdrkit_unmap(handle), 0);

  options.engine = GDRKIT_ENGINE_MOVER;
  EXPECT_TRUE(
      failed(gdrkit_map(handle, &options, &address), EOPNOTSUPP, HasSubstr("emulated device supports only 'cpu'")));
  for (const int unknown : {-1, GDRKIT_ENGINE_AUTOMATIC + 1}) {
    options.engine = unknown;
    EXPECT_TRUE(failed(gdrkit_map(handle, &options, &address), EINVAL, HasSubstr("invalid engine")));
  }
  options.engine = GDRKIT_ENGINE_DEFAULT;
  options.reserved = 1;
  EXPECT_EQ(gdrkit_map(handle, &options, &address), -EINVAL);
  options.reserved = 0;
  options.struct_size = 8;
  EXPECT_EQ(gdrkit_map(handle, &options, &address), -EINVAL);
}

TEST_F(GdrkitApi, AnUnknownEngineInTheEnvironmentFailsTheMapping) {
  ASSERT_NO_FATAL_FAILURE(open_again_with_engine("abacus"));
  EXPECT_TRUE(failed(gdrkit_map(pin(0, gpu_page), nullptr, &address), EINVAL,
                     "unknown engine 'abacus'; set GDRKIT_ENGINE (for libgdrapi: GDRKIT_DROPIN_ENGINE) to one of: "
                     "automatic, cpu, lanes, copy_engine, mover"));
}

TEST_F(GdrkitApi, EnvironmentForcesTheEngineOfMappingsWithoutOne) {
  ASSERT_NO_FATAL_FAILURE(open_again_with_engine("copy_engine"));
  const gdrkit_pin_t handle = pin(0, gpu_page);
  EXPECT_EQ(gdrkit_map(handle, nullptr, &address), -EOPNOTSUPP);
  auto options = sized<gdrkit_map_options>();
  options.engine = GDRKIT_ENGINE_AUTOMATIC;
  EXPECT_EQ(gdrkit_map(handle, &options, &address), -EOPNOTSUPP);
  options.engine = GDRKIT_ENGINE_CPU;
  EXPECT_EQ(gdrkit_map(handle, &options, &address), 0);
}

TEST_F(GdrkitApi, CopiesAllSegmentsOrNone) {
  const gdrkit_pin_t handle = mapped_pin(100, gpu_page);
  const std::vector<std::uint8_t> source = make_pattern(5000, 3);
  const gdrkit_write_segment writes[] = {
      {7, source.data(), 1}, {64, source.data() + 1, 4096}, {gpu_page - 3, source.data(), 3}, {9, nullptr, 0}};
  ASSERT_EQ(gdrkit_write_segments(handle, writes, 4), 0) << gdrkit_last_error();
  for (const gdrkit_write_segment& each : writes) {
    if (each.size_bytes != 0) std::memcpy(&expected[100 + each.offset], each.source, each.size_bytes);
  }
  expect_device_as_expected();
  std::vector<std::uint8_t> target(5000);
  const gdrkit_read_segment reads[] = {{64, target.data() + 8, 4000}, {7, target.data(), 1}};
  gdrkit_copy_t copy{};
  ASSERT_EQ(gdrkit_start_read(handle, reads, 2, &copy), 0) << gdrkit_last_error();
  EXPECT_EQ(gdrkit_is_copy_done(copy), 1) << "the CPU's copies are done when they were started";
  EXPECT_EQ(gdrkit_finish_copy(copy), 0);
  EXPECT_EQ(std::memcmp(target.data() + 8, &expected[164], 4000), 0);
  EXPECT_EQ(target[0], expected[107]);

  for (const gdrkit_write_segment& wrong :
       {gdrkit_write_segment{gpu_page, source.data(), 1}, gdrkit_write_segment{SIZE_MAX, source.data(), 2},
        gdrkit_write_segment{0, nullptr, 1}, gdrkit_write_segment{gpu_page + 1, nullptr, 0}}) {
    const gdrkit_write_segment some[] = {{0, source.data() + 100, 64}, wrong};
    EXPECT_TRUE(failed(gdrkit_write_segments(handle, some, 2), EINVAL, HasSubstr("segment 1")));
    EXPECT_EQ(gdrkit_start_write(handle, some, 2, &copy), -EINVAL);
  }
  expect_device_as_expected();
  EXPECT_EQ(gdrkit_write_segments(handle, nullptr, 0), 0);
  EXPECT_EQ(gdrkit_write_segments(handle, nullptr, 1), -EINVAL);
  EXPECT_EQ(gdrkit_start_read(handle, reads, 1, nullptr), -EINVAL);
  ASSERT_EQ(gdrkit_unmap(handle), 0);
  EXPECT_EQ(gdrkit_read_segments(handle, reads, 1), -EINVAL);
}

TEST_F(GdrkitApi, CopyHandleIsInvalidAfterFinish) {
  const gdrkit_pin_t handle = mapped_pin(0, gpu_page);
  std::uint8_t byte = 0;
  const gdrkit_read_segment read{0, &byte, 1};
  gdrkit_copy_t copy{};
  ASSERT_EQ(gdrkit_start_read(handle, &read, 1, &copy), 0);
  for (const gdrkit_copy_t other : {gdrkit_copy_t{0}, gdrkit_copy_t{copy.value + 1}, gdrkit_copy_t{handle.value}}) {
    EXPECT_EQ(gdrkit_is_copy_done(other), -EINVAL);
    EXPECT_EQ(gdrkit_finish_copy(other), -EINVAL);
  }
  const ChildEnd end = run_in_child([&] { return gdrkit_finish_copy(copy) == -EINVAL ? 0 : 1; });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(gdrkit_finish_copy(copy), 0);
  EXPECT_EQ(gdrkit_finish_copy(copy), -EINVAL);
  EXPECT_EQ(gdrkit_is_copy_done(copy), -EINVAL);
}

TEST_F(GdrkitApi, ProfileRequiresAGpu) {
  char path[64] = "kept";
  EXPECT_EQ(gdrkit_engine_profile_path(context, 0, path, sizeof path), -EOPNOTSUPP);
  EXPECT_EQ(gdrkit_engine_profile_path(context, 0, nullptr, 0), -EINVAL);
  EXPECT_EQ(gdrkit_engine_profile_path({}, 0, path, sizeof path), -EINVAL);
  EXPECT_STREQ(path, "kept");
}

TEST_F(GdrkitApi, MapsOnceAndRejectsUnknownTypes) {
  const gdrkit_pin_t handle = pin(0, 10);
  auto options = sized<gdrkit_map_options>();
  for (const int unknown : {-1, GDRKIT_MAPPING_DEVICE + 1, 77}) {
    options.mapping_type = unknown;
    EXPECT_EQ(gdrkit_map(handle, &options, &address), -EINVAL);
  }
  for (const int unsupported : {GDRKIT_MAPPING_CACHED, GDRKIT_MAPPING_DEVICE}) {
    options.mapping_type = unsupported;
    EXPECT_EQ(gdrkit_map(handle, &options, &address), -EOPNOTSUPP);
  }
  EXPECT_EQ(gdrkit_map(handle, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(address, nullptr);
  ASSERT_EQ(gdrkit_map(handle, nullptr, &address), 0);
  EXPECT_EQ(info_of(handle).mapping_type, GDRKIT_MAPPING_WRITE_COMBINING);
  EXPECT_EQ(info_of(handle).verification, GDRKIT_VERIFIED_BY_INTERFACE);
  void* again = nullptr;
  EXPECT_EQ(gdrkit_map(handle, nullptr, &again), -EAGAIN);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(gdrkit_unmap(handle), 0);
  EXPECT_EQ(gdrkit_unmap(handle), -EINVAL);
}

class GdrkitBadHandle : public GdrkitApi, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    GdrkitApi::SetUp();
    good_pin = mapped_pin(0, gpu_page);
    const std::string& kind = GetParam();
    if (kind == "one") bad_context.value = bad_pin.value = 1;
    if (kind == "all_ones") bad_context.value = bad_pin.value = ~std::uint64_t{0};
    if (kind == "pointer") bad_context.value = bad_pin.value = reinterpret_cast<std::uintptr_t>(this);
    if (kind == "neighbour") bad_context.value = context.value ^ 1, bad_pin.value = good_pin.value ^ 1;
    if (kind == "generation") {
      bad_context.value = context.value ^ std::uint64_t{1} << 40;
      bad_pin.value = good_pin.value ^ std::uint64_t{1} << 40;
    }
    if (kind == "swapped") bad_context.value = good_pin.value, bad_pin.value = context.value;
    if (kind == "stale") {
      ASSERT_EQ(gdrkit_open(nullptr, &bad_context), 0);
      ASSERT_EQ(gdrkit_close(bad_context), 0);
      bad_pin = pin(0, 1);
      ASSERT_EQ(gdrkit_unpin(bad_pin), 0);
    }
    if (kind == "foreign") {
      foreign = gdr_open();
      gdr_mh_t handle{};
      void* va = nullptr;
      ASSERT_EQ(gdr_pin_buffer(foreign, memory, gpu_page, 0, 0, &handle), 0);
      ASSERT_EQ(gdr_map(foreign, handle, &va, gpu_page), 0);
      bad_context.value = reinterpret_cast<std::uintptr_t>(foreign);
      bad_pin.value = handle.h;
    }
  }
  void TearDown() override {
    if (foreign != nullptr) {
      EXPECT_EQ(gdr_close(foreign), 0);
    }
    GdrkitApi::TearDown();
  }

  gdrkit_pin_t good_pin{};
  gdrkit_context_t bad_context{};
  gdrkit_pin_t bad_pin{};
  gdr_t foreign = nullptr;
};

TEST_P(GdrkitBadHandle, EveryFunctionRejectsItWithAMessage) {
  gdrkit_pin_t out{42};
  gdrkit_copy_t started{42};
  gdrkit_buffer_t allocated{42};
  auto context_info = sized<gdrkit_context_info>();
  auto pin_info = sized<gdrkit_pin_info>();
  auto buffer_info = sized<gdrkit_buffer_info>();
  void* mapped_at = nullptr;
  std::uint8_t byte = 42;
  const gdrkit_write_segment written{0, &byte, 1};
  const gdrkit_read_segment read{0, &byte, 1};
  const gdrkit_copy_t bad_copy{bad_pin.value};
  const gdrkit_buffer_t bad_buffer{bad_pin.value};
  const std::vector<std::pair<const char*, std::function<int()>>> calls = {
      {"close", [&] { return gdrkit_close(bad_context); }},
      {"get_context_info", [&] { return gdrkit_get_context_info(bad_context, &context_info); }},
      {"pin", [&] { return gdrkit_pin(bad_context, memory, 1, &out); }},
      {"unpin", [&] { return gdrkit_unpin(bad_pin); }},
      {"get_pin_info", [&] { return gdrkit_get_pin_info(bad_pin, &pin_info); }},
      {"map", [&] { return gdrkit_map(bad_pin, nullptr, &mapped_at); }},
      {"unmap", [&] { return gdrkit_unmap(bad_pin); }},
      {"is_invalidated", [&] { return gdrkit_is_invalidated(bad_pin); }},
      {"write", [&] { return gdrkit_write(bad_pin, 0, &byte, 1); }},
      {"read", [&] { return gdrkit_read(bad_pin, 0, &byte, 1); }},
      {"write_segments", [&] { return gdrkit_write_segments(bad_pin, &written, 1); }},
      {"read_segments", [&] { return gdrkit_read_segments(bad_pin, &read, 1); }},
      {"start_write", [&] { return gdrkit_start_write(bad_pin, &written, 1, &started); }},
      {"start_read", [&] { return gdrkit_start_read(bad_pin, &read, 1, &started); }},
      {"is_copy_done", [&] { return gdrkit_is_copy_done(bad_copy); }},
      {"finish_copy", [&] { return gdrkit_finish_copy(bad_copy); }},
      {"buffer_allocate", [&] { return gdrkit_buffer_allocate(bad_context, 0, 1, &allocated); }},
      {"buffer_free", [&] { return gdrkit_buffer_free(bad_buffer); }},
      {"buffer_get_info", [&] { return gdrkit_buffer_get_info(bad_buffer, &buffer_info); }},
      {"buffer_copy_from_host", [&] { return gdrkit_buffer_copy_from_host(bad_buffer, 0, &byte, 1); }},
      {"buffer_copy_to_host", [&] { return gdrkit_buffer_copy_to_host(bad_buffer, 0, &byte, 1); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(gdrkit_pin(context, 0, 1, nullptr), -EINVAL);
    const std::string earlier = gdrkit_last_error();
    EXPECT_TRUE(failed(call(), EINVAL, AllOf(HasSubstr("handle"), Ne(earlier)))) << name;
  }
  EXPECT_EQ(out.value, 42u);
  EXPECT_EQ(started.value, 42u);
  EXPECT_EQ(allocated.value, 42u);
  EXPECT_EQ(byte, 42);
  EXPECT_EQ(mapped_at, nullptr);
  EXPECT_EQ(info_of(good_pin).is_mapped, 1);
  expect_device_as_expected();
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GdrkitBadHandle,
                         testing::Values("null", "one", "all_ones", "pointer", "neighbour", "generation", "swapped",
                                         "stale", "foreign"),
                         [](const auto& test) { return test.param; });

TEST_F(GdrkitApi, RejectsNullStructsAndInvalidSizes) {
  const gdrkit_pin_t handle = pin(0, 1);
  EXPECT_EQ(gdrkit_get_context_info(context, nullptr), -EINVAL);
  EXPECT_EQ(gdrkit_get_pin_info(handle, nullptr), -EINVAL);
  EXPECT_EQ(gdrkit_probe_backend(0, nullptr), -EINVAL);
  EXPECT_EQ(gdrkit_pin(context, memory, 1, nullptr), -EINVAL);
  gdrkit_pin_info info{};
  for (const std::uint32_t size : {4097u, UINT32_MAX}) {
    info.struct_size = size;
    EXPECT_EQ(gdrkit_get_pin_info(handle, &info), -EINVAL) << size;
    gdrkit_open_options options{};
    options.struct_size = size;
    gdrkit_context_t other{};
    EXPECT_EQ(gdrkit_open(&options, &other), -EINVAL) << size;
  }
  for (const std::uint32_t size : {0u, 4u, static_cast<std::uint32_t>(sizeof info) - 1}) {
    info.struct_size = size;
    EXPECT_EQ(gdrkit_get_pin_info(handle, &info), -EINVAL) << size;
    gdrkit_context_info context_info{};
    context_info.struct_size = std::min(size, static_cast<std::uint32_t>(sizeof context_info) - 1);
    EXPECT_EQ(gdrkit_get_context_info(context, &context_info), -EINVAL) << size;
    gdrkit_backend_report report{};
    report.struct_size = size;
    EXPECT_EQ(gdrkit_probe_backend(0, &report), -EINVAL) << size;
    gdrkit_open_options options{};
    options.struct_size = std::min(size, static_cast<std::uint32_t>(sizeof options) - 1);
    gdrkit_context_t other{};
    EXPECT_EQ(gdrkit_open(&options, &other), -EINVAL) << size;
  }
}

TEST_F(GdrkitApi, AcceptsLargerStructsIfUnknownFieldsAreZero) {
  struct {
    gdrkit_open_options known;
    std::uint64_t unknown;
  } options{};
  options.known.struct_size = sizeof options;
  gdrkit_context_t other{};
  ASSERT_EQ(gdrkit_open(&options.known, &other), 0);
  EXPECT_EQ(gdrkit_close(other), 0);
  options.unknown = 1;
  EXPECT_EQ(gdrkit_open(&options.known, &other), -E2BIG);
  options.unknown = 0;
  options.known.reserved = 1;
  EXPECT_EQ(gdrkit_open(&options.known, &other), -EINVAL);

  struct {
    gdrkit_pin_info known;
    std::uint64_t unknown;
    std::uint64_t not_the_librarys;
  } info{};
  info.known.struct_size = sizeof info - sizeof info.not_the_librarys;
  info.unknown = info.not_the_librarys = 0xA5A5A5A5A5A5A5A5;
  ASSERT_EQ(gdrkit_get_pin_info(pin(0, 7), &info.known), 0);
  EXPECT_EQ(info.known.user_bytes, 7u);
  EXPECT_EQ(info.known.struct_size, sizeof info - sizeof info.not_the_librarys);
  EXPECT_EQ(info.unknown, 0u);
  EXPECT_EQ(info.not_the_librarys, 0xA5A5A5A5A5A5A5A5u);
}

TEST_F(GdrkitApi, ReportsEveryBackendInProbeOrder) {
  std::string names;
  for (unsigned i = 0;; ++i) {
    auto report = sized<gdrkit_backend_report>();
    const int result = gdrkit_probe_backend(i, &report);
    if (result == -ENOENT) break;
    ASSERT_EQ(result, 0);
    names += std::string(report.name) + " ";
    EXPECT_EQ(report.is_usable == 1, report.error == 0);
    EXPECT_EQ(report.is_usable == 1, report.reason[0] == '\0') << report.reason;
    EXPECT_LE(report.error, 0);
    EXPECT_STRNE(report.summary, "") << report.name;
    if (std::string(report.name) == "emulated") {
      EXPECT_EQ(report.is_usable, 1);
      EXPECT_EQ(report.is_automatic, 0);
    }
  }
  EXPECT_EQ(names, "gdrdrv dmabuf rm emulated ");
}

TEST_F(GdrkitApi, ErrorTextsAreNeverNull) {
  EXPECT_STREQ(gdrkit_strerror(-EINVAL), "Invalid argument");
  EXPECT_STREQ(gdrkit_strerror(EINVAL), "Invalid argument");
  EXPECT_STREQ(gdrkit_strerror(0), "Success");
  for (const int value : {-100000, 100000, 41, 524, INT32_MIN, INT32_MAX}) EXPECT_NE(gdrkit_strerror(value), nullptr);
}

TEST_F(GdrkitApi, ErrorDetailIsThreadLocal) {
  EXPECT_EQ(gdrkit_pin(context, 0, 1, nullptr), -EINVAL);
  const std::string mine = gdrkit_last_error();
  EXPECT_NE(mine, "");
  std::thread([] { EXPECT_STREQ(gdrkit_last_error(), ""); }).join();
  EXPECT_EQ(gdrkit_last_error(), mine);
}

TEST_F(GdrkitApi, FailedCopiesReportTheCause) {
  const gdrkit_pin_t pin = mapped_pin(0, 8);
  char byte = 0;
  EXPECT_TRUE(
      failed(gdrkit_write(pin, 8, &byte, 1), EINVAL, "cannot write 1 bytes at offset 8: the mapping has 8 bytes"));
  EXPECT_TRUE(failed(gdrkit_read(pin, SIZE_MAX, &byte, 2), EINVAL,
                     HasSubstr("cannot read 2 bytes at offset 18446744073709551615: the mapping has 8")));
  EXPECT_TRUE(
      failed(gdrkit_read(pin, 0, nullptr, 1), EINVAL, "cannot read 1 bytes at offset 0: the host pointer is NULL"));
  EXPECT_EQ(gdrkit_unmap(pin), 0);
  EXPECT_TRUE(failed(gdrkit_write(pin, 0, &byte, 1), EINVAL,
                     "cannot write 1 bytes at offset 0: the pin is not mapped, or its handle is invalid"));
}

TEST_F(GdrkitApi, ARangePastTheEndIsReportedBeforeANullPointer) {
  const gdrkit_pin_t pin = mapped_pin(0, 8);
  gdrkit_buffer_t buffer{};
  ASSERT_EQ(gdrkit_buffer_allocate(context, 0, 8, &buffer), 0) << gdrkit_last_error();
  const gdrkit_write_segment written{8, nullptr, 1};
  const gdrkit_read_segment read{8, nullptr, 1};
  gdrkit_copy_t copy{};
  const std::vector<std::function<int()>> calls = {
      [&] { return gdrkit_write(pin, 8, nullptr, 1); },
      [&] { return gdrkit_read(pin, 8, nullptr, 1); },
      [&] { return gdrkit_write_segments(pin, &written, 1); },
      [&] { return gdrkit_read_segments(pin, &read, 1); },
      [&] { return gdrkit_start_write(pin, &written, 1, &copy); },
      [&] { return gdrkit_start_read(pin, &read, 1, &copy); },
      [&] { return gdrkit_buffer_copy_from_host(buffer, 8, nullptr, 1); },
      [&] { return gdrkit_buffer_copy_to_host(buffer, 8, nullptr, 1); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_TRUE(failed(calls[i](), EINVAL, HasSubstr("has 8 bytes"))) << "call " << i;
  }
  EXPECT_EQ(gdrkit_buffer_free(buffer), 0);
}

TEST_F(GdrkitApi, ErrorDetailStaysUntilACallFails) {
  EXPECT_EQ(gdrkit_pin(context, 0, 1, nullptr), -EINVAL);
  const char* const detail = gdrkit_last_error();
  const std::string first = detail;
  // An internal step of each of these calls fails; the calls succeed.
  for (unsigned i = 0; gdrkit_copy_kernel_name(i, nullptr) != nullptr;) ++i;
  auto report = sized<gdrkit_backend_report>();
  EXPECT_EQ(gdrkit_probe_backend(0, &report), 0);
  gdrkit_context_t other{};
  EXPECT_EQ(gdrkit_open(nullptr, &other), 0);
  EXPECT_EQ(gdrkit_close(other), 0);
  EXPECT_EQ(gdrkit_last_error(), detail);
  EXPECT_EQ(detail, first);
  EXPECT_EQ(gdrkit_close(other), -EINVAL);
  EXPECT_NE(gdrkit_last_error(), first);
}

TEST_F(GdrkitApi, LibraryVersionMatchesTheHeader) {
  EXPECT_EQ(gdrkit_version(), std::to_string(GDRKIT_VERSION_MAJOR) + "." + std::to_string(GDRKIT_VERSION_MINOR) + "." +
                                  std::to_string(GDRKIT_VERSION_PATCH));
  EXPECT_EQ(GDRKIT_VERSION, GDRKIT_VERSION_MAJOR * 10000 + GDRKIT_VERSION_MINOR * 100 + GDRKIT_VERSION_PATCH);
}

TEST_F(GdrkitApi, RejectsCallsOfAForkedChildWithoutSideEffects) {
  const gdrkit_pin_t handle = mapped_pin(5, 100);
  const ChildEnd end = run_in_child([&] {
    std::uint8_t byte = 0;
    gdrkit_pin_t out{};
    const bool is_refused = gdrkit_read(handle, 0, &byte, 1) == -EINVAL &&
                            gdrkit_write(handle, 0, &byte, 1) == -EINVAL && gdrkit_unmap(handle) == -EACCES &&
                            gdrkit_is_invalidated(handle) == -EACCES && gdrkit_unpin(handle) == -EACCES &&
                            gdrkit_pin(context, memory, 1, &out) == -EACCES && gdrkit_close(context) == -EACCES;
    return is_refused ? 0 : 1;
  });
  EXPECT_EQ(end.exit_code, 0);
  std::uint8_t byte = 0;
  EXPECT_EQ(gdrkit_read(handle, 0, &byte, 1), 0);
  EXPECT_EQ(byte, expected[5]);
}

}  // namespace
}  // namespace gdrkit::tests
