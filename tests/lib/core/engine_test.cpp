// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Mappings with an engine: the copy path passes their copies on, with the same bounds and the same checks of handles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/copy_path.hpp"
#include "core/core.hpp"
#include "core/open.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/patient_limits.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::core {
namespace {

class CoreEngine : public testing::Test {
 protected:
  static constexpr std::size_t memory_bytes = 262144;
  static constexpr std::size_t user_offset = 100;
  static constexpr std::size_t user_bytes = 200000;

  void SetUp() override {
    held_before = fakes::held_of_emulated_cuda();
    for (const backend::Registration& entry : backend::registrations()) {
      if (entry.automatic) continue;
      auto backend = tests::value_or_throw(entry.open({}));
      context = tests::value_or_throw(
          open_with(std::move(backend), settings, &fakes::emulated_cuda(), fakes::patient_limits()));
    }
    const auto buffer = tests::value_or_throw(allocate_buffer(context, 0, memory_bytes));
    memory = buffer_info(buffer)->address;
    handle = *core::pin(context, memory + user_offset, user_bytes, {});
  }
  void TearDown() override {
    EXPECT_TRUE(tests::succeeded(close(context)));
    EXPECT_EQ(fakes::held_of_emulated_cuda(), held_before);
  }
  base::Result<PinInfo> map(const char* engine) {
    return core::map(context, handle, std::nullopt, MappingType::none, MapStart::anywhere, engine);
  }

  base::Settings settings;
  int held_before = 0;
  Handle context = 0;
  Handle handle = 0;
  std::uint64_t memory = 0;
  std::vector<char> host = std::vector<char>(user_bytes, 'a');
};

TEST_F(CoreEngine, EngineCopiesAndStaysInsideTheUsersRange) {
  const auto mapped = map("copy_engine");
  ASSERT_TRUE(mapped) << mapped.error().text();
  EXPECT_EQ(write(handle, 0, host.data(), 5000), by_engine);
  EXPECT_EQ(read(handle, 0, host.data(), 5000), by_engine);
  ASSERT_TRUE(tests::succeeded(copy_by_engine(handle, true, 1, host.data(), user_bytes - 1)));
  std::vector<char> seen(user_bytes);
  ASSERT_TRUE(tests::succeeded(copy_by_engine(handle, false, 0, seen.data(), user_bytes)));
  EXPECT_EQ(seen[0], 0);
  EXPECT_EQ(std::memcmp(seen.data() + 1, host.data(), user_bytes - 1), 0);
  const auto* const device = reinterpret_cast<const char*>(memory);
  EXPECT_EQ(device[user_offset + 1], 'a');
  EXPECT_EQ(device[user_offset + user_bytes], 0);

  EXPECT_TRUE(tests::succeeded(copy_by_engine(handle, false, user_bytes, nullptr, 0)));
  for (const base::Status& rejected :
       {copy_by_engine(handle, false, 1, seen.data(), user_bytes),
        copy_by_engine(handle, true, user_bytes + 1, seen.data(), 0), copy_by_engine(handle, true, 0, nullptr, 1)}) {
    EXPECT_TRUE(tests::failed(rejected, EINVAL));
  }
}

TEST_F(CoreEngine, CpuCopiesWithoutAnEngine) {
  for (const char* engine : {"", "cpu"}) {
    const auto mapped = map(engine);
    ASSERT_TRUE(mapped) << mapped.error().text();
    EXPECT_EQ(write(handle, 0, host.data(), 5000), 0);
    EXPECT_EQ(read(handle, user_bytes, host.data(), 1), EINVAL);
    ASSERT_TRUE(tests::succeeded(unmap(context, handle)));
  }
}

TEST_F(CoreEngine, UnknownEngineAndUnmapLeaveNothingMapped) {
  ASSERT_TRUE(map("automatic"));
  ASSERT_TRUE(tests::succeeded(unmap(context, handle)));
  EXPECT_EQ(write(handle, 0, host.data(), 5000), EINVAL);
  EXPECT_FALSE(copy_by_engine(handle, true, 0, host.data(), 5000));
  EXPECT_TRUE(tests::failed(map("abacus"), EINVAL));
  EXPECT_FALSE(pin_info(context, handle)->is_mapped);
  EXPECT_EQ(write(handle, 0, host.data(), 5000), EINVAL);
  EXPECT_TRUE(tests::succeeded(map("automatic"))) << "the pin must be mappable again";
}

TEST_F(CoreEngine, CpuPerformsSmallAutomaticCopies) {
  ASSERT_TRUE(map("automatic"));
  EXPECT_EQ(write(handle, 1, host.data(), 1000), 0);
  std::vector<char> seen(1000);
  EXPECT_EQ(read(handle, 1, seen.data(), 1000), 0);
  EXPECT_EQ(std::memcmp(seen.data(), host.data(), 1000), 0);
  EXPECT_EQ(reinterpret_cast<const char*>(memory)[user_offset + 1], 'a');
  // The engine's path handles invalid and large copies.
  EXPECT_EQ(write(handle, user_bytes, host.data(), 1), by_engine);
  EXPECT_EQ(write(handle, 0, nullptr, 1), by_engine);
  EXPECT_EQ(read(handle, 0, host.data(), 100000), by_engine);
}

/// The drop-in library copies by address, also to parts of pages outside the user's range.
TEST_F(CoreEngine, EnginePerformsCopiesByAddressInTheUsersRange) {
  const auto mapped = tests::value_or_throw(map("copy_engine"));
  auto* const first = static_cast<char*>(mapped.mapping_address);
  const auto copy = [&](bool is_write, std::size_t at, std::size_t size) {
    auto* const place = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(first) + at);  // at may be -1
    EXPECT_EQ(is_write ? copy_to_mapping(handle, place, host.data(), size)
                       : copy_from_mapping(handle, host.data(), place, size),
              by_engine);
    return copy_mapping_by_engine(handle, is_write, place, host.data(), size);
  };
  const auto* const device = reinterpret_cast<const char*>(memory);
  for (const auto& [at, size] : {std::pair{user_offset, user_bytes}, {std::size_t{0}, std::size_t{150}}}) {
    std::fill(host.begin(), host.end(), static_cast<char>('c' + at % 7));
    ASSERT_TRUE(tests::succeeded(copy(true, at, size)));
    EXPECT_EQ(std::count(device + at, device + at + size, static_cast<char>('c' + at % 7)), static_cast<long>(size));
    std::fill(host.begin(), host.end(), 0);
    ASSERT_TRUE(tests::succeeded(copy(false, at, size)));
    EXPECT_EQ(std::memcmp(host.data(), device + at, size), 0);
  }
  for (const std::size_t at : {mapped.mapping_bytes, mapped.mapping_bytes - 1, std::size_t{0} - 1}) {
    EXPECT_TRUE(tests::failed(copy(true, at, 2), EINVAL));
  }
  EXPECT_FALSE(copy_mapping_by_engine(handle, true, first, nullptr, 1));
  EXPECT_TRUE(tests::succeeded(copy_mapping_by_engine(handle, false, nullptr, nullptr, 0)));
}

