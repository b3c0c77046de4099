// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_loops.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/interface/demand.hpp"

namespace gdrkit::transfer::osu {
namespace {

constexpr std::uint8_t untouched = 0xee;
constexpr unsigned largest_byte = 0xe0;  ///< below `untouched`, so that a missing byte counts as wrong

/// The byte at `at` in the data that rank `rank` of `n_ranks` sends. Sums over up to 112 ranks stay below `untouched`
/// too.
std::uint8_t sent_byte(const OsuTest& test, int rank, int n_ranks, std::size_t at) {
  const bool is_summed = test.loop == Loop::all_reduce || test.loop == Loop::reduce;
  const unsigned limit = is_summed ? std::max(2U, largest_byte / static_cast<unsigned>(n_ranks)) : largest_byte;
  return static_cast<std::uint8_t>((at * 7 + (at >> 8) + static_cast<std::size_t>(rank) * 99 + 1) % limit);
}

/// The expected byte at `at` of the data that `part` received.
std::uint8_t received_byte(const Part& part, const Work& work, std::size_t at) {
  const auto own = static_cast<std::size_t>(part.rank);
  const auto sent = [&](std::size_t rank, std::size_t there) {
    return sent_byte(*work.test, static_cast<int>(rank), part.n_ranks, there);
  };
  switch (work.test->loop) {
    case Loop::all_reduce:
    case Loop::reduce: {
      unsigned sum = 0;
      for (int rank = 0; rank < part.n_ranks; ++rank) sum += sent(static_cast<std::size_t>(rank), at);
      return static_cast<std::uint8_t>(sum);
    }
    case Loop::all_to_all: return sent(at / work.size_bytes, own * work.size_bytes + at % work.size_bytes);
    case Loop::scatter: return sent(0, own * work.size_bytes + at);
    case Loop::all_gather:
    case Loop::gather: return sent(at / work.size_bytes, at % work.size_bytes);
    case Loop::broadcast: return sent(0, at);
    default: return sent(static_cast<std::size_t>(part.peer), at);
  }
}

bool receives(const Part& part, const OsuTest& test) {
  if (test.loop == Loop::broadcast) return part.rank != 0;
  if (test.loop == Loop::reduce || test.loop == Loop::gather) return part.rank == 0;
  if (test.is_of_all_ranks()) return true;
  if (test.loop == Loop::get_each || test.loop == Loop::get_window) return part.is_first;
  return !part.is_first || test.is_both_ways() || test.loop == Loop::ping_pong;
}

/// The buffers of this rank, in host or GPU memory.
class Buffers {
 public:
  Buffers(const Part& part, platform::Device& device) : is_host_(part.place == 'H'), device_(device) {}
  void write(std::uint64_t target, const std::vector<std::uint8_t>& bytes) {
    if (is_host_) {
      std::memcpy(reinterpret_cast<void*>(target), bytes.data(), bytes.size());
    } else {
      cli::demand(device_.copy_to_device(target, bytes.data(), bytes.size()), cannot_validate);
    }
  }
  void read(std::vector<std::uint8_t>& bytes, std::uint64_t source) {
    if (is_host_) {
      std::memcpy(bytes.data(), reinterpret_cast<const void*>(source), bytes.size());
    } else {
      cli::demand(device_.copy_to_host(bytes.data(), source, bytes.size()), cannot_validate);
    }
  }

 private:
  static constexpr const char* cannot_validate = "gdrkit osu: cannot validate the data: ";
  bool is_host_;
  platform::Device& device_;
};

}  // namespace

std::uint64_t count_wrong_bytes(const Part& part, Work work, platform::Device& device) {
  const OsuTest& test = *work.test;
  if (test.loop == Loop::fetch_each || test.loop == Loop::barrier) return 0;
  // A get fills the origin's source; all other operations fill a target.
  const bool is_get = test.loop == Loop::get_each || test.loop == Loop::get_window;
  const std::uint64_t from = is_get ? part.engine->target() : part.engine->source();
  const std::uint64_t to = is_get ? part.engine->source() : part.engine->target();
  for (int i = 0; i < work.check_warmup; ++i) run_once(part, work);
  const std::size_t buffer_bytes = work.size_bytes * buffers_of(work);
  std::vector<std::uint8_t> bytes(buffer_bytes * test.source_parts(part.n_ranks));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = sent_byte(test, part.rank, part.n_ranks, i);
  Buffers buffers(part, device);
  buffers.write(from, bytes);
  const std::size_t count = buffer_bytes * test.target_parts(part.n_ranks);
  bytes.assign(count + 1, untouched);
  buffers.write(to, bytes);
  part.engine->barrier();
  run_once(part, work);
  part.engine->barrier();
  if (!receives(part, test)) return 0;
  buffers.read(bytes, to);
  std::uint64_t wrong = bytes[count] != untouched ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) wrong += bytes[i] != received_byte(part, work, i) ? 1 : 0;
  return wrong;
}

}  // namespace gdrkit::transfer::osu
