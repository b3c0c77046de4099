// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Data written by one method is read by another: raw stores, copies and the device's own copies.
#include <algorithm>
#include <cerrno>

#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr std::size_t data_bytes = 256 * 1024;

struct Mapped {
  gdr_mh_t handle;
  std::uint8_t* bytes;
};

Mapped pin_and_map(gdr_t context, gdr_mh_t handle) {
  const gdr_info_t before = info_of(context, handle);
  SANITY_CHECK(before.mapped == 0, "info.mapped is %u before the buffer was mapped", unsigned{before.mapped});
  std::uint8_t* bytes = map(context, handle, data_bytes);
  const gdr_info_t after = info_of(context, handle);
  SANITY_CHECK(after.mapped == 1, "info.mapped is %u after the buffer was mapped", unsigned{after.mapped});
  return {handle, bytes};
}

void check_equal(const Bytes& seen, const Bytes& expected, const char* how) {
  const std::size_t at = first_difference(seen.data(), expected.data(), expected.size());
  SANITY_CHECK(at == expected.size(), "%s: byte %zu is %02x, not %02x", how, at, seen[at], expected[at]);
}

void check_raw_stores(platform::Device* device, std::uint64_t address, const Mapped& mapped) {
  constexpr int repeats = 1000;
  constexpr std::size_t words = 4096 / sizeof(std::uint32_t);
  Bytes expected;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    expected = pattern(words * sizeof(std::uint32_t), static_cast<unsigned>(repeat));
    auto* target = reinterpret_cast<volatile std::uint32_t*>(mapped.bytes);
    const auto* source = reinterpret_cast<const std::uint32_t*>(expected.data());
    for (std::size_t word = 0; word < words; ++word) target[word] = source[word];
  }
  flush_write_combining();
  check_equal(read_device(device, address, expected.size()), expected, "raw stores, read by the device");
}

void check_copies(platform::Device* device, std::uint64_t address, const Mapped& mapped) {
  const Bytes first = pattern(data_bytes, 2001);
  SANITY_RESULT(gdr_copy_to_mapping(mapped.handle, mapped.bytes, first.data(), first.size()), 0);
  check_equal(read_device(device, address, data_bytes), first, "gdr_copy_to_mapping, read by the device");

  const Bytes second = pattern(data_bytes, 2002);
  SANITY_RESULT(gdr_copy_to_mapping(mapped.handle, mapped.bytes, second.data(), second.size()), 0);
  Bytes seen(data_bytes);
  SANITY_RESULT(gdr_copy_from_mapping(mapped.handle, seen.data(), mapped.bytes, seen.size()), 0);
  check_equal(seen, second, "gdr_copy_to_mapping, then gdr_copy_from_mapping");

  const Bytes third = pattern(data_bytes, 2003);
  write_device(device, address, third);
  SANITY_RESULT(gdr_copy_from_mapping(mapped.handle, seen.data(), mapped.bytes, seen.size()), 0);
  check_equal(seen, third, "written by the device, gdr_copy_from_mapping");
}

/// A round trip with unaligned device and host addresses.
void check_offset(platform::Device* device, std::uint64_t address, const Mapped& mapped, std::size_t device_offset,
                  std::size_t host_offset, unsigned seed) {
  const std::size_t size = data_bytes - std::max(device_offset, host_offset);
  const Bytes source = pattern(data_bytes, seed);
  const Bytes expected(source.begin() + static_cast<std::ptrdiff_t>(host_offset),
                       source.begin() + static_cast<std::ptrdiff_t>(host_offset + size));
  SANITY_RESULT(gdr_copy_to_mapping(mapped.handle, mapped.bytes + device_offset, source.data() + host_offset, size), 0);
  check_equal(read_device(device, address + device_offset, size), expected, "offset copy to the device");
  Bytes back(data_bytes);
  SANITY_RESULT(gdr_copy_from_mapping(mapped.handle, back.data() + host_offset, mapped.bytes + device_offset, size), 0);
  back.erase(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(host_offset));
  back.resize(size);
  check_equal(back, expected, "offset copy from the device");
}

