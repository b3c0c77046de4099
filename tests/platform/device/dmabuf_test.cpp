// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/dmabuf.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

TEST(ExportDmabuf, RequestsADescriptorFromTheDriver) {
  CudaCalls calls{};
  calls.mem_get_range_handle = [](void* handle, std::uint64_t address, std::size_t size_bytes, int type,
                                  unsigned long long flags) {
    if (address != 0x10000 || size_bytes != 65536 || type != driver::cuda_mem_range_handle_type_dmabuf_fd || flags != 0)
      return 1;
    *static_cast<int*>(handle) = 17;
    return 0;
  };
  const auto fd = tests::value_or_throw(export_dmabuf(calls, 0x10000, 65536));
  EXPECT_EQ(fd, 17);
}

TEST(ExportDmabuf, ReportsWhyExportFails) {
  CudaCalls calls{};
  auto fd = export_dmabuf(calls, 0x10000, 65536);
  EXPECT_TRUE(tests::failed(fd, EOPNOTSUPP));
  calls.mem_get_range_handle = [](void*, std::uint64_t, std::size_t, int, unsigned long long) { return 801; };
  fd = export_dmabuf(calls, 0x10000, 65536);
  EXPECT_THAT(tests::text_of(fd), testing::HasSubstr("65536 bytes at 0x10000: cuMemGetHandleForAddressRange: "
                                                     "CUDA_ERROR_NOT_SUPPORTED"));

  const auto device = tests::value_or_throw(open_emulated_device(0));
  EXPECT_EQ(export_dmabuf(*device, 0x10000, 65536).error().errno_value, EOPNOTSUPP);
}

}  // namespace
}  // namespace gdrkit::platform
