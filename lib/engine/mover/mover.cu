// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The mover's GPU kernel. "./run ptx" compiles it to PTX, which every build embeds.
#include "engine/mover/mover_code.hpp"

namespace gdrkit::engine::mover {
namespace {

struct Words {
  std::uint32_t x, y, z, w;
};

/// Past every cache that the CPU does not share; 16 bytes in one access. For the command line, and for sources in host
/// memory, of which the GPU's caches may hold an older state.
__device__ inline Words load_system(std::uint64_t address) {
  Words words;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(address)
               : "memory");
  return words;
}
/// From the cache that all multiprocessors share.
__device__ inline Words load_device(std::uint64_t address) {
  Words words;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(address)
               : "memory");
  return words;
}
__device__ inline void store(std::uint64_t address, Words words) {
  asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(words.x), "r"(words.y), "r"(words.z),
               "r"(words.w)
               : "memory");
}

/// Bytes [from, to) of the command, by the first threads; at most 15.
__device__ inline void move_bytes(const Command& command, std::uint64_t from, std::uint64_t to, std::uint64_t thread) {
  if (from + thread >= to) return;
  const auto* source = reinterpret_cast<const volatile std::uint8_t*>(command.source + from + thread);
  *reinterpret_cast<volatile std::uint8_t*>(command.target + from + thread) = *source;
}

template <class Load>
__device__ inline void move_all(const Command& command, std::uint64_t thread, std::uint64_t threads, Load load) {
  constexpr unsigned at_once = 4;  // loads under way in each thread
  constexpr std::uint64_t unit = sizeof(Words);
  const std::uint64_t to_unit = (unit - command.target % unit) % unit;
  const std::uint64_t head = to_unit < command.size_bytes ? to_unit : command.size_bytes;
  const std::uint64_t units = (command.size_bytes - head) / unit;
  const std::uint64_t source = command.source + head;
  const std::uint64_t target = command.target + head;
  std::uint64_t at = thread;
  for (; at + (at_once - 1) * threads < units; at += at_once * threads) {
    Words words[at_once];
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) words[i] = load(source + (at + i * threads) * unit);
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) store(target + (at + i * threads) * unit, words[i]);
  }
  for (; at < units; at += threads) store(target + at * unit, load(source + at * unit));
  move_bytes(command, 0, head, thread);
  move_bytes(command, head + units * unit, command.size_bytes, thread);
}

class Block {
 public:
  __device__ Block(const Parameters& parameters, Command* shared) : parameters_(parameters), shared_(shared) {}
  __device__ bool is_leader() const { return threadIdx.x == 0; }
  __device__ std::uint64_t clock_ns() const {
    std::uint64_t value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
    return value;
  }
  __device__ Pieces load(std::uint64_t line) const {
    const Words first = load_system(line);
    const Words second = load_system(line + sizeof(Words));
    return {{first.x, first.y, first.z, first.w}, {second.x, second.y, second.z, second.w}};
  }
  __device__ Command share(const Command& command) {
    if (is_leader()) *shared_ = command;
    __syncthreads();
    return *shared_;  // overwritten only behind report()'s barrier
  }
  __device__ void move(const Command& command) {
    const std::uint64_t thread = blockIdx.x * std::uint64_t{threads_per_block} + threadIdx.x;
    const std::uint64_t threads = gridDim.x * std::uint64_t{threads_per_block};
    if (command.kind == Kind::to_device) {
      move_all(command, thread, threads, [](std::uint64_t address) { return load_system(address); });
    } else {
      move_all(command, thread, threads, [](std::uint64_t address) { return load_device(address); });
    }
  }
  /// All that the block's threads stored is at its place before the status is (the barrier, then a cumulative fence).
  __device__ void report(const Status& status) {
    __syncthreads();
    if (!is_leader()) return;
    __threadfence_system();
    asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(parameters_.status + blockIdx.x * sizeof(std::uint64_t)),
                 "l"(status.word())
                 : "memory");
  }

 private:
  const Parameters& parameters_;
  Command* shared_;
};

}  // namespace
}  // namespace gdrkit::engine::mover

extern "C" __global__ void __launch_bounds__(gdrkit::engine::mover::threads_per_block)
    gdrkit_mover(gdrkit::engine::mover::Parameters parameters) {
  __shared__ alignas(16) unsigned char shared[sizeof(gdrkit::engine::mover::Command)];
  gdrkit::engine::mover::Block block(parameters, reinterpret_cast<gdrkit::engine::mover::Command*>(shared));
  gdrkit::engine::mover::run(parameters, block);
}
