// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Ends of ranges, odd sizes and alignments, against an oracle of every byte.
#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "base/result.hpp"
#include "gdrkit/gdrkit.h"
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

void check_against_oracle(platform::Device* device, std::uint64_t address, const Bytes& oracle, const char* after) {
  const Bytes seen = read_device(device, address, oracle.size());
  const std::size_t at = first_difference(seen.data(), oracle.data(), oracle.size());
  SANITY_CHECK(at == oracle.size(), "%s: byte %zu is %02x, not %02x", after, at, seen[at], oracle[at]);
}

/// Small sizes as often as large ones, and sometimes one that just fits.
std::size_t pick_size(std::mt19937* random, std::size_t largest) {
  const unsigned shift = std::uniform_int_distribution<unsigned>(0, 18)(*random);
  const std::size_t size = std::uniform_int_distribution<std::size_t>(0, std::size_t{1} << shift)(*random);
  return std::min(size, largest);
}

}  // namespace

void ranges_last_byte_and_one_past(const Environment& environment) {
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  Bytes oracle = pattern(four_pages, 1);
  write_device(device.get(), memory.address(), oracle);
  std::uint8_t* const last = bytes + four_pages - 1;
  std::uint8_t value = static_cast<std::uint8_t>(~oracle.back());
  Bytes host(four_pages + 64, 0x77);

  SANITY_RESULT(gdr_copy_to_mapping(handle, last, &value, 1), 0);
  oracle.back() = value;
  check_against_oracle(device.get(), memory.address(), oracle, "a store to the last byte");
  value = 0;
  SANITY_RESULT(gdr_copy_from_mapping(handle, &value, last, 1), 0);
  SANITY_CHECK(value == oracle.back(), "the last byte reads %02x, not %02x", value, oracle.back());

  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{64}, four_pages}) {
    SANITY_RESULT(gdr_copy_to_mapping(handle, last + 1, host.data(), size), EINVAL);
    SANITY_RESULT(gdr_copy_from_mapping(handle, host.data(), last + 1, size), EINVAL);
    SANITY_RESULT(gdr_copy_to_mapping(handle, last, host.data(), size + 1), EINVAL);
    SANITY_RESULT(gdr_copy_from_mapping(handle, host.data(), last, size + 1), EINVAL);
    SANITY_RESULT(gdr_copy_to_mapping(handle, bytes - size, host.data(), size), EINVAL);
    SANITY_RESULT(gdr_copy_from_mapping(handle, host.data(), bytes - 1, size), EINVAL);
  }
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, host.data(), four_pages + 1), EINVAL);
  check_against_oracle(device.get(), memory.address(), oracle, "refused copies");
  SANITY_CHECK(host == Bytes(host.size(), 0x77), "a failed copy wrote to the host's side");
  context.close();
}

void ranges_of_sizes_that_overflow(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, four_pages);
  gdr_mh_t refused{};
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - GPU_PAGE_SIZE, SIZE_MAX / 2,
                                 SIZE_MAX - memory.address(), SIZE_MAX - memory.address() + 1}) {
    const int result = gdr_pin_buffer(context, memory.address(), size, 0, 0, &refused);
    SANITY_CHECK(result == EINVAL || result == ENOMEM, "pinning %zu bytes: %d", size, result);
  }
  SANITY_RESULT(gdr_pin_buffer(context, 0, four_pages, 0, 0, &refused), EINVAL);
  SANITY_RESULT(gdr_pin_buffer(context, UINT64_MAX, 1, 0, 0, &refused), EINVAL);
  SANITY_CHECK(refused.h == 0, "a failed pin returned a handle");

  const gdr_mh_t handle = pin(context, memory.address(), four_pages);
  void* mapping = nullptr;
  for (const std::size_t size : {std::size_t{0}, four_pages + 1, SIZE_MAX, SIZE_MAX - 4095}) {
    SANITY_RESULT(gdr_map(context, handle, &mapping, size), EINVAL);
  }
  SANITY_CHECK(mapping == nullptr, "a failed map set its output");
  std::uint8_t* bytes = map(context, handle, four_pages);
  std::uint8_t byte = 0;
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX - reinterpret_cast<std::size_t>(bytes),
                                 SIZE_MAX - reinterpret_cast<std::size_t>(bytes) + 1}) {
    SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, &byte, size), EINVAL);
    SANITY_RESULT(gdr_copy_from_mapping(handle, &byte, bytes + 1, size), EINVAL);
  }
  SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
  context.close();
}