TEST_F(CoreEngine, StartedCopiesAreCompleteAfterFinish) {
  for (const char* engine : {"automatic", "lanes", "copy_engine", "mover", "cpu"}) {
    SCOPED_TRACE(engine);
    ASSERT_TRUE(map(engine));
    for (unsigned round = 0; round < 5; ++round) {
      std::vector<Segment> segments;
      for (std::size_t at = 0; at < 150000; at = at * 3 + 5000) {
        segments.push_back({at, host.data() + at, std::min<std::size_t>(at + 100, user_bytes - at)});
      }
      for (const Segment& each : segments) std::memset(each.host, static_cast<int>(round + 1), each.size_bytes);
      const auto writing = tests::value_or_throw(start_copy(handle, true, segments));
      ASSERT_TRUE(tests::succeeded(finish_copy(writing)));
      for (const Segment& each : segments) std::memset(each.host, 0, each.size_bytes);
      const auto reading = tests::value_or_throw(start_copy(handle, false, segments));
      ASSERT_TRUE(is_copy_done(reading));
      ASSERT_TRUE(tests::succeeded(finish_copy(reading)));
      for (const Segment& each : segments) {
        const auto* const bytes = static_cast<const char*>(each.host);
        ASSERT_EQ(std::count(bytes, bytes + each.size_bytes, static_cast<char>(round + 1)),
                  static_cast<long>(each.size_bytes));
      }
    }
    ASSERT_TRUE(tests::succeeded(unmap(context, handle)));
  }
}

TEST_F(CoreEngine, UnmapWaitsForStartedCopiesAndKeepsTheirResults) {
  ASSERT_TRUE(map("copy_engine"));
  ASSERT_TRUE(tests::succeeded(copy_by_engine(handle, true, 0, std::string(user_bytes, 'b').data(), user_bytes)));
  const Segment whole[] = {{0, host.data(), user_bytes}};
  const auto copy = tests::value_or_throw(start_copy(handle, false, whole));
  ASSERT_TRUE(tests::succeeded(unmap(context, handle)));
  EXPECT_EQ(std::count(host.begin(), host.end(), 'b'), static_cast<long>(user_bytes));
  EXPECT_TRUE(*is_copy_done(copy));
  EXPECT_TRUE(tests::succeeded(finish_copy(copy)));
  EXPECT_FALSE(finish_copy(copy));
  EXPECT_FALSE(start_copy(handle, false, whole));
}

TEST_F(CoreEngine, ForkedChildGetsEinvalWhileTheParentKeepsCopying) {
  ASSERT_TRUE(map("copy_engine"));
  ASSERT_TRUE(tests::succeeded(copy_by_engine(handle, true, 0, host.data(), user_bytes)));
  const tests::ChildEnd end = tests::run_in_child([&] {
    if (read(handle, 0, host.data(), 5000) != EINVAL) return 1;
    return copy_by_engine(handle, false, 0, host.data(), 5000) ? 2 : 0;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(tests::succeeded(copy_by_engine(handle, false, 0, host.data(), user_bytes)));
}

}  // namespace
}  // namespace gdrkit::core
