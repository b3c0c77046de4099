// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations on a mapping without the library's knowledge, many mappings of one buffer, and several GPUs.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "measure/sanity/fixture.hpp"
#include "measure/sanity/helper_process.hpp"

namespace gdrkit::measure::sanity {
namespace {

/// Two buffers with a mapping each: one is misused, and the other must be unaffected.
struct Pair {
  explicit Pair(const Environment& environment)
      : device(open_device(environment)),
        victim_memory(allocate(device.get(), environment, four_pages)),
        other_memory(allocate(device.get(), environment, four_pages)),
        victim(pin(context, victim_memory.address(), four_pages)),
        other(pin(context, other_memory.address(), four_pages)),
        victim_bytes(map(context, victim, four_pages)),
        other_bytes(map(context, other, four_pages)) {
    write_device(device.get(), other_memory.address(), content);
  }

  /// The other mapping, and the library as a whole, still work.
  void check_rest_works() {
    Bytes seen(four_pages);
    SANITY_RESULT(gdr_copy_from_mapping(other, seen.data(), other_bytes, seen.size()), 0);
    SANITY_CHECK(seen == content, "the other mapping shows other bytes");
    const gdr_mh_t again = pin(context, victim_memory.address(), four_pages);
    std::uint8_t* bytes = map(context, again, four_pages);
    const Bytes written = pattern(four_pages, 77);
    SANITY_RESULT(gdr_copy_to_mapping(again, bytes, written.data(), written.size()), 0);
    SANITY_CHECK(read_device(device.get(), victim_memory.address(), four_pages) == written,
                 "a write through a new mapping does not reach the buffer");
    SANITY_RESULT(gdr_unmap(context, again, bytes, four_pages), 0);
    SANITY_RESULT(gdr_unpin_buffer(context, again), 0);
    SANITY_RESULT(gdr_unmap(context, other, other_bytes, four_pages), 0);
    context.close();
  }

