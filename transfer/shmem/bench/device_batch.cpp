// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/device_batch.hpp"

#include <algorithm>

namespace gdrkit::transfer::shmem {
namespace {

using platform::LaunchShape;
using platform::ShmemOperation;
using platform::ShmemScope;

constexpr unsigned warp_threads = 32;
constexpr unsigned block_threads = 512;
/// Blocks of bandwidths and rates: nearly all multiprocessors of an H100 or H200.
constexpr unsigned grid_blocks = 128;
constexpr unsigned rate_threads = 256;
/// Of a GPU's caches.
constexpr std::size_t gpu_line_bytes = 128;
/// Amount of the other PE's memory that rounds use before they repeat: many times a first-level cache (256 KiB), which
/// would serve gets by ordinary loads.
constexpr std::size_t path_bytes = std::size_t{4} << 20;
/// Where an operation is so large that this is more: stores of a round must not merge with the last one's on their way.
constexpr std::size_t least_places = 4;
/// Words of signals and updates, a line each, that batches take in turns: how far a line is from the multiprocessor and
/// from the link differs by a tenth of the time.
constexpr std::size_t word_lines = 64;
static_assert(word_lines * gpu_line_bytes <= word_area_bytes / 4);
/// Every part begins at a multiple of the widest word.
constexpr std::size_t part_unit_bytes = 16;

platform::LaunchShape shape_of(const DeviceWork& work, std::size_t size_bytes) {
  switch (work.groups) {
    case Groups::every_thread: return {grid_blocks, rate_threads};
    case Groups::grid: {
      const auto parts = static_cast<unsigned>(std::min<std::size_t>(size_bytes / part_unit_bytes, grid_blocks));
      return {std::max(parts, 1U), block_threads};
    }
    case Groups::one: break;
  }
  const bool is_block = work.scope == platform::ShmemScope::block;
  return {1, work.scope == platform::ShmemScope::thread ? 1 : is_block ? block_threads : warp_threads};
}

bool updates_word(platform::ShmemOperation operation) {
  return operation == platform::ShmemOperation::atomic_add || operation == platform::ShmemOperation::atomic_fetch_add ||
         operation == platform::ShmemOperation::atomic_compare_swap;
}

bool moves_data(platform::ShmemOperation operation) {
  return operation == platform::ShmemOperation::put || operation == platform::ShmemOperation::get ||
         operation == platform::ShmemOperation::put_value || operation == platform::ShmemOperation::get_value ||
         operation == platform::ShmemOperation::put_signal;
}

/// Gives each round of a data transfer a separate place, as far as the object has room.
void spread_rounds(std::size_t round_bytes, const Station& station, platform::ShmemParameters* made) {
  const std::size_t step = (round_bytes + gpu_line_bytes - 1) / gpu_line_bytes * gpu_line_bytes;
  if (step == 0) return;
  const std::size_t places = std::min(std::max(path_bytes / step, least_places), station.object_bytes / step);
  if (places < 2) return;
  made->step_bytes = step;
  made->path_bytes = step * places;
}

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

}  // namespace

std::size_t operations_each_round(const DeviceWork& work) {
  return work.groups == Groups::every_thread ? std::size_t{grid_blocks} * rate_threads : 1;
}

DeviceBatch device_batch(const DeviceWork& work, std::size_t count, std::uint64_t result, Station* station) {
  DeviceBatch batch;
  batch.shape = shape_of(work, station->size_bytes);
  platform::ShmemParameters& made = batch.parameters;
  const bool reads =
      work.operation == platform::ShmemOperation::get || work.operation == platform::ShmemOperation::get_value;
  made.target = address_of(reads ? station->symmetric : station->object);
  made.source = address_of(reads ? station->object : station->symmetric);
  const std::uint64_t line = station->device_batches++ % word_lines * gpu_line_bytes;
  if (updates_word(work.operation) && work.groups == Groups::one) made.target = address_of(station->word) + line;
  if (moves_data(work.operation)) {
    spread_rounds(station->size_bytes * operations_each_round(work), *station, &made);
  }
  made.size_bytes = station->size_bytes / (work.groups == Groups::grid ? batch.shape.blocks : 1);
  made.signal = address_of(station->device_signal) + line;
  made.result = result;
  made.operation = work.operation;
  made.scope = work.scope;
  made.rounds = static_cast<std::uint32_t>(count);
  made.untimed_rounds = 1;
  made.peer = static_cast<std::uint32_t>(station->peer);
  made.completes_each = work.completes_each ? 1 : 0;
  made.has_every_group = work.groups == Groups::every_thread ? 1 : 0;
  if (work.operation == platform::ShmemOperation::ping_pong) {
    // PE 0 and the next one; the others do nothing. Both use one word; in other cases a batch involves one PE only.
    made.signal = address_of(station->device_signal);
    made.peer = station->pe == 0 ? 1 : 0;
    made.rounds_before = station->device_turn;
    station->device_turn += made.rounds + made.untimed_rounds;
  } else if (work.operation == platform::ShmemOperation::put_signal ||
             work.operation == platform::ShmemOperation::signal_set) {
    made.signal += sizeof(std::uint64_t);
  }
  return batch;
}

}  // namespace gdrkit::transfer::shmem
