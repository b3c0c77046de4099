// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every copy kernel of the library that this CPU supports: all alignments against an oracle, and polling loads.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gdrkit/gdrkit.h"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr std::size_t window_bytes = 16384;

/// Must be called before the library opens its first context, which reads the variable.
void force_kernel(const std::string& requested) {
  int is_usable = 0;
  for (unsigned index = 0; const char* name = gdrkit_copy_kernel_name(index, &is_usable); ++index) {
    if (requested != name) continue;
    if (is_usable == 0) waive("this CPU does not support the copy kernel");
    ::setenv("GDRKIT_COPY_KERNEL", name, 1);
    return;
  }
  fail("the library has no copy kernel of this name");
}

/// Stores of one size at one place, with the host buffer at each of a few alignments. The bytes around must not change.
void check_store(MappedPages* window, Bytes* oracle, std::size_t offset, std::size_t size, unsigned seed) {
  const std::size_t host_offset = seed % 64;
  const Bytes source = pattern(size + host_offset, seed);
  SANITY_RESULT(gdr_copy_to_mapping(window->handle, window->bytes + offset, source.data() + host_offset, size), 0);
  std::memcpy(oracle->data() + offset, source.data() + host_offset, size);
}

void check_load(MappedPages* window, const Bytes& oracle, std::size_t offset, std::size_t size, unsigned seed) {
  constexpr std::size_t red_zone = 64;
  const std::size_t host_offset = red_zone + seed % 64;
  Bytes target(size + host_offset + red_zone, 0x77);
  SANITY_RESULT(gdr_copy_from_mapping(window->handle, target.data() + host_offset, window->bytes + offset, size), 0);
  SANITY_CHECK(first_difference(target.data() + host_offset, oracle.data() + offset, size) == size,
               "a load of %zu bytes at %zu to a host address of offset %zu differs", size, offset, host_offset % 64);
  for (std::size_t at = 0; at < target.size(); ++at) {
    const bool is_inside = at >= host_offset && at < host_offset + size;
    SANITY_CHECK(is_inside || target[at] == 0x77, "a load of %zu bytes wrote outside its target", size);
  }
}

}  // namespace

void copy_kernel(const Environment& environment) {
  constexpr std::size_t offsets = 128;
  constexpr std::size_t sizes[] = {1,  2,  3,  4,  5,   7,   8,   9,   15,  16,  17,  31,  32,  33,   47,   63,   64,
                                   65, 95, 96, 97, 127, 128, 129, 191, 192, 255, 256, 257, 511, 1000, 1023, 4096, 5003};
  force_kernel(environment.argument);
  MappedPages window(environment, GPU_PAGE_SIZE);
  Bytes oracle = pattern(window_bytes, 1);
  write_device(window.device.get(), window.memory.address(), oracle);
  unsigned seed = 1;
  for (std::size_t offset = 0; offset < offsets; ++offset) {
    for (const std::size_t size : sizes) {
      check_store(&window, &oracle, offset, size, ++seed);
      // Loads over PCIe take a microsecond per line: all sizes at some places, some sizes at all places.
      if (size <= 256 || offset % 16 == 0) check_load(&window, oracle, offset, size, ++seed);
    }
    const Bytes seen = read_device(window.device.get(), window.memory.address(), window_bytes);
    const std::size_t at = first_difference(seen.data(), oracle.data(), window_bytes);
    SANITY_CHECK(at == window_bytes, "after stores at offset %zu byte %zu is %02x, not %02x", offset, at, seen[at],
                 oracle[at]);
  }
  window.context.close();
}

namespace {

constexpr int device_writes = 200;
constexpr int other_cpu_writes = 50;

/// The device writes between two loads of the same lines: the second must not return data fetched by the first.
void check_device_writes_are_seen(MappedPages* window, std::size_t size) {
  Bytes seen(size);
  for (int count = 0; count < device_writes; ++count) {
    const Bytes written = pattern(size, static_cast<unsigned>(count) * 8 + 1);
    SANITY_RESULT(gdr_copy_from_mapping(window->handle, seen.data(), window->bytes, size), 0);
    write_device(window->device.get(), window->memory.address(), written);
    SANITY_RESULT(gdr_copy_from_mapping(window->handle, seen.data(), window->bytes, size), 0);
    SANITY_CHECK(seen == written, "a load of %zu bytes returned data from before the device's write (write %d)", size,
                 count);
  }
}

/// Another CPU writes while this one polls: the store must become visible soon, not only when a buffer is evicted.
void check_other_cpu_is_seen(MappedPages* window, std::size_t size) {
  constexpr auto patience = std::chrono::seconds(10);
  const auto content = [size](int turn) { return pattern(size, static_cast<unsigned>(turn) * 8 + 2); };
  std::atomic<int> expected_turn{0};  // turn that the reader waits for
  std::thread writer([&] {
    for (int turn = 1; turn <= other_cpu_writes; ++turn) {
      const Bytes written = content(turn);
      while (expected_turn.load() < turn) std::this_thread::yield();
      SANITY_RESULT(gdr_copy_to_mapping(window->handle, window->bytes, written.data(), size), 0);
    }
  });
  Bytes seen(size);
  for (int turn = 1; turn <= other_cpu_writes; ++turn) {
    const Bytes expected = content(turn);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    SANITY_RESULT(gdr_copy_from_mapping(window->handle, seen.data(), window->bytes, size), 0);
    expected_turn = turn;
    while (seen != expected) {
      SANITY_RESULT(gdr_copy_from_mapping(window->handle, seen.data(), window->bytes, size), 0);
      SANITY_CHECK(std::chrono::steady_clock::now() < deadline, "polling %zu bytes did not see a store for 10 s", size);
    }
  }
  writer.join();
}

}  // namespace

void polling_freshness(const Environment& environment) {
  force_kernel(environment.argument);
  MappedPages window(environment, GPU_PAGE_SIZE);
  for (const std::size_t size : {std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{32},
                                 std::size_t{64}, std::size_t{128}, std::size_t{1024}}) {
    check_device_writes_are_seen(&window, size);
    check_other_cpu_is_seen(&window, size);
  }
  window.context.close();
}

}  // namespace gdrkit::measure::sanity