void ranges_smaller_map(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, four_pages);
  const Bytes oracle = pattern(four_pages, 1);
  write_device(device.get(), memory.address(), oracle);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4096}, std::size_t{5000}, std::size_t{GPU_PAGE_SIZE}, four_pages - 4096}) {
    const gdr_mh_t handle = pin(context, memory.address(), four_pages);
    std::uint8_t* bytes = map(context, handle, size);
    const std::size_t host_pages = (size + 4095) & ~std::size_t{4095};
    Bytes seen(host_pages);
    SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), bytes, host_pages), 0);
    SANITY_CHECK(first_difference(seen.data(), oracle.data(), host_pages) == host_pages, "%zu mapped bytes differ",
                 size);
    Bytes more(host_pages + 1);
    SANITY_RESULT(gdr_copy_from_mapping(handle, more.data(), bytes, host_pages + 1), EINVAL);
    SANITY_RESULT(gdr_copy_to_mapping(handle, bytes + host_pages, more.data(), 1), EINVAL);
    SANITY_RESULT(gdr_unmap(context, handle, bytes, size), 0);
    SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  }
  context.close();
}

void ranges_unaligned_copies(const Environment& environment) {
  constexpr int copies = 3000;
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  Bytes oracle = pattern(four_pages, 1);
  write_device(device.get(), memory.address(), oracle);
  std::mt19937 random(20260101);
  for (int count = 0; count < copies; ++count) {
    const std::size_t size = pick_size(&random, four_pages);
    const std::size_t offset = std::uniform_int_distribution<std::size_t>(0, four_pages - size)(random);
    const std::size_t host_offset = std::uniform_int_distribution<std::size_t>(0, 63)(random);
    if (count % 2 == 0) {
      const Bytes source = pattern(size + host_offset, static_cast<unsigned>(random()));
      SANITY_RESULT(gdr_copy_to_mapping(handle, bytes + offset, source.data() + host_offset, size), 0);
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(host_offset), size,
                  oracle.begin() + static_cast<std::ptrdiff_t>(offset));
      if (count % 100 == 0) check_against_oracle(device.get(), memory.address(), oracle, "an unaligned store");
    } else if (size <= 4096 || count % 50 == 1) {  // loads over PCIe are slow, and the large ones are all alike
      Bytes target(size + host_offset + 64, 0x77);
      SANITY_RESULT(gdr_copy_from_mapping(handle, target.data() + host_offset, bytes + offset, size), 0);
      SANITY_CHECK(first_difference(target.data() + host_offset, oracle.data() + offset, size) == size,
                   "a load of %zu bytes at %zu differs", size, offset);
      for (std::size_t at = 0; at < 64; ++at) {
        SANITY_CHECK(target[host_offset + size + at] == 0x77 && (at >= host_offset || target[at] == 0x77),
                     "a load of %zu bytes at %zu wrote outside its target", size, offset);
      }
    }
  }
  check_against_oracle(device.get(), memory.address(), oracle, "all unaligned stores");
  context.close();
}