void check_offsets(platform::Device* device, std::uint64_t address, const Mapped& mapped) {
  constexpr std::size_t offsets[] = {1, 2, 3, 4, 5, 6, 7, 11, 129, 1023};
  unsigned seed = 3000;
  for (const std::size_t unit : {std::size_t{4}, std::size_t{1}}) {
    for (const std::size_t offset : offsets) {
      check_offset(device, address, mapped, offset * unit, 0, ++seed);
      check_offset(device, address, mapped, 0, offset * unit, ++seed);
      check_offset(device, address, mapped, offset * unit, offset * unit, ++seed);
    }
  }
}

void validate(const Environment& environment, bool uses_v2, std::uint32_t flags) {
  auto [device, memory, context] = OpenPages(environment, data_bytes);
  gdr_mh_t handle{};
  SANITY_RESULT(uses_v2 ? gdr_pin_buffer_v2(context, memory.address(), data_bytes, flags, &handle)
                        : gdr_pin_buffer(context, memory.address(), data_bytes, 0, 0, &handle),
                0);
  const Mapped mapped = pin_and_map(context, handle);
  check_raw_stores(device.get(), memory.address(), mapped);
  check_copies(device.get(), memory.address(), mapped);
  check_offsets(device.get(), memory.address(), mapped);
  SANITY_RESULT(gdr_unmap(context, handle, mapped.bytes, data_bytes), 0);
  SANITY_CHECK(info_of(context, handle).mapped == 0, "info.mapped stays 1 after gdr_unmap");
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

}  // namespace

void data_validation(const Environment& environment) { validate(environment, false, GDR_PIN_FLAG_DEFAULT); }

void data_validation_v2(const Environment& environment) { validate(environment, true, GDR_PIN_FLAG_DEFAULT); }

void data_validation_v2_forcepci(const Environment& environment) {
  int is_supported = 0;
  {
    Context context;
    SANITY_RESULT(gdr_get_attribute(context, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &is_supported), 0);
  }
  if (is_supported == 0) waive("FORCE_PCIE unsupported by this backend");
  validate(environment, true, GDR_PIN_FLAG_FORCE_PCIE);
}

void data_validation_mix_mappings(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, data_bytes);
  const gdr_mh_t combining = pin(context, memory.address(), data_bytes);
  const gdr_mh_t cached = pin(context, memory.address(), data_bytes);
  void* cached_mapping = nullptr;
  const int result = gdr_map_v2(context, cached, &cached_mapping, data_bytes, GDR_MAP_FLAG_REQ_CACHE_MAPPING);
  if (result == EOPNOTSUPP) waive("no cached mappings here: not a coherent platform");
  SANITY_RESULT(result, 0);
  void* combining_mapping = nullptr;
  SANITY_RESULT(gdr_map_v2(context, combining, &combining_mapping, data_bytes, GDR_MAP_FLAG_REQ_WC_MAPPING), 0);

  const auto check_from_to = [&](gdr_mh_t writer, void* target, gdr_mh_t reader, void* source, unsigned seed) {
    const Bytes written = pattern(data_bytes, seed);
    Bytes seen(data_bytes);
    SANITY_RESULT(gdr_copy_to_mapping(writer, target, written.data(), written.size()), 0);
    SANITY_RESULT(gdr_copy_from_mapping(reader, seen.data(), source, seen.size()), 0);
    check_equal(seen, written, "written through one type of mapping, read through the other");
  };
  check_from_to(combining, combining_mapping, cached, cached_mapping, 4001);
  check_from_to(cached, cached_mapping, combining, combining_mapping, 4002);
  context.close();
}

}  // namespace gdrkit::measure::sanity
