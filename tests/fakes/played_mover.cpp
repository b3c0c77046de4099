// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The mover's GPU kernel on the emulated device: one host thread for each block.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "engine/mover/mover_code.hpp"
#include "fakes/emulated_cuda.hpp"

namespace gdrkit::engine::mover {
namespace {

/// 16 bytes in one access, as a GPU reads them: aligned 16-byte loads are atomic on x86 CPUs with AVX.
void load_piece(std::uint32_t (&piece)[4], std::uint64_t address) noexcept {
#if defined(__x86_64__)
  const __m128i words = _mm_load_si128(reinterpret_cast<const __m128i*>(address));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(piece), words);
#else
  for (unsigned word = 4; word-- > 0;) {
    piece[word] = __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address) + word, __ATOMIC_ACQUIRE);
  }
#endif
}

class HostBlock {
 public:
  HostBlock(const Parameters& parameters, unsigned block, unsigned blocks) noexcept
      : last_tag_(reinterpret_cast<std::uint32_t*>(parameters.status + last_tag_offset)),
        status_(reinterpret_cast<std::uint64_t*>(parameters.status) + block),
        block_(block),
        blocks_(blocks) {}

  [[nodiscard]] bool is_leader() const noexcept { return true; }
  [[nodiscard]] std::uint64_t clock_ns() const noexcept {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  [[nodiscard]] Pieces load(std::uint64_t line) const noexcept {
    ::sched_yield();
    Pieces pieces;
    load_piece(pieces.first, line);
    load_piece(pieces.second, line + sizeof pieces.first);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    (void)std::atomic_ref(*last_tag_).load(std::memory_order_acquire);
    return pieces;
  }
  [[nodiscard]] Command share(const Command& command) const noexcept { return command; }
  void move(const Command& command) const noexcept {
    const std::uint64_t share = (command.size_bytes + blocks_ - 1) / blocks_;
    const std::uint64_t from = std::min<std::uint64_t>(block_ * share, command.size_bytes);
    const std::uint64_t size = std::min<std::uint64_t>(share, command.size_bytes - from);
    std::memcpy(reinterpret_cast<void*>(command.target + from), reinterpret_cast<const void*>(command.source + from),
                size);
  }
  void report(const Status& status) const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_ref(*status_).store(status.word(), std::memory_order_release);
  }

 private:
  std::uint32_t* last_tag_;
  std::uint64_t* status_;
  unsigned block_;
  unsigned blocks_;
};

}  // namespace
}  // namespace gdrkit::engine::mover

namespace gdrkit::fakes {

static_assert(mover_parameter_bytes == sizeof(engine::mover::Parameters));

void play_mover(unsigned block, unsigned blocks, const void* parameter) noexcept {
  engine::mover::Parameters parameters;
  std::memcpy(&parameters, parameter, sizeof parameters);
  engine::mover::HostBlock side(parameters, block, blocks);
  engine::mover::run(parameters, side);
}

void play_mover_blocks(unsigned blocks, const void* parameter) {
  std::vector<std::thread> others;
  for (unsigned block = 1; block < blocks; ++block) others.emplace_back(play_mover, block, blocks, parameter);
  play_mover(0, blocks, parameter);
  for (std::thread& other : others) other.join();
}

}  // namespace gdrkit::fakes