  Bytes content = pattern(four_pages, 5);
  std::unique_ptr<platform::Device> device;
  AlignedAllocation victim_memory;
  AlignedAllocation other_memory;
  Context context;
  gdr_mh_t victim;
  gdr_mh_t other;
  std::uint8_t* victim_bytes;
  std::uint8_t* other_bytes;
};

/// munmap of one page of a mapping. A kernel module may refuse to split it (gdrkit's gdrdrv does): then all of it
/// stays.
void remove_page(const Pair& pair, std::size_t offset) {
  if (::munmap(pair.victim_bytes + offset, GPU_PAGE_SIZE) == 0) return;
  SANITY_CHECK(errno == EINVAL, "%s", std::strerror(errno));
  SANITY_CHECK(!load_faults(pair.victim_bytes + offset),
               "byte %zu, which munmap refused to remove, is no longer mapped", offset);
}

}  // namespace

void mapping_partial_munmap(const Environment& environment) {
  Pair pair(environment);
  remove_page(pair, 0);
  remove_page(pair, 3 * GPU_PAGE_SIZE);
  SANITY_RESULT(gdr_unmap(pair.context, pair.victim, pair.victim_bytes, four_pages), 0);
  for (std::size_t offset = 0; offset < four_pages; offset += GPU_PAGE_SIZE) {
    SANITY_CHECK(load_faults(pair.victim_bytes + offset), "byte %zu can still be read after gdr_unmap", offset);
  }
  SANITY_RESULT(gdr_unpin_buffer(pair.context, pair.victim), 0);
  pair.check_rest_works();
}

void mapping_mremap(const Environment& environment) {
  Pair pair(environment);
  // Grown to twice its size it extends past the allocation, where nothing may be visible.
  void* grown = ::mremap(pair.victim_bytes, four_pages, 2 * four_pages, MREMAP_MAYMOVE);
  if (grown != MAP_FAILED) {
    auto* bytes = static_cast<std::uint8_t*>(grown);
    SANITY_CHECK(load_faults(bytes + 2 * four_pages - 1), "a grown mapping shows memory past the allocation");
    SANITY_CHECK(::munmap(grown, 2 * four_pages) == 0, "%s", std::strerror(errno));
  } else {
    // Moved to an address chosen by the caller: the library's teardown must touch neither the new place's neighbours
    // nor the other mapping.
    void* place = ::mmap(nullptr, four_pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SANITY_CHECK(place != MAP_FAILED, "%s", std::strerror(errno));
    void* moved = ::mremap(pair.victim_bytes, four_pages, four_pages, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (moved != MAP_FAILED) SANITY_CHECK(::munmap(moved, four_pages) == 0, "%s", std::strerror(errno));
  }
  (void)gdr_unmap(pair.context, pair.victim, pair.victim_bytes, four_pages);
  SANITY_RESULT(gdr_unpin_buffer(pair.context, pair.victim), 0);
  pair.check_rest_works();
}

void mapping_many_of_one_buffer(const Environment& environment) {
  constexpr std::size_t count = 32;
  auto [device, memory, context] = OpenPages(environment, four_pages);
  std::vector<gdr_mh_t> handles;
  std::vector<std::uint8_t*> mappings;
  for (std::size_t number = 0; number < count; ++number) {
    handles.push_back(pin(context, memory.address(), four_pages));
    mappings.push_back(map(context, handles.back(), four_pages));
    void* again = nullptr;
    SANITY_RESULT(gdr_map(context, handles.back(), &again, four_pages), EAGAIN);
  }
  // Each writes its own part, and every mapping shows all parts.
  Bytes expected(four_pages);
  constexpr std::size_t part = four_pages / count;
  for (std::size_t number = 0; number < count; ++number) {
    const Bytes own = pattern(part, static_cast<unsigned>(number));
    SANITY_RESULT(gdr_copy_to_mapping(handles[number], mappings[number] + number * part, own.data(), part), 0);
    std::ranges::copy(own, expected.begin() + static_cast<std::ptrdiff_t>(number * part));
  }
  for (std::size_t number = 0; number < count; ++number) {
    Bytes seen(four_pages);
    SANITY_RESULT(gdr_copy_from_mapping(handles[number], seen.data(), mappings[number], seen.size()), 0);
    SANITY_CHECK(seen == expected, "mapping %zu of one buffer shows other bytes", number);
    // Undoing some must not affect the rest. Checked immediately: the next allocation may get the same addresses.
    const bool is_unmapped = number % 3 == 0;
    const bool is_unpinned = number % 2 == 0;
    if (is_unmapped) SANITY_RESULT(gdr_unmap(context, handles[number], mappings[number], four_pages), 0);
    if (is_unpinned) SANITY_RESULT(gdr_unpin_buffer(context, handles[number]), 0);
    if (!is_unmapped && !is_unpinned) continue;
    SANITY_CHECK(load_faults(mappings[number]), "mapping %zu is still valid after its %s ended", number,
                 is_unmapped ? "unmap" : "pin");
    mappings[number] = nullptr;
  }
  context.close();
  for (std::uint8_t* mapping : mappings) {
    SANITY_CHECK(mapping == nullptr || load_faults(mapping), "a mapping is still valid after its context was closed");
  }
}

void mapping_goes_to_the_gpu_that_owns_it(const Environment& environment) {
  if (environment.is_emulated) waive("fewer than 2 GPUs: the emulated device is a single one");
  constexpr std::size_t all = 8;
  // In a helper: this process must not initialize CUDA before it has set the numbering of GPUs.
  HelperProcess counter([](Channel* channel) {
    const auto counted = platform::cuda_device_count();
    channel->send(counted.has_value() ? *counted : 0);
  });
  const int gpus = counter.channel().receive<int>();
  counter.wait();
  if (gpus < 2) waive(cli::format("fewer than 2 GPUs: CUDA shows %d", gpus));
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr && *visible != '\0') {
    waive("CUDA_VISIBLE_DEVICES is set, and this test has to change the variable; unset it");
  }
  std::string reversed;
  for (int gpu = gpus - 1; gpu >= 0; --gpu) reversed += (reversed.empty() ? "" : ",") + std::to_string(gpu);
  for (const bool is_reversed : {false, true}) {
    HelperProcess helper([&](Channel*) {
      if (is_reversed) ::setenv("CUDA_VISIBLE_DEVICES", reversed.c_str(), 1);
      Context context;
      for (int ordinal = 0; ordinal < std::min<int>(gpus, all); ++ordinal) {
        Environment own = environment;
        own.ordinal = ordinal;
        const auto device = open_device(own);
        const AlignedAllocation memory = allocate(device.get(), own, four_pages);
        const gdr_mh_t handle = pin(context, memory.address(), four_pages);
        std::uint8_t* bytes = map(context, handle, four_pages);
        const Bytes written = pattern(four_pages, static_cast<unsigned>(ordinal));
        SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
        SANITY_CHECK(read_device(device.get(), memory.address(), four_pages) == written,
                     "the mapping of GPU %d (%s) does not reach its memory", ordinal, device->identity().pci_bus_id);
        SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
        SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
      }
      context.close();
    });
    helper.wait();
  }
}

}  // namespace gdrkit::measure::sanity
