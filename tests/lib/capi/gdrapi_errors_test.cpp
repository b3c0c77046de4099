// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The drop-in face on a scripted backend: which errno a backend's failure becomes, and what a backend's traits show.
#include <cerrno>

#include "capi/errno_values.hpp"
#include "gdrapi.h"
#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {
namespace {

class GdrapiErrors : public OnScriptedBackend {
 protected:
  gdr_t g() const { return reinterpret_cast<gdr_t>(context); }
  int pin_errno() {
    gdr_mh_t out{};
    return gdr_pin_buffer(g(), scripted_device_start, scripted_page_bytes, 0, 0, &out);
  }
  gdr_mh_t handle_of(core::Handle pinned) { return gdr_mh_t{pinned}; }
  void* va = nullptr;
};

constexpr int enotsupp = 524;

TEST_F(GdrapiErrors, PinReturnsEinvalForUnsupportedMemory) {
  const std::pair<int, int> table[] = {{EINVAL, EINVAL}, {EOPNOTSUPP, EINVAL}, {enotsupp, EINVAL}, {ENOMEM, ENOMEM},
                                       {EACCES, EACCES}, {EMFILE, EMFILE},     {EIO, EIO},         {ENODEV, ENODEV},
                                       {999, EIO},       {-22, EIO},           {134, EIO},         {133, 133}};
  for (const auto& [inner, outer] : table) {
    script.pin_error = inner;
    EXPECT_EQ(pin_errno(), outer) << inner;
  }
}

TEST_F(GdrapiErrors, MapReturnsEopnotsuppForUnsupportedTypes) {
  const gdr_mh_t handle = handle_of(pin());
  const std::pair<int, int> table[] = {
      {EOPNOTSUPP, EOPNOTSUPP}, {enotsupp, EOPNOTSUPP}, {ENOMEM, ENOMEM}, {700, EIO}, {EAGAIN, EAGAIN}};
  for (const auto& [inner, outer] : table) {
    script.map_error = inner;
    EXPECT_EQ(gdr_map(g(), handle, &va, scripted_page_bytes), outer) << inner;
    EXPECT_EQ(va, nullptr);
  }
}

TEST_F(GdrapiErrors, ReleaseCompletesDespiteBackendErrors) {
  const gdr_mh_t handle = handle_of(mapped_pin());
  script.unmap_error = 999;
  EXPECT_EQ(gdr_unmap(g(), handle, script.device, scripted_page_bytes), EIO);
  EXPECT_EQ(gdr_unmap(g(), handle, script.device, scripted_page_bytes), EINVAL);
  script.unpin_error = EBUSY;
  EXPECT_EQ(gdr_unpin_buffer(g(), handle), EBUSY);
  EXPECT_EQ(gdr_unpin_buffer(g(), handle), EINVAL);
  mapped_pin();
  EXPECT_EQ(gdr_close(g()), EIO);
  EXPECT_EQ(gdr_close(g()), EINVAL);
  context = 0;
}

TEST_F(GdrapiErrors, ReturnsUserSpaceErrnosOnly) {
  for (int value = -600; value < 1200; ++value) {
    EXPECT_GT(capi::gdrapi_errno(value), 0);
    EXPECT_LE(capi::gdrapi_errno(value), EHWPOISON);
    EXPECT_NE(capi::gdrapi_pin_errno(value), EOPNOTSUPP);
  }
}

TEST_F(GdrapiErrors, CallbackFlagReportsInvalidation) {
  const gdr_mh_t handle = handle_of(pin());
  int flag = -1;
  EXPECT_EQ(gdr_get_callback_flag(g(), handle, &flag), 0);
  EXPECT_EQ(flag, 0);
  script.is_invalidated = true;
  EXPECT_EQ(gdr_get_callback_flag(g(), handle, &flag), 0);
  EXPECT_EQ(flag, 1);
}

TEST_F(GdrapiErrors, AttributesReportTraitsAndForceFlagReachesTheBackend) {
  script.traits.is_persistent = false;
  script.traits.supports_force_pcie = true;
  script.traits.uses_dmabuf_mmap = true;
  const auto opened = value_or_throw(open());
  gdr_t const other = reinterpret_cast<gdr_t>(opened);
  int value = -1;
  EXPECT_EQ(gdr_get_attribute(other, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(gdr_get_attribute(other, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(gdr_get_attribute(other, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
  EXPECT_EQ(value, 1);
  gdr_mh_t handle{};
  EXPECT_EQ(gdr_pin_buffer_v2(other, scripted_device_start, 1, 0xF1, &handle), 0);
  EXPECT_TRUE(script.last_request.force_pcie);
  EXPECT_FALSE(script.last_request.exact_range);
  EXPECT_EQ(gdr_pin_buffer_v2(other, scripted_device_start, 1, 0xF0, &handle), 0);
  EXPECT_FALSE(script.last_request.force_pcie);
  EXPECT_EQ(gdr_close(other), 0);
}

TEST_F(GdrapiErrors, ReportsTheModuleVersionIfThereIsAModule) {
  const std::pair<uint32_t, std::pair<int, int>> table[] = {{0, {GDR_API_MAJOR_VERSION, GDR_API_MINOR_VERSION}},
                                                            {0x0002'0000, {2, 0}},
                                                            {0x0002'0004, {2, 4}},
                                                            {0x0003'0001, {3, 1}}};
  for (const auto& [word, numbers] : table) {
    script.traits.module_version = word;
    const auto opened = value_or_throw(open());
    gdr_t const other = reinterpret_cast<gdr_t>(opened);
    int major = -1, minor = -1;
    EXPECT_EQ(gdr_driver_get_version(other, &major, &minor), 0);
    EXPECT_EQ(major, numbers.first) << word;
    EXPECT_EQ(minor, numbers.second) << word;
    EXPECT_EQ(gdr_close(other), 0);
  }
}

TEST_F(GdrapiErrors, InfoReportsTheMappingType) {
  const std::pair<cpu::MappingType, gdr_mapping_type_t> table[] = {
      {cpu::MappingType::write_combining, GDR_MAPPING_TYPE_WC},
      {cpu::MappingType::cached, GDR_MAPPING_TYPE_CACHING},
      {cpu::MappingType::device, GDR_MAPPING_TYPE_DEVICE}};
  for (const auto& [inner, outer] : table) {
    script.type = inner;
    gdr_info_t info{};
    ASSERT_EQ(gdr_get_info(g(), handle_of(mapped_pin()), &info), 0);
    EXPECT_EQ(info.mapping_type, outer);
    EXPECT_EQ(info.wc_mapping, outer == GDR_MAPPING_TYPE_WC ? 1u : 0u);
    EXPECT_EQ(info.mapped, 1u);
  }
}

TEST_F(GdrapiErrors, MapFlagsSelectTheRequestedType) {
  for (const int flags : {0, 1, 2, 3}) {
    const core::Handle pinned = pin();
    ASSERT_EQ(gdr_map_v2(g(), handle_of(pinned), &va, 1, flags), 0);
    EXPECT_EQ(static_cast<int>(script.last_map_type), flags);
  }
}

}  // namespace
}  // namespace gdrkit::tests