void ranges_unaligned_pins(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, four_pages);
  Bytes oracle = pattern(four_pages, 1);
  write_device(device.get(), memory.address(), oracle);
  gdrkit_context_t context{};
  SANITY_RESULT(gdrkit_open(nullptr, &context), 0);
  std::mt19937 random(7);
  for (int count = 0; count < 60; ++count) {
    const std::size_t size = std::max<std::size_t>(1, pick_size(&random, four_pages));
    const std::size_t start = std::uniform_int_distribution<std::size_t>(0, four_pages - size)(random);
    gdrkit_pin_t pin{};
    void* address = nullptr;
    SANITY_RESULT(gdrkit_pin(context, memory.address() + start, size, &pin), 0);
    SANITY_RESULT(gdrkit_map(pin, nullptr, &address), 0);
    const std::uint8_t first = *static_cast<volatile std::uint8_t*>(address);
    SANITY_CHECK(first == oracle[start], "the pointer is not that of the user's byte %zu", start);
    std::uint8_t byte = 0;
    SANITY_RESULT(gdrkit_read(pin, size - 1, &byte, 1), 0);
    SANITY_CHECK(byte == oracle[start + size - 1], "the last byte of %zu at %zu differs", size, start);
    SANITY_RESULT(gdrkit_read(pin, size, &byte, 1), -EINVAL);
    SANITY_RESULT(gdrkit_read(pin, size - 1, &byte, 2), -EINVAL);
    SANITY_RESULT(gdrkit_read(pin, SIZE_MAX, &byte, 1), -EINVAL);
    SANITY_RESULT(gdrkit_write(pin, 1, &byte, SIZE_MAX), -EINVAL);
    const Bytes source = pattern(std::min<std::size_t>(size, 1000), static_cast<unsigned>(random()));
    const std::size_t offset = size - source.size();
    SANITY_RESULT(gdrkit_write(pin, offset, source.data(), source.size()), 0);
    std::ranges::copy(source, oracle.begin() + static_cast<std::ptrdiff_t>(start + offset));
    SANITY_RESULT(gdrkit_unmap(pin), 0);
    SANITY_RESULT(gdrkit_unpin(pin), 0);
  }
  check_against_oracle(device.get(), memory.address(), oracle, "writes through unaligned pins");
  SANITY_RESULT(gdrkit_close(context), 0);
}

void ranges_sub_allocations(const Environment& environment) {
  const auto device = open_device(environment);
  constexpr std::size_t sizes[] = {1, 8, 100, 256, 512, 1000, 4096, 5000, 65536, 70000};
  struct Small {
    platform::Allocation memory;
    gdrkit_pin_t pin{};
    Bytes content;
  };
  std::vector<Small> all;
  gdrkit_context_t context{};
  SANITY_RESULT(gdrkit_open(nullptr, &context), 0);
  unsigned seed = 0;
  for (int round = 0; round < 4; ++round) {
    for (const std::size_t size : sizes) {
      auto allocated = device->allocate(environment.kind, size);
      SANITY_CHECK(allocated.has_value(), "%s", allocated.error().text());
      Small small{std::move(*allocated), {}, pattern(size, ++seed)};
      void* address = nullptr;
      SANITY_RESULT(gdrkit_pin(context, small.memory.address(), size, &small.pin), 0);
      SANITY_RESULT(gdrkit_map(small.pin, nullptr, &address), 0);
      SANITY_RESULT(gdrkit_write(small.pin, 0, small.content.data(), size), 0);
      all.push_back(std::move(small));
    }
  }
  // All at once: none reads or overwrites another's bytes, although many share a page.
  for (Small& small : all) {
    SANITY_CHECK(read_device(device.get(), small.memory.address(), small.content.size()) == small.content,
                 "an allocation of %zu bytes does not contain the bytes that were written to it", small.content.size());
    Bytes seen(small.content.size());
    SANITY_RESULT(gdrkit_read(small.pin, 0, seen.data(), seen.size()), 0);
    SANITY_CHECK(seen == small.content, "the mapping of %zu bytes does not show the content of its allocation",
                 seen.size());
  }
  SANITY_RESULT(gdrkit_close(context), 0);
}

}  // namespace gdrkit::measure::sanity
