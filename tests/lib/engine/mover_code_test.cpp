// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The mover's GPU kernel, block by block, on a side that shows it chosen lines at chosen times.
#include "engine/mover/mover_code.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

namespace gdrkit::engine::mover {
namespace {

constexpr std::uint64_t poll_ns = 400;

Pieces pieces_of(const Line& line) {
  Pieces pieces;
  std::memcpy(&pieces, &line, sizeof pieces);
  return pieces;
}

struct ScriptedSide {
  std::function<Pieces(std::uint64_t line)> show;
  std::uint64_t now = 1;
  std::vector<Command> moved;
  std::vector<Status> reports;

  [[nodiscard]] bool is_leader() const { return true; }
  Pieces load(std::uint64_t line) {
    now += poll_ns;
    return show(line);
  }
  [[nodiscard]] std::uint64_t clock_ns() const { return now; }
  static Command share(const Command& command) { return command; }
  void move(const Command& command) { moved.push_back(command); }
  void report(const Status& status) { reports.push_back(status); }
};

Parameters parameters() {
  Parameters made;
  made.lines = 1 << 20;
  made.first_tag = 7;
  made.launch = 3;
  made.idle_ns = 100'000;
  made.busy_ns = 1'000'000;
  return made;
}

TEST(MoverCode, CommandSurvivesEncoding) {
  const Command command{Kind::to_device, 0x89abcdefu, 0x0123456789abcdefu, 0xfedcba9876543210u};
  const Pieces pieces = pieces_of(encode(0xfffffffeu, command));
  EXPECT_TRUE(pieces.are_of(0xfffffffeu));
  EXPECT_FALSE(pieces.are_of(0xfffffffdu));
  const Command read = pieces.command();
  EXPECT_EQ(read.kind, command.kind);
  EXPECT_EQ(read.size_bytes, command.size_bytes);
  EXPECT_EQ(read.source, command.source);
  EXPECT_EQ(read.target, command.target);
}

TEST(MoverCode, StatusSurvivesEncoding) {
  const Status read = Status::of(Status{0xfffffff0u, 0x7fffffffu, true}.word());
  EXPECT_EQ(read.done, 0xfffffff0u);
  EXPECT_EQ(read.launch, 0x7fffffffu);
  EXPECT_TRUE(read.has_ended);
  EXPECT_FALSE(Status::of(Status{1, 2, false}.word()).has_ended);
}

TEST(MoverCode, IgnoresAPartiallyWrittenLine) {
  for (int whole_piece = 0; whole_piece < 2; ++whole_piece) {
    Pieces half = pieces_of(encode(7, {Kind::from_device, 64, 0x1000, 0x2000}));
    const Pieces old = pieces_of(encode(7 - ring_lines, {Kind::to_device, 1, 1, 1}));
    if (whole_piece == 0) std::memcpy(half.second, old.second, sizeof half.second);
    if (whole_piece == 1) std::memcpy(half.first, old.first, sizeof half.first);
    ScriptedSide side;
    side.show = [&](std::uint64_t) { return half; };
    run(parameters(), side);
    EXPECT_TRUE(side.moved.empty()) << whole_piece;
  }
}

TEST(MoverCode, ExecutesCommandsInOrderUntilStop) {
  ScriptedSide side;
  side.show = [&](std::uint64_t line) {
    const auto slot = static_cast<std::uint32_t>((line - (1 << 20)) / sizeof(Line));
    const std::uint32_t tag = slot == 10 ? 10 : slot;
    const Kind kind = slot == 10 ? Kind::stop : Kind::from_device;
    return pieces_of(encode(tag, {kind, slot, 0x1000, 0x2000}));
  };
  run(parameters(), side);
  ASSERT_EQ(side.moved.size(), 3u);
  for (std::uint32_t at = 0; at < 3; ++at) EXPECT_EQ(side.moved[at].size_bytes, 7 + at);
  ASSERT_EQ(side.reports.size(), 5u);
  EXPECT_EQ(side.reports.front().done, 6u) << "it runs, and has done nothing";
  EXPECT_FALSE(side.reports.front().has_ended);
  EXPECT_EQ(side.reports.back().done, 9u) << "the stop is not a copy";
  EXPECT_TRUE(side.reports.back().has_ended);
  EXPECT_EQ(side.reports.back().launch, 3u);
}

TEST(MoverCode, EndsByItselfWhenIdle) {
  ScriptedSide side;
  side.show = [](std::uint64_t) { return Pieces{}; };
  run(parameters(), side);
  EXPECT_TRUE(side.reports.back().has_ended);
  EXPECT_GE(side.now, 100'000u);
  EXPECT_LE(side.now, 100'000u + 3 * polls_per_clock * poll_ns);
}

TEST(MoverCode, EndsWithinTheBusyBoundUnderContinuousCommands) {
  ScriptedSide side;
  side.show = [&](std::uint64_t) {
    return pieces_of(
        encode(7 + static_cast<std::uint32_t>(side.moved.size()), {Kind::from_device, 64, 0x1000, 0x2000}));
  };
  run(parameters(), side);
  EXPECT_GT(side.moved.size(), 1000u);
  EXPECT_TRUE(side.reports.back().has_ended);
  EXPECT_EQ(side.reports.back().done, 6 + side.moved.size());
  EXPECT_LE(side.now, 1'000'000u + 3 * polls_per_clock * poll_ns);
}

TEST(MoverCode, TagsWrapAround) {
  Parameters wrapping = parameters();
  wrapping.first_tag = 0xffffffffu;
  ScriptedSide side;
  side.show = [&](std::uint64_t) {
    const auto done = static_cast<std::uint32_t>(side.moved.size());
    return pieces_of(encode(0xffffffffu + done, {done < 3 ? Kind::to_device : Kind::stop, 64, 0x1000, 0x2000}));
  };
  run(wrapping, side);
  EXPECT_EQ(side.moved.size(), 3u);
  EXPECT_EQ(side.reports.back().done, 1u);
}

}  // namespace
}  // namespace gdrkit::engine::mover
