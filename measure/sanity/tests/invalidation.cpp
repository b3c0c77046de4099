// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The contents of a mapping after its context was closed or its memory freed.
#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {
namespace {

void check_content(gdr_mh_t handle, const std::uint8_t* mapping, const Bytes& expected, const char* when) {
  Bytes seen(expected.size());
  SANITY_RESULT(gdr_copy_from_mapping(handle, seen.data(), mapping, seen.size()), 0);
  const std::size_t at = first_difference(seen.data(), expected.data(), expected.size());
  SANITY_CHECK(at == expected.size(), "%s: byte %zu is %02x, not %02x", when, at, seen[at], expected[at]);
}

}  // namespace

void invalidation_access_after_gdr_close(const Environment& environment) {
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  SANITY_CHECK(!load_faults(bytes), "the mapping cannot be read while it is open");
  context.close();
  for (const std::size_t offset : {std::size_t{0}, four_pages / 2, four_pages - 1}) {
    SANITY_CHECK(load_faults(bytes + offset), "byte %zu can still be read after gdr_close", offset);
    SANITY_CHECK(store_faults(bytes + offset), "byte %zu can still be written after gdr_close", offset);
  }
}

void invalidation_access_after_free(const Environment& environment) {
  auto [device, memory, context, handle, bytes] = MappedPages(environment, four_pages);
  const Bytes written = pattern(four_pages, 1);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
  memory.free();
  int flag = -1;
  SANITY_RESULT(gdr_get_callback_flag(context, handle, &flag), 0);
  if (is_persistent(context)) {
    SANITY_CHECK(flag == 0, "the callback flag is %d with persistent mappings", flag);
    check_content(handle, bytes, written, "after the memory was freed (persistent)");
  } else {
    SANITY_CHECK(flag == 1, "the callback flag is %d after the memory was freed", flag);
    SANITY_CHECK(load_faults(bytes), "the mapping can still be read after the memory was freed");
  }
  SANITY_RESULT(gdr_unmap(context, handle, bytes, four_pages), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, handle), 0);
  context.close();
}

void invalidation_two_mappings(const Environment& environment) {
  const auto device = open_device(environment);
  AlignedAllocation freed = allocate(device.get(), environment, four_pages);
  const AlignedAllocation kept = allocate(device.get(), environment, four_pages);
  Context context;
  const gdr_mh_t freed_handle = pin(context, freed.address(), four_pages);
  const gdr_mh_t kept_handle = pin(context, kept.address(), four_pages);
  std::uint8_t* freed_bytes = map(context, freed_handle, four_pages);
  std::uint8_t* kept_bytes = map(context, kept_handle, four_pages);
  const Bytes first = pattern(four_pages, 1);
  const Bytes second = pattern(four_pages, 2);
  SANITY_RESULT(gdr_copy_to_mapping(freed_handle, freed_bytes, first.data(), first.size()), 0);
  SANITY_RESULT(gdr_copy_to_mapping(kept_handle, kept_bytes, second.data(), second.size()), 0);
  freed.free();
  check_content(kept_handle, kept_bytes, second, "the other buffer was freed");
  const Bytes third = pattern(four_pages, 3);
  SANITY_RESULT(gdr_copy_to_mapping(kept_handle, kept_bytes, third.data(), third.size()), 0);
  SANITY_CHECK(read_device(device.get(), kept.address(), four_pages) == third,
               "the kept buffer accepts no writes after the other buffer was freed");
  SANITY_RESULT(gdr_unmap(context, freed_handle, freed_bytes, four_pages), 0);
  SANITY_RESULT(gdr_unmap(context, kept_handle, kept_bytes, four_pages), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, freed_handle), 0);
  SANITY_RESULT(gdr_unpin_buffer(context, kept_handle), 0);
  context.close();
}

}  // namespace gdrkit::measure::sanity
