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
  const bool is_summed = test.collective_line() != nullptr && test.collective_line()->is_reducing;
  const unsigned limit = is_summed ? std::max(2U, largest_byte / static_cast<unsigned>(n_ranks)) : largest_byte;
  return static_cast<std::uint8_t>((at * 7 + (at >> 8) + static_cast<std::size_t>(rank) * 99 + 1) % limit);
}

/// The expected byte `at` of a piece.
std::uint8_t expected_byte(const OsuTest& test, int n_ranks, const engines::Piece& piece, std::size_t at) {
  if (piece.source >= 0) return sent_byte(test, piece.source, n_ranks, piece.first + at);
  unsigned sum = 0;
  for (int rank = 0; rank < n_ranks; ++rank) sum += sent_byte(test, rank, n_ranks, piece.first + at);
  return static_cast<std::uint8_t>(sum);
}

bool is_get(const OsuTest& test) { return test.loop == Loop::get_each || test.loop == Loop::get_window; }

/// Returns the pieces that `part` receives in its buffer of `size_bytes`. Returns none if the buffer does not change.
std::vector<engines::Piece> received_pieces(const Part& part, const Work& work, std::size_t size_bytes) {
  const OsuTest& test = *work.test;
  if (test.loop == Loop::collective) {
    const bool is_source = test.collective == engines::CollectiveKind::broadcast && part.rank == 0;
    if (is_source) return {};
    return test.collective_line()->pieces(work.size_bytes, part.rank, part.n_ranks, 0);
  }
  const bool receives =
      is_get(test) ? part.is_first : !part.is_first || test.is_both_ways() || test.loop == Loop::ping_pong;
  if (!receives) return {};
  return {{0, size_bytes, part.peer, 0}};
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
  const std::uint64_t from = is_get(test) ? part.engine->target() : part.engine->source();
  const std::uint64_t to = is_get(test) ? part.engine->source() : part.engine->target();
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
  const std::vector<engines::Piece> pieces = received_pieces(part, work, count);
  if (pieces.empty()) return 0;
  buffers.read(bytes, to);
  std::uint64_t wrong = bytes[count] != untouched ? 1 : 0;
  for (const engines::Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.count; ++i) {
      wrong += bytes[piece.offset + i] != expected_byte(test, part.n_ranks, piece, i) ? 1 : 0;
    }
  }
  return wrong;
}

}  // namespace gdrkit::transfer::osu
