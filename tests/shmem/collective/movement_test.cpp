// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives that move data: every byte is where it belongs, and no other was touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "collective_side.hpp"
#include "platform/gpu_code/collective_params.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using tests::CollectiveSide;
using tests::little_scratch;
using tests::run_shmem_job;
using tests::succeeded;
using tests::Way;
using tests::world;
using Bytes = std::vector<std::uint8_t>;

/// What PE `pe` has in its source in round `round`.
Bytes source_of(int pe, unsigned round, std::size_t size_bytes) {
  return tests::make_pattern(size_bytes, static_cast<unsigned>(pe) + 1 + 64 * round);
}

void append(Bytes* to, const Bytes& from, std::size_t begin, std::size_t size_bytes) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  to->insert(to->end(), first, first + static_cast<std::ptrdiff_t>(size_bytes));
}

/// `size_bytes`: of a part. The target of PE `pe`, from the sources of all.
Bytes expected_target(CollectiveOperation operation, int pe, int n_pes, int root, unsigned round,
                      std::size_t size_bytes) {
  Bytes expected;
  const auto parts = static_cast<std::size_t>(n_pes);
  switch (operation) {
    case CollectiveOperation::broadcast: append(&expected, source_of(root, round, size_bytes), 0, size_bytes); break;
    case CollectiveOperation::fcollect:
      for (int from = 0; from < n_pes; ++from) append(&expected, source_of(from, round, size_bytes), 0, size_bytes);
      break;
    default:
      for (int from = 0; from < n_pes; ++from) {
        append(&expected, source_of(from, round, parts * size_bytes), static_cast<std::size_t>(pe) * size_bytes,
               size_bytes);
      }
  }
  return expected;
}

constexpr CollectiveOperation movements[] = {CollectiveOperation::broadcast, CollectiveOperation::fcollect,
                                             CollectiveOperation::alltoall};

std::size_t source_bytes(CollectiveOperation operation, int n_pes, std::size_t size_bytes) {
  return operation == CollectiveOperation::alltoall ? static_cast<std::size_t>(n_pes) * size_bytes : size_bytes;
}

void run_movements(core::Pe& pe, CollectiveSide& side, std::size_t size_bytes, std::size_t shift, Way way) {
  const int n_pes = pe.n_pes();
  for (const CollectiveOperation operation : movements) {
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", " + std::to_string(size_bytes) +
                 " bytes, shifted by " + std::to_string(shift) + (way == Way::host ? ", host" : ", stream"));
    const int root = static_cast<int>(size_bytes) % n_pes;
    const Bytes mine = source_of(pe.pe(), 0, source_bytes(operation, n_pes, size_bytes));
    const Bytes blank(side.room_bytes, 0xee);
    side.write(side.target, blank);
    side.write(side.source + shift, mine);
    ASSERT_TRUE(
        succeeded(side.call({operation, world, side.target + shift, side.source + shift, size_bytes, root}, way)));
    const Bytes expected = expected_target(operation, pe.pe(), n_pes, root, 0, size_bytes);
    Bytes whole = blank;
    std::copy(expected.begin(), expected.end(), whole.begin() + static_cast<std::ptrdiff_t>(shift));
    ASSERT_EQ(tests::first_difference(side.read(side.target, side.room_bytes), whole), side.room_bytes);
    ASSERT_EQ(tests::first_difference(side.read(side.source + shift, mine.size()), mine), mine.size());
  }
}

