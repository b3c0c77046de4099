// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/device_batch.hpp"

#include <algorithm>

namespace gdrkit::tools::pgas {
namespace {

using platform::LaunchShape;
using platform::ShmemOperation;
using platform::ShmemScope;

constexpr unsigned warp_threads = 32;
constexpr unsigned block_threads = 512;
/// Blocks of bandwidths and rates: nearly all multiprocessors of an H100 or H200.
constexpr unsigned grid_blocks = 128;
constexpr unsigned rate_threads = 256;
/// Every part begins at a multiple of the widest word.
constexpr std::size_t part_unit_bytes = 16;

LaunchShape shape_of(const DeviceWork& work, std::size_t size_bytes) {
  switch (work.groups) {
    case Groups::every_thread: return {grid_blocks, rate_threads};
    case Groups::grid: {
      const auto parts = static_cast<unsigned>(std::min<std::size_t>(size_bytes / part_unit_bytes, grid_blocks));
      return {std::max(parts, 1U), block_threads};
    }
    case Groups::one: break;
  }
  const bool is_block = work.scope == ShmemScope::block;
  return {1, work.scope == ShmemScope::thread ? 1 : is_block ? block_threads : warp_threads};
}

bool updates_word(ShmemOperation operation) {
  return operation == ShmemOperation::atomic_add || operation == ShmemOperation::atomic_fetch_add ||
         operation == ShmemOperation::atomic_compare_swap;
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
  const bool reads = work.operation == ShmemOperation::get || work.operation == ShmemOperation::get_value;
  made.target = address_of(reads ? station->symmetric : station->object);
  made.source = address_of(reads ? station->object : station->symmetric);
  if (updates_word(work.operation) && work.groups == Groups::one) made.target = address_of(station->word);
  made.size_bytes = station->size_bytes / (work.groups == Groups::grid ? batch.shape.blocks : 1);
  made.signal = address_of(station->device_signal);
  made.result = result;
  made.operation = work.operation;
  made.scope = work.scope;
  made.rounds = static_cast<std::uint32_t>(count);
  made.untimed_rounds = 1;
  made.peer = static_cast<std::uint32_t>(station->peer);
  made.completes_each = work.completes_each ? 1 : 0;
  made.has_every_group = work.groups == Groups::every_thread ? 1 : 0;
  if (work.operation == ShmemOperation::ping_pong) {
    // PE 0 and the next one; the others look on.
    made.peer = station->pe == 0 ? 1 : 0;
    made.rounds_before = station->device_turn;
    station->device_turn += made.rounds + made.untimed_rounds;
  } else if (work.operation == ShmemOperation::put_signal || work.operation == ShmemOperation::signal_set) {
    made.signal += sizeof(std::uint64_t);
  }
  return batch;
}

}  // namespace gdrkit::tools::pgas
