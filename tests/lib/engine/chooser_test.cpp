// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The table of the fastest engines: complete, consistent with the shortcut for the CPU, and that of the measurement.
#include "engine/device_engines.hpp"

#include <gtest/gtest.h>

namespace gdrkit::engine {
namespace {

constexpr std::size_t kib = 1024;

TEST(Chooser, TheShortcutForTheCpuAgreesWithTheTable) {
  for (const Direction direction : {Direction::from_device, Direction::to_device}) {
    for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
      for (const std::size_t size : {std::size_t{1}, largest_for_cpu(direction)}) {
        EXPECT_EQ(choose(direction, kind, size).warm, Id::cpu);
        EXPECT_EQ(choose(direction, kind, size).cold, Id::cpu);
      }
    }
    EXPECT_NE(choose(direction, HostMemory::pinned, largest_for_cpu(direction) + 1).warm, Id::cpu);
  }
}

TEST(Chooser, NoColdEngineIsTheMover) {
  for (const Direction direction : {Direction::from_device, Direction::to_device, Direction::on_device}) {
    for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
      for (std::size_t size = 1; size < std::size_t{1} << 40; size *= 2) {
        EXPECT_NE(choose(direction, kind, size).cold, Id::mover) << size;
      }
    }
  }
}

// docs/results/2026-11-22-h200-mover-probe: the fastest row of each column.
TEST(Chooser, TakesWhatWasTheFastestOnAnH200) {
  const auto warm = [](Direction direction, std::size_t size) {
    return choose(direction, HostMemory::pinned, size).warm;
  };
  EXPECT_EQ(warm(Direction::from_device, 2 * kib), Id::cpu);
  EXPECT_EQ(warm(Direction::from_device, 4 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 4096 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::from_device, 16384 * kib), Id::copy_engine);
  EXPECT_EQ(warm(Direction::to_device, 64 * kib), Id::cpu);
  EXPECT_EQ(warm(Direction::to_device, 128 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::to_device, 1024 * kib), Id::mover);
  EXPECT_EQ(warm(Direction::to_device, 16384 * kib), Id::copy_engine);
  EXPECT_EQ(choose(Direction::from_device, HostMemory::pinned, 4 * kib).cold, Id::cpu);
  EXPECT_EQ(choose(Direction::from_device, HostMemory::pinned, 64 * kib).cold, Id::copy_engine);
}

}  // namespace
}  // namespace gdrkit::engine
