// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Calls from several threads at once.
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr int thread_count = 8;
constexpr std::size_t part_bytes = GPU_PAGE_SIZE;
constexpr std::size_t all_bytes = thread_count * part_bytes;

template <class Body>
void in_threads(platform::Device* device, Body&& body) {
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number) {
    threads.emplace_back([&body, device, number] {
      make_current(device);
      body(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void threads_pin_map_copy(const Environment& environment) {
  constexpr int repeats = 40;
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, all_bytes);
  Context context;
  std::vector<Bytes> last(thread_count);
  in_threads(device.get(), [&](int number) {
    const std::size_t offset = static_cast<std::size_t>(number) * part_bytes;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const gdr_mh_t handle = pin(context, memory.address() + offset, part_bytes);
      std::uint8_t* bytes = map(context, handle, part_bytes);
      Bytes written = pattern(part_bytes, static_cast<unsigned>(number * repeats + repeat));
      Bytes seen(4096);
      SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
      SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), bytes + part_bytes - seen.size(), seen.size()), 0);
      SANITY_CHECK(first_difference(seen.data(), written.data() + part_bytes - seen.size(), seen.size()) == seen.size(),
                   "thread %d does not read the bytes that it wrote", number);
      SANITY_RESULT(gdr_unmap(context, handle, bytes, part_bytes), 0);
      SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
      last[static_cast<std::size_t>(number)] = std::move(written);
    }
  });
  for (std::size_t number = 0; number < thread_count; ++number) {
    SANITY_CHECK(read_device(device.get(), memory.address() + number * part_bytes, part_bytes) == last[number],
                 "the part of thread %zu does not contain the bytes that it wrote", number);
  }
  context.close();
}

void threads_copy_through_one_mapping(const Environment& environment) {
  constexpr int repeats = 50;
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, all_bytes);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), all_bytes);
  std::uint8_t* bytes = map(context, handle, all_bytes);
  std::vector<Bytes> last(thread_count);
  in_threads(device.get(), [&](int number) {
    // Unaligned parts: neighbours share a line.
    const std::size_t offset = static_cast<std::size_t>(number) * (part_bytes - 13);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      Bytes written = pattern(part_bytes - 13, static_cast<unsigned>(number * repeats + repeat));
      Bytes seen(1000);
      SANITY_RESULT(gdr_copy_to_mapping(handle, bytes + offset, written.data(), written.size()), 0);
      SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), bytes + offset, seen.size()), 0);
      SANITY_CHECK(first_difference(seen.data(), written.data(), seen.size()) == seen.size(),
                   "thread %d does not read the bytes that it wrote", number);
      last[static_cast<std::size_t>(number)] = std::move(written);
    }
  });
  for (std::size_t number = 0; number < thread_count; ++number) {
    const Bytes seen = read_device(device.get(), memory.address() + number * (part_bytes - 13), part_bytes - 13);
    SANITY_CHECK(seen == last[number], "the part of thread %zu does not contain the bytes that it wrote", number);
  }
  context.close();
}

void threads_race_to_unpin(const Environment& environment) {
  constexpr int rounds = 60;
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, part_bytes);
  Context context;
  for (int round = 0; round < rounds; ++round) {
    const gdr_mh_t handle = pin(context, memory.address(), part_bytes);
    std::uint8_t* bytes = map(context, handle, part_bytes);
    std::atomic<int> unpinned{0};
    std::atomic<int> unmapped{0};
    std::atomic<int> ready{0};
    in_threads(device.get(), [&](int number) {
      ++ready;
      while (ready.load() < thread_count) std::this_thread::yield();
      if (number % 2 == 0) {
        const int result = gdr_unmap(context, handle, bytes, part_bytes);
        SANITY_CHECK(result == 0 || result == EINVAL, "gdr_unmap in a race: %d", result);
        if (result == 0) ++unmapped;
      } else {
        const int result = gdr_unpin_buffer(context, handle);
        SANITY_CHECK(result == 0 || result == EINVAL, "gdr_unpin_buffer in a race: %d", result);
        if (result == 0) ++unpinned;
      }
    });
    SANITY_CHECK(unpinned.load() == 1, "%d threads unpinned one buffer", unpinned.load());
    SANITY_CHECK(unmapped.load() <= 1, "%d threads unmapped one buffer", unmapped.load());
    SANITY_CHECK(load_faults(bytes), "the mapping is still valid after its pin ended");
  }
  context.close();
}

}  // namespace gdrkit::measure::sanity
