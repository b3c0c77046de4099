// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The table of the fastest engines: complete, consistent with the shortcut for the CPU, and that of the measurement.
#include "engine/chooser.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gdrkit::engine {
namespace {

constexpr std::size_t kib = 1024;

const Table built_in;
Choice choose(Direction direction, HostMemory kind, std::size_t size) { return built_in.choose(direction, kind, size); }

TEST(Chooser, CpuShortcutMatchesTheTable) {
  for (const Direction direction : {Direction::from_device, Direction::to_device}) {
    for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
      for (const std::size_t size : {std::size_t{1}, built_in.largest_for_cpu(direction)}) {
        EXPECT_EQ(choose(direction, kind, size).warm, Id::cpu);
        EXPECT_EQ(choose(direction, kind, size).cold, Id::cpu);
      }
    }
    EXPECT_NE(choose(direction, HostMemory::pinned, built_in.largest_for_cpu(direction) + 1).warm, Id::cpu);
  }
}

TEST(Chooser, SelectsOnlyCpuEnginesUpToTheCpuLimit) {
  const std::size_t largest = built_in.largest_by_cpus(Direction::to_device);
  EXPECT_EQ(largest, std::size_t{256} << 10);
  for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
    for (std::size_t size = 1; size <= largest; size *= 2) {
      const Choice choice = choose(Direction::to_device, kind, size);
      EXPECT_TRUE(choice.warm == Id::cpu || choice.warm == Id::lanes) << size;
      EXPECT_EQ(choice.cold, Id::cpu) << size;
    }
  }
  EXPECT_EQ(built_in.largest_by_cpus(Direction::from_device), built_in.largest_for_cpu(Direction::from_device))
      << "lanes from the device are the GPU's copies";
}

TEST(Chooser, NeverSelectsTheMoverAsColdEngine) {
  for (const Direction direction : {Direction::from_device, Direction::to_device}) {
    for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
      for (std::size_t size = 1; size < std::size_t{1} << 40; size *= 2) {
        EXPECT_NE(choose(direction, kind, size).cold, Id::mover) << size;
      }
    }
  }
}

// docs/results/2026-11-23-h200-engines-2: the fastest row of each column, or one within 5 % of it.
TEST(Chooser, SelectsTheFastestEngineMeasuredOnH200) {
  const auto warm = [](Direction direction, std::size_t size, HostMemory kind = HostMemory::pinned) {
    return choose(direction, kind, size).warm;
  };
  EXPECT_EQ(warm(Direction::from_device, 2 * kib), Id::cpu);
  EXPECT_EQ(warm(Direction::from_device, 4 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 2048 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 16384 * kib), Id::copy_engine);
  EXPECT_EQ(warm(Direction::from_device, 64 * kib, HostMemory::ordinary), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 128 * kib, HostMemory::ordinary), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 256 * kib, HostMemory::ordinary), Id::copy_engine);
  EXPECT_EQ(warm(Direction::from_device, 512 * kib, HostMemory::ordinary), Id::lanes);
  EXPECT_EQ(warm(Direction::from_device, 4096 * kib, HostMemory::ordinary), Id::lanes);
  EXPECT_EQ(warm(Direction::to_device, 64 * kib), Id::cpu);
  EXPECT_EQ(warm(Direction::to_device, 512 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::to_device, 1024 * kib), Id::copy_engine);
  EXPECT_EQ(warm(Direction::to_device, 1024 * kib, HostMemory::ordinary), Id::lanes);
  EXPECT_EQ(choose(Direction::from_device, HostMemory::pinned, 4 * kib).cold, Id::cpu);
  EXPECT_EQ(choose(Direction::from_device, HostMemory::pinned, 64 * kib).cold, Id::copy_engine);
}

constexpr const char* profile =
    "gdrkit engines 1\n"
    "from_device pinned 2048 cpu cpu\n"
    "from_device pinned 0 mover copy_engine\n"
    "from_device ordinary 0 copy_engine copy_engine\n"
    "to_device pinned 4096 cpu cpu\n"
    "to_device pinned 0 lanes cpu\n"
    "to_device ordinary 0 cpu cpu\n";

TEST(Profile, ParsesAllRows) {
  const auto table = tests::value_or_throw(Table::parse(profile));
  EXPECT_EQ(table.choose(Direction::from_device, HostMemory::pinned, 2048).warm, Id::cpu);
  EXPECT_EQ(table.choose(Direction::from_device, HostMemory::pinned, 2049).warm, Id::mover);
  EXPECT_EQ(table.choose(Direction::from_device, HostMemory::pinned, 2049).cold, Id::copy_engine);
  EXPECT_EQ(table.choose(Direction::to_device, HostMemory::pinned, 1 << 30).warm, Id::lanes);
  EXPECT_EQ(table.largest_for_cpu(Direction::from_device), 0u) << "the CPU never copies ordinary memory";
  EXPECT_EQ(table.largest_for_cpu(Direction::to_device), 4096u);
}

TEST(Profile, QueriesTheMemoryKindOnlyIfRowsDiffer) {
  const auto table = tests::value_or_throw(Table::parse(profile));
  EXPECT_EQ(table.largest_by_cpus(Direction::to_device), 4096u) << "lanes above, where it is pinned";
  EXPECT_EQ(table.largest_by_cpus(Direction::from_device), 0u);
  std::string alike = profile;
  alike.replace(alike.find("to_device ordinary 0 cpu cpu"), std::string("to_device ordinary 0 cpu cpu").size(),
                "to_device ordinary 1024 cpu cpu\nto_device ordinary 4096 cpu cpu\nto_device ordinary 0 lanes cpu");
  const auto same = tests::value_or_throw(Table::parse(alike));
  EXPECT_EQ(same.largest_by_cpus(Direction::to_device), SIZE_MAX) << "however the rows are cut";
  EXPECT_EQ(same.largest_for_cpu(Direction::to_device), 4096u);
}

TEST(Profile, RejectsADamagedProfileCompletely) {
  const std::string whole = profile;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(length + 1 < whole.size() && Table::parse(whole.substr(0, length))) << length;
  }
  const auto with = [&](const char* what, const char* instead) {
    std::string text = whole;
    return text.replace(text.find(what), std::string(what).size(), instead);
  };
  for (const auto& damaged : {with("engines 1", "engines 2"), with("2048", "abc"), with("mover", "abacus"),
                              with("pinned", "borrowed"), with("from_device", "on_device"), with("2048 cpu", "2048"),
                              with("cpu\n", "cpu cpu\n"), with("pinned 4096", "pinned 0"), with("4096", "-4096"),
                              with("4096", "+4096"), with("4096", "40960000000000000000"), whole + "\n"}) {
    EXPECT_TRUE(tests::failed(Table::parse(damaged), EINVAL)) << damaged;
  }
}

TEST(Profile, AcceptsAtMost32RowsPerColumn) {
  for (const int rows : {32, 33}) {
    std::string text = profile;
    std::string column;
    for (int row = 1; row < rows; ++row) column += "to_device ordinary " + std::to_string(row) + " cpu cpu\n";
    text.insert(text.find("to_device ordinary 0"), column);
    EXPECT_EQ(Table::parse(text).has_value(), rows == 32) << rows;
  }
}

}  // namespace
}  // namespace gdrkit::engine