TEST(ShmemMovement, CopiesExactlyTheRange) {
  for (const int n_pes : {1, 2, 3, 5, 8}) {
    if (n_pes > tests::most_pes) continue;
    SCOPED_TRACE(std::to_string(n_pes) + " PEs");
    run_shmem_job(little_scratch(n_pes), [](core::Pe& pe) {
      CollectiveSide side(pe, 400'000);
      for (const std::size_t size : {1U, 3U, 8U, 100U, 1024U, 4100U, 40'000U}) {
        for (const std::size_t shift : {0U, 1U, 4U, 8U}) {
          if (shift != 0 && size > 4100) continue;
          for (const Way way : {Way::host, Way::stream}) run_movements(pe, side, size, shift, way);
        }
      }
    });
  }
}

/// From every root.
void run_broadcasts(core::Pe& pe, std::size_t size, std::size_t shift) {
  CollectiveSide side(pe, size + 256);
  for (int root = 0; root < pe.n_pes(); ++root) {
    if (pe.n_pes() > 8 && root != 21) continue;  // a call of 64 PEs takes seconds on few CPUs
    for (const bool is_in_place : {false, true}) {
      if (pe.n_pes() > 8 && is_in_place) continue;
      SCOPED_TRACE(std::to_string(pe.n_pes()) + " PEs, root " + std::to_string(root) + ", " + std::to_string(size) +
                   " bytes, shifted by " + std::to_string(shift) + (is_in_place ? ", in place" : ""));
      const Bytes expected = source_of(root, 5, size);
      side.write(side.target, Bytes(side.room_bytes, 0xee));
      std::uint8_t* const source = (is_in_place ? side.target : side.source) + shift;
      if (pe.pe() == root) side.write(source, expected);
      ASSERT_TRUE(succeeded(
          side.call({CollectiveOperation::broadcast, world, side.target + shift, source, size, root}, Way::stream)));
      Bytes whole(side.room_bytes, 0xee);
      std::copy(expected.begin(), expected.end(), whole.begin() + static_cast<std::ptrdiff_t>(shift));
      ASSERT_EQ(tests::first_difference(side.read(side.target, side.room_bytes), whole), side.room_bytes);
    }
  }
}

TEST(ShmemMovement, SplitsLargeBroadcasts) {
  for (const int n_pes : {3, 4, 5, 8}) {
    if (n_pes > tests::most_pes) continue;
    run_shmem_job(little_scratch(n_pes), [](core::Pe& pe) {
      for (const std::size_t shift : {0U, 8U}) run_broadcasts(pe, 1'000'003, shift);
    });
  }
}

TEST(ShmemMovement, BroadcastsInShares) {
  for (const tests::InShares& one : tests::broadcasts_in_shares) {
    if (!one.can_run()) continue;
    run_shmem_job(one.options(), [&](core::Pe& pe) {
      run_broadcasts(pe, one.size_bytes, 0);
      if (one.n_pes <= 5) run_broadcasts(pe, one.size_bytes, 3);
    });
  }
}

TEST(ShmemMovement, SupportsInPlaceBuffers) {
  run_shmem_job(little_scratch(3), [](core::Pe& pe) {
    CollectiveSide side(pe, 100'000);
    for (const Way way : {Way::host, Way::stream}) {
      for (const std::size_t size : {5U, 1000U, 20'000U}) {
        const auto own = static_cast<std::size_t>(pe.pe()) * size;
        side.write(side.target + own, source_of(pe.pe(), 0, size));
        ASSERT_TRUE(
            succeeded(side.call({CollectiveOperation::fcollect, world, side.target, side.target + own, size}, way)));
        EXPECT_EQ(side.read(side.target, 3 * size),
                  expected_target(CollectiveOperation::fcollect, pe.pe(), 3, 0, 0, size));
        side.write(side.target, source_of(pe.pe(), 1, size));
        ASSERT_TRUE(
            succeeded(side.call({CollectiveOperation::broadcast, world, side.target, side.target, size, 2}, way)));
        EXPECT_EQ(side.read(side.target, size), source_of(2, 1, size));
        // All PEs have read their targets before a PE writes its own target without a collective.
        ASSERT_TRUE(succeeded(pe.sync_all()));
      }
    }
  });
}

/// Calls follow each other in one stream, on the same buffers, without synchronization between them, and with random
/// delays of PEs. The targets are copied in the stream and compared at the end.
void run_many_calls(core::Pe& pe, unsigned rounds, const std::vector<std::size_t>& sizes) {
  const int pes = pe.n_pes();
  CollectiveSide side(pe, 5 * sizes.back());
  auto& device = pe.device();
  std::mt19937 same(7);                                       // what is called
  std::mt19937 own(static_cast<unsigned>(pe.pe()) * 77 + 1);  // when
  struct Call {
    CollectiveOperation operation;
    std::size_t size;
    int root;
    Bytes source;
    Bytes seen;
  };
  std::vector<Call> calls(rounds);
  for (unsigned round = 0; round < rounds; ++round) {
    Call& call = calls[round];
    call.operation = movements[same() % 3];
    call.size = sizes[same() % sizes.size()];
    call.root = static_cast<int>(same() % static_cast<unsigned>(pes));
    call.source = source_of(pe.pe(), round, source_bytes(call.operation, pes, call.size));
    call.seen.resize(expected_target(call.operation, pe.pe(), pes, call.root, round, call.size).size());
    const platform::DeviceScope scope(device);
    const auto source = reinterpret_cast<std::uint64_t>(side.source);
    const auto target = reinterpret_cast<std::uint64_t>(side.target);
    ASSERT_TRUE(succeeded(device.copy_to_device_async(source, call.source.data(), call.source.size(), side.stream())));
    ASSERT_TRUE(succeeded(pe.collectives().launch(
        {call.operation, world, side.target, side.source, call.size, call.root}, side.stream())));
    ASSERT_TRUE(succeeded(device.copy_to_host_async(call.seen.data(), target, call.seen.size(), side.stream())));
    if (own() % 8 == 0) {
      ASSERT_TRUE(succeeded(device.synchronize(side.stream())));
      std::this_thread::sleep_for(std::chrono::microseconds(own() % 3000));
    }
  }
  const platform::DeviceScope scope(device);
  ASSERT_TRUE(succeeded(device.synchronize(side.stream())));
  for (unsigned round = 0; round < rounds; ++round) {
    const Call& call = calls[round];
    ASSERT_EQ(
        tests::first_difference(call.seen, expected_target(call.operation, pe.pe(), pes, call.root, round, call.size)),
        call.seen.size())
        << "round " << round << ", operation " << static_cast<int>(call.operation) << ", " << call.size << " bytes";
  }
}

TEST(ShmemMovement, RepeatsCalls) {
  run_shmem_job(little_scratch(tests::pes_with_own_device(4)), [](core::Pe& pe) {
    run_many_calls(pe, 120, {4, 8, 200, 1500, 6000, 20'000});
  });
}

/// The same cells of the scratch memory belong to other senders from call to call.
TEST(ShmemMovement, RepeatsCallsInShares) {
  tests::ShmemJobOptions options = tests::InShares{tests::pes_with_own_device(4), 0}.options();
  options.heap_bytes = std::uint64_t{32} << 20;
  run_shmem_job(options, [](core::Pe& pe) { run_many_calls(pe, 60, {8, 20'000, 110'001, 240'000}); });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
