// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the mover's GPU kernel and the CPU agree on, and the GPU kernel's work itself, once for the GPU (mover.cu) and
// for the host threads that play it in tests. C++17, since nvcc compiles it.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define GDRKIT_MOVER_CODE __host__ __device__ inline
#else
#define GDRKIT_MOVER_CODE inline
#endif

namespace gdrkit::engine::mover {

/// Commands that the CPU may have written before the first is done; a power of two.
constexpr std::uint32_t ring_lines = 16;
constexpr unsigned threads_per_block = 512;
constexpr unsigned most_blocks = 8;  ///< their status words share one cache line of the CPU

/// A command as the CPU stores it: four pieces of 16 bytes that each begin with the command's tag. A piece arrives
/// whole, the line need not: who reads it acts when the pieces it uses carry the tag that it waits for.
struct alignas(64) Line {
  std::uint32_t word[16];
};

enum class Kind : std::uint32_t { stop = 0, from_device = 1, to_device = 2 };

/// target and source are the same modulo 16.
struct Command {
  Kind kind = Kind::stop;
  std::uint32_t size_bytes = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
};

/// One block's word for the CPU: the tag of the last command done, and which launch the block belongs to.
struct Status {
  std::uint32_t done = 0;
  std::uint32_t launch = 0;  ///< 31 bits
  bool has_ended = false;    ///< the block touches nothing any more

  [[nodiscard]] GDRKIT_MOVER_CODE std::uint64_t word() const {
    return static_cast<std::uint64_t>(launch << 1 | (has_ended ? 1u : 0u)) << 32 | done;
  }
  [[nodiscard]] static GDRKIT_MOVER_CODE Status of(std::uint64_t word) {
    const auto high = static_cast<std::uint32_t>(word >> 32);
    return {static_cast<std::uint32_t>(word), high >> 1, (high & 1) != 0};
  }
};

/// Behind the status words: the tag of the last command written, as the CPU stores it before the line. A GPU does not
/// read it: the bus orders what the CPU stored before the line. Host threads that play the GPU find that order here.
constexpr std::uint64_t last_tag_offset = 64;

struct Parameters {
  std::uint64_t lines = 0;   ///< device address of ring_lines lines
  std::uint64_t status = 0;  ///< of one word for each block, in host memory
  std::uint32_t first_tag = 0;
  std::uint32_t launch = 0;
  std::uint64_t idle_ns = 0;
  std::uint64_t busy_ns = 0;
};

[[nodiscard]] GDRKIT_MOVER_CODE Line encode(std::uint32_t tag, const Command& command) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  return {{tag, command.size_bytes, low(command.source), high(command.source),                        //
           tag, static_cast<std::uint32_t>(command.kind), low(command.target), high(command.target),  //
           tag, 0, 0, 0, tag, 0, 0, 0}};
}

/// The first two pieces of a line as they were read.
struct Pieces {
  std::uint32_t first[4];
  std::uint32_t second[4];

  [[nodiscard]] GDRKIT_MOVER_CODE bool are_of(std::uint32_t tag) const { return first[0] == tag && second[0] == tag; }
  [[nodiscard]] GDRKIT_MOVER_CODE Command command() const {
    Command command;
    command.kind = static_cast<Kind>(second[1]);
    command.size_bytes = first[1];
    command.source = static_cast<std::uint64_t>(first[3]) << 32 | first[2];
    command.target = static_cast<std::uint64_t>(second[3]) << 32 | second[2];
    return command;
  }
};

/// Polls between two clock reads, of which each costs about as much as a poll.
constexpr unsigned polls_per_clock = 16;

/// The next command, or stop where a bound was reached. By one thread of each block.
template <class Side>
GDRKIT_MOVER_CODE Command poll(const Parameters& parameters, std::uint32_t tag, std::uint64_t begin_ns, unsigned& polls,
                               Side& side) {
  const std::uint64_t line = parameters.lines + (tag % ring_lines) * sizeof(Line);
  std::uint64_t idle_since = 0;
  for (;;) {
    const Pieces pieces = side.load(line);
    const bool is_there = pieces.are_of(tag);
    if (++polls % polls_per_clock == 0) {
      const std::uint64_t now = side.clock_ns();
      if (idle_since == 0) idle_since = now;
      const bool is_idle = !is_there && now - idle_since > parameters.idle_ns;
      if (is_idle || now - begin_ns > parameters.busy_ns) return {};
    }
    if (is_there) return pieces.command();
  }
}

/// One block's life. The busy bound holds even while commands are there: the CPU finds by the status what was not done.
/// `Side`: is_leader(), load(line), clock_ns(), share(command) to the block's threads, move(command), report(status)
/// after all that the block did.
template <class Side>
GDRKIT_MOVER_CODE void run(const Parameters& parameters, Side& side) {
  const std::uint64_t begin_ns = side.clock_ns();
  std::uint32_t tag = parameters.first_tag;
  unsigned polls = 0;
  side.report({tag - 1, parameters.launch, false});
  for (;;) {
    Command command;
    if (side.is_leader()) command = poll(parameters, tag, begin_ns, polls, side);
    command = side.share(command);
    if (command.kind == Kind::stop) break;
    side.move(command);
    side.report({tag, parameters.launch, false});
    ++tag;
  }
  side.report({tag - 1, parameters.launch, true});
}

}  // namespace gdrkit::engine::mover
