// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arguments other than handles: NULL outputs, flags, and the two layouts of the information struct.
#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "measure/sanity/fixture.hpp"

namespace gdrkit::measure::sanity {

void arguments_null_outputs(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, two_pages);
  SANITY_RESULT(gdr_pin_buffer(context, memory.address(), two_pages, 0, 0, nullptr), EINVAL);
  SANITY_RESULT(gdr_pin_buffer_v2(context, memory.address(), two_pages, 0, nullptr), EINVAL);
  const gdr_mh_t handle = pin(context, memory.address(), two_pages);
  SANITY_RESULT(gdr_map(context, handle, nullptr, two_pages), EINVAL);
  SANITY_RESULT(gdr_get_info(context, handle, nullptr), EINVAL);
  SANITY_RESULT(gdr_get_callback_flag(context, handle, nullptr), EINVAL);
  SANITY_RESULT(gdr_get_attribute(context, GDR_ATTR_USE_PERSISTENT_MAPPING, nullptr), EINVAL);
  std::uint8_t* bytes = map(context, handle, two_pages);
  std::uint8_t byte = 0;
  SANITY_RESULT(gdr_copy_to_mapping(handle, nullptr, &byte, 1), EINVAL);
  SANITY_RESULT(gdr_copy_from_mapping(handle, &byte, nullptr, 1), EINVAL);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, &byte, 0), 0);
  SANITY_RESULT(gdr_copy_from_mapping(handle, &byte, bytes, 0), 0);
  context.close();
}

void arguments_flags(const Environment& environment) {
  auto [device, memory, context] = OpenPages(environment, two_pages);
  gdr_mh_t handle{};
  // Undefined bits are ignored; callers of GDRCopy may rely on it.
  SANITY_RESULT(gdr_pin_buffer_v2(context, memory.address(), two_pages, 0xF0, &handle), 0);
  for (const int flag : {-1, 4, 5, 0x100, 0x7fffffff}) {
    void* mapping = nullptr;
    SANITY_RESULT(gdr_map_v2(context, handle, &mapping, two_pages, flag), EINVAL);
    SANITY_CHECK(mapping == nullptr, "a failed map set its output");
  }
  int served = 0;
  for (const int flag :
       {GDR_MAP_FLAG_REQ_WC_MAPPING, GDR_MAP_FLAG_REQ_CACHE_MAPPING, GDR_MAP_FLAG_REQ_DEVICE_MAPPING}) {
    void* mapping = nullptr;
    const int result = gdr_map_v2(context, handle, &mapping, two_pages, flag);
    SANITY_CHECK(result == 0 || result == EOPNOTSUPP, "mapping type %d: %d", flag, result);
    if (result != 0) continue;
    ++served;
    const gdr_info_t info = info_of(context, handle);
    SANITY_CHECK(static_cast<int>(info.mapping_type) == flag, "requested mapping type %d, got %d", flag,
                 static_cast<int>(info.mapping_type));
    SANITY_CHECK((info.wc_mapping == 1) == (flag == GDR_MAP_FLAG_REQ_WC_MAPPING), "wc_mapping is %u for type %d",
                 unsigned{info.wc_mapping}, flag);
    SANITY_RESULT(gdr_unmap(context, handle, mapping, two_pages), 0);
  }
  SANITY_CHECK(served > 0, "no mapping type can be requested by name");
  for (int type = 0; type < GDR_MAPPING_TYPE_MAX; ++type) {
    const char* text = nullptr;
    SANITY_RESULT(gdr_get_mapping_type_string(static_cast<gdr_mapping_type_t>(type), &text), 0);
    SANITY_CHECK(text != nullptr && text[0] != '\0', "mapping type %d has no name", type);
  }
  context.close();
}

void info_of_both_layouts(const Environment& environment) {
  auto [device, memory, context, handle, bytes] = MappedPages(environment, two_pages);
  const gdr_info_t info = info_of(context, handle);
  SANITY_CHECK(info.va == memory.address(), "info.va is not the first page");
  SANITY_CHECK(info.mapped_size == two_pages && info.page_size == GPU_PAGE_SIZE, "info: %lu bytes in pages of %u",
               static_cast<unsigned long>(info.mapped_size), info.page_size);

  // Programs built before API 2.4 call this symbol with 40 bytes, and it must not write more.
  constexpr std::size_t first_layout_bytes = 40;
  using GetInfo = int (*)(gdr_t, gdr_mh_t, void*);
  const auto get_info = reinterpret_cast<GetInfo>(::dlsym(RTLD_DEFAULT, "gdr_get_info"));
  SANITY_CHECK(get_info != nullptr, "the library has no symbol gdr_get_info");
  alignas(gdr_info_t) std::uint8_t raw[sizeof(gdr_info_t) + 16];
  std::memset(raw, 0xA5, sizeof(raw));
  SANITY_RESULT(get_info(context, handle, raw), 0);
  for (std::size_t at = first_layout_bytes; at < sizeof(raw); ++at) {
    SANITY_CHECK(raw[at] == 0xA5, "byte %zu past the first layout was written", at);
  }
  gdr_info_t first{};
  std::memcpy(&first, raw, first_layout_bytes);
  SANITY_CHECK(first.va == info.va && first.mapped_size == info.mapped_size && first.page_size == info.page_size &&
                   first.mapped == info.mapped && first.wc_mapping == info.wc_mapping,
               "the two layouts disagree");
  context.close();
}

}  // namespace gdrkit::measure::sanity
