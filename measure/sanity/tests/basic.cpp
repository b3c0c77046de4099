// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening, pinning, mapping and their counterparts, through the drop-in library.
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/result.hpp"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

/// GDRCopy pins 256 KiB and 16 bytes rounded up to GPU pages.
constexpr std::size_t basic_bytes = (usual_bytes + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
static_assert(basic_bytes == 320 * 1024);

int supports_force_pcie(gdr_t context) {
  int value = 0;
  SANITY_RESULT(gdr_get_attribute(context, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
  return value;
}

void pin_and_unpin_v2(gdr_t context, std::uint64_t address, std::uint32_t flags) {
  gdr_mh_t handle{};
  SANITY_RESULT(gdr_pin_buffer_v2(context, address, basic_bytes, flags, &handle), 0);
  SANITY_CHECK(handle.h != 0, "the handle of a pinned buffer is 0");
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
}

}  // namespace

void attributes_sanity(const Environment&) {
  Context context;
  for (const gdr_attr_t attribute :
       {GDR_ATTR_USE_PERSISTENT_MAPPING, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, GDR_ATTR_USING_DMA_BUF_MMAP}) {
    int value = -1;
    SANITY_RESULT(gdr_get_attribute(context, attribute, &value), 0);
    SANITY_CHECK(value == 0 || value == 1, "attribute %d is %d", static_cast<int>(attribute), value);
  }
  context.close();
}

void basic(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, basic_bytes);
  const gdr_mh_t handle = pin(context, memory.address(), basic_bytes);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

void basic_v2(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, basic_bytes);
  pin_and_unpin_v2(context, memory.address(), GDR_PIN_FLAG_DEFAULT);
  context.close();
}

void basic_v2_forcepci(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, basic_bytes);
  if (supports_force_pcie(context) == 0) {
    gdr_mh_t handle{};
    SANITY_RESULT(gdr_pin_buffer_v2(context, memory.address(), basic_bytes, GDR_PIN_FLAG_FORCE_PCIE, &handle), EINVAL);
    SANITY_CHECK(handle.h == 0, "a failed pin returned a handle");
    waive("FORCE_PCIE unsupported by this backend (and rejected with EINVAL, as required)");
  }
  pin_and_unpin_v2(context, memory.address(), GDR_PIN_FLAG_FORCE_PCIE);
  context.close();
}

void basic_with_tokens(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, basic_bytes);
  // Callers that still pass tokens must succeed.
  gdr_mh_t handle{};
  SANITY_RESULT(gdr_pin_buffer(context, memory.address(), basic_bytes, 0x1234567890abcdef, 0x1234, &handle), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  if (is_persistent(context)) waive("pins are persistent here: tokens are accepted and ignored");
  context.close();
}

void basic_unaligned_mapping(const Environment& environment) {
  const auto device = open_device(environment);
  constexpr std::size_t distance = 4096;
  AlignedAllocation neighbour = allocate(device.get(), environment, GPU_PAGE_SIZE);
  const AlignedAllocation memory = allocate(device.get(), environment, basic_bytes);
  Context context;

  const gdr_mh_t unaligned = pin(context, memory.address() + distance, GPU_PAGE_SIZE);
  void* mapping = nullptr;
  SANITY_RESULT(gdr_map(context, unaligned, &mapping, GPU_PAGE_SIZE), EINVAL);
  SANITY_CHECK(mapping == nullptr, "a failed map set its output");
  SANITY_RESULT(gdr_unpin_buffer(context, unaligned), 0);

  const gdr_mh_t aligned = pin(context, memory.address(), basic_bytes);
  std::uint8_t* bytes = map(context, aligned, basic_bytes);
  neighbour.free();
  const Bytes written = pattern(basic_bytes, 1);
  SANITY_RESULT(gdr_copy_to_mapping(aligned, bytes, written.data(), written.size()), 0);
  SANITY_CHECK(read_device(device.get(), memory.address(), basic_bytes) == written,
               "the content differs after a neighbour was freed");
  // Unpinning while mapped is allowed, and so is closing afterwards.
  SANITY_RESULT(gdr_unpin_buffer(context, aligned), 0);
  context.close();
}

void basic_small_buffers_mapping(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, GPU_PAGE_SIZE);
  constexpr std::size_t small_bytes = 8;
  constexpr std::size_t distance = 512;
  // Two small buffers of one GPU page, like small allocations of one block.
  const gdr_mh_t first = pin(context, memory.address(), small_bytes);
  const gdr_mh_t second = pin(context, memory.address() + distance, small_bytes);
  std::uint8_t* bytes = map(context, first, small_bytes);
  void* refused = nullptr;
  SANITY_RESULT(gdr_map(context, second, &refused, small_bytes), EINVAL);

  const std::uint64_t value = 0x0123456789abcdef;
  SANITY_RESULT(gdr_copy_to_mapping(first, bytes, &value, sizeof(value)), 0);
  const Bytes seen = read_device(device.get(), memory.address(), small_bytes);
  SANITY_CHECK(first_difference(seen.data(), reinterpret_cast<const std::uint8_t*>(&value), small_bytes) == small_bytes,
               "the first small buffer does not contain the bytes that were written");
  SANITY_RESULT(gdr_unmap(context, first, bytes, small_bytes), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, first), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, second), 0);
  context.close();
}

void basic_child_thread_pins_buffer(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, basic_bytes);
  Context context;
  const auto current = [&] { make_current(device.get()); };

  gdr_mh_t handle{};
  std::uint8_t* bytes = nullptr;
  std::thread([&] {
    current();
    handle = pin(context, memory.address(), basic_bytes);
    bytes = map(context, handle, basic_bytes);
  }).join();
  std::thread([&] {
    SANITY_RESULT(gdr_unmap(context, handle, bytes, basic_bytes), 0);
    SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  }).join();

  std::atomic<int> ready{0};
  const auto pin_and_map = [&] {
    current();
    ++ready;
    while (ready.load() < 2) std::this_thread::yield();
    const gdr_mh_t own = pin(context, memory.address(), basic_bytes);
    std::uint8_t* own_bytes = map(context, own, basic_bytes);
    SANITY_RESULT(gdr_unmap(context, own, own_bytes, basic_bytes), 0);
    SANITY_RESULT(gdr_unpin_buffer(context, own), 0);
  };
  std::thread left(pin_and_map);
  std::thread right(pin_and_map);
  left.join();
  right.join();
  std::thread([&] { context.close(); }).join();
}

}  // namespace gdrkit::measure::sanity
