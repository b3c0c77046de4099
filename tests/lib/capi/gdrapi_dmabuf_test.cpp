// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The drop-in library on dma-bufs, with the calls that NCCL, NVSHMEM and UCX make: a fake libcuda, whose dma-bufs are
// memory files, replaces NVIDIA's.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gdrapi.h"
#include "support/device_access.hpp"

// The binary symbol of API 2.3 and before, which NCCL and NVSHMEM look up by name.
struct OldInfo {
  std::uint64_t va, mapped_size;
  std::uint32_t page_size;
  std::uint64_t tm_cycles;
  std::uint32_t cycles_per_ms;
  unsigned mapped : 1, wc_mapping : 1;
};
extern "C" int gdr_get_info_by_old_name(gdr_t, gdr_mh_t, OldInfo*) __asm__("gdr_get_info");

namespace gdrkit::tests {
namespace {

constexpr std::size_t gpu_page = 65536;
constexpr std::size_t host_page = 4096;
constexpr std::size_t memory_bytes = 8 * gpu_page;

class GdrapiDmabuf : public ::testing::Test {
 protected:
  static void* library() {
    static void* const loaded = ::dlopen(GDRKIT_STAND_IN_CUDA, RTLD_NOW | RTLD_LOCAL);
    return loaded;
  }
  template <class... Arguments>
  static int call(const char* name, Arguments... arguments) {
    void* symbol = ::dlsym(library(), name);
    return symbol == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }

  void SetUp() override {
    for (const char* name :
         {"GDRKIT_BACKEND", "GDRCOPY_USE_DMABUF_MMAP", "EMULATED_CUDA_VERSION", "EMULATED_CUDA_IS_COHERENT"}) {
      ::unsetenv(name);
    }
    ASSERT_NE(library(), nullptr) << ::dlerror();
    void* context = nullptr;
    ASSERT_EQ(call("cuInit", 0u), 0);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
    ASSERT_EQ(call("cuCtxPushCurrent_v2", context), 0);
    ASSERT_EQ(call("cuMemAlloc_v2", &memory, memory_bytes), 0);
    expected = make_pattern(memory_bytes, 3);
    std::memcpy(reinterpret_cast<void*>(memory), expected.data(), memory_bytes);
  }
  void TearDown() override {
    if (g != nullptr) {
      EXPECT_EQ(gdr_close(g), 0);
    }
    void* context = nullptr;
    EXPECT_EQ(call("cuMemFree_v2", memory), 0);
    EXPECT_EQ(call("cuCtxPopCurrent_v2", &context), 0);
    EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), 0);
  }
  /// Opens the library with a value of an environment variable.
  void open_with(const char* variable, const char* value) {
    ::setenv(variable, value, 1);
    g = gdr_open();
    ASSERT_NE(g, nullptr) << variable << "=" << value << ": " << errno;
  }
  static int attribute(gdr_t opened, gdr_attr_t which) {
    int value = -1;
    EXPECT_EQ(gdr_get_attribute(opened, which, &value), 0);
    return value;
  }

  gdr_t g = nullptr;
  std::uint64_t memory = 0;
  std::vector<std::uint8_t> expected;
};

TEST_F(GdrapiDmabuf, SupportsTheCallsOfNcclAndNvshmem) {
  ASSERT_NO_FATAL_FAILURE(open_with("GDRCOPY_USE_DMABUF_MMAP", "1"));
  EXPECT_EQ(attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP), 1);
  EXPECT_EQ(attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING), 1);
  int major = -1, minor = -1;
  ASSERT_EQ(gdr_driver_get_version(g, &major, &minor), 0);
  EXPECT_GE(major * 100 + minor, 201) << "NCCL demands 2.1";
  gdr_mh_t handle{};
  ASSERT_EQ(gdr_pin_buffer(g, memory + gpu_page, 2 * gpu_page, 0, 0, &handle), 0);
  OldInfo info{};
  ASSERT_EQ(gdr_get_info_by_old_name(g, handle, &info), 0);
  EXPECT_EQ(info.va, memory + gpu_page);
  EXPECT_EQ(info.mapped_size, 2 * gpu_page);
  EXPECT_EQ(info.mapped, 0u);
  void* va = nullptr;
  ASSERT_EQ(gdr_map(g, handle, &va, 2 * gpu_page), 0);
  ASSERT_EQ(gdr_get_info_by_old_name(g, handle, &info), 0);
  EXPECT_EQ(info.mapped, 1u);
  EXPECT_EQ(info.wc_mapping, 1u);
  std::vector<std::uint8_t> seen(2 * gpu_page);
  EXPECT_EQ(gdr_copy_from_mapping(handle, seen.data(), va, seen.size()), 0);
  EXPECT_EQ(std::memcmp(seen.data(), &expected[gpu_page], seen.size()), 0);
  const auto written = make_pattern(1000, 9);
  EXPECT_EQ(gdr_copy_to_mapping(handle, static_cast<char*>(va) + 24, written.data(), written.size()), 0);
  EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(memory + gpu_page + 24), written.data(), written.size()), 0);
  EXPECT_EQ(gdr_unmap(g, handle, va, 2 * gpu_page), 0);
  EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
}

TEST_F(GdrapiDmabuf, MapsPinsOfEveryAlignmentFromTheirFirstPage) {
  ASSERT_NO_FATAL_FAILURE(open_with("GDRKIT_BACKEND", "dmabuf"));
  for (const std::size_t offset : {std::size_t{8}, host_page, host_page + 4, gpu_page - 8, 3 * gpu_page + 12'345}) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{100'001}}) {
      SCOPED_TRACE(std::to_string(size) + " bytes at " + std::to_string(offset));
      gdr_mh_t handle{};
      ASSERT_EQ(gdr_pin_buffer(g, memory + offset, size, 0, 0, &handle), 0);
      void* va = nullptr;
      ASSERT_EQ(gdr_map(g, handle, &va, size), 0);
      gdr_info_t info{};
      ASSERT_EQ(gdr_get_info(g, handle, &info), 0);
      EXPECT_EQ(info.va, (memory + offset) & ~(host_page - 1));
      EXPECT_EQ(info.page_size, host_page);
      const auto* own = static_cast<const std::uint8_t*>(va) + (memory + offset - info.va);
      std::vector<std::uint8_t> seen(size);
      EXPECT_EQ(gdr_copy_from_mapping(handle, seen.data(), own, size), 0);
      EXPECT_EQ(std::memcmp(seen.data(), &expected[offset], size), 0);
      EXPECT_EQ(gdr_unmap(g, handle, va, size), 0);
      EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
    }
  }
  gdr_mh_t handle{};
  ASSERT_EQ(gdr_pin_buffer(g, memory + 8, 16, 0, 0, &handle), 0);
  void* va = nullptr;
  EXPECT_EQ(gdr_map(g, handle, &va, 0), EINVAL);
  EXPECT_EQ(gdr_map(g, handle, &va, host_page + 1), EINVAL);
  EXPECT_EQ(gdr_map(g, handle, &va, SIZE_MAX), EINVAL);
}

TEST_F(GdrapiDmabuf, CoherentPlatformMapsTheDevicePointerUnlessPcieIsForced) {
  ::setenv("EMULATED_CUDA_IS_COHERENT", "1", 1);
  ASSERT_NO_FATAL_FAILURE(open_with("GDRKIT_BACKEND", "dmabuf"));
  EXPECT_EQ(attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE), 1);
  for (const bool is_forced : {false, true}) {
    SCOPED_TRACE(is_forced);
    gdr_mh_t handle{};
    const auto flag = is_forced ? GDR_PIN_FLAG_FORCE_PCIE : GDR_PIN_FLAG_DEFAULT;
    ASSERT_EQ(gdr_pin_buffer_v2(g, memory, 2 * gpu_page, flag, &handle), 0);
    void* va = nullptr;
    const int other = is_forced ? GDR_MAP_FLAG_REQ_CACHE_MAPPING : GDR_MAP_FLAG_REQ_WC_MAPPING;
    EXPECT_EQ(gdr_map_v2(g, handle, &va, 2 * gpu_page, other), EOPNOTSUPP);
    ASSERT_EQ(gdr_map(g, handle, &va, 2 * gpu_page), 0);
    EXPECT_EQ(va == reinterpret_cast<void*>(memory), !is_forced);
    gdr_info_t info{};
    ASSERT_EQ(gdr_get_info(g, handle, &info), 0);
    EXPECT_EQ(info.va, memory);
    EXPECT_EQ(info.mapped_size, 2 * gpu_page);
    EXPECT_EQ(info.mapped, 1u);
    EXPECT_EQ(info.wc_mapping, is_forced ? 1u : 0u);
    EXPECT_EQ(info.mapping_type, is_forced ? GDR_MAPPING_TYPE_WC : GDR_MAPPING_TYPE_CACHING);
    OldInfo old{};
    ASSERT_EQ(gdr_get_info_by_old_name(g, handle, &old), 0);
    EXPECT_EQ(old.wc_mapping, info.wc_mapping);
    const auto written = make_pattern(1000, is_forced ? 8 : 9);
    EXPECT_EQ(gdr_copy_to_mapping(handle, static_cast<char*>(va) + 24, written.data(), written.size()), 0);
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(memory + 24), written.data(), written.size()), 0);
    std::vector<std::uint8_t> seen(1000);
    EXPECT_EQ(gdr_copy_from_mapping(handle, seen.data(), static_cast<char*>(va) + 24, seen.size()), 0);
    EXPECT_EQ(seen, written);
    EXPECT_EQ(gdr_unmap(g, handle, va, 2 * gpu_page), 0);
    ASSERT_EQ(gdr_get_info(g, handle, &info), 0);
    EXPECT_EQ(info.mapped, 0u);
    EXPECT_EQ(gdr_copy_from_mapping(handle, seen.data(), va, seen.size()), EINVAL);
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(memory + 24), written.data(), written.size()), 0) << "still there";
    EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
  }
}

TEST_F(GdrapiDmabuf, CoherentPlatformReportsAFreeUnlessPcieIsForced) {
  ::setenv("EMULATED_CUDA_IS_COHERENT", "1", 1);
  ASSERT_NO_FATAL_FAILURE(open_with("GDRKIT_BACKEND", "dmabuf"));
  for (const bool is_forced : {false, true}) {
    SCOPED_TRACE(is_forced);
    std::uint64_t other = 0;
    ASSERT_EQ(call("cuMemAlloc_v2", &other, gpu_page), 0);
    std::memcpy(reinterpret_cast<void*>(other), expected.data(), gpu_page);
    gdr_mh_t handle{};
    const auto flag = is_forced ? GDR_PIN_FLAG_FORCE_PCIE : GDR_PIN_FLAG_DEFAULT;
    ASSERT_EQ(gdr_pin_buffer_v2(g, other, gpu_page, flag, &handle), 0);
    void* va = nullptr;
    ASSERT_EQ(gdr_map(g, handle, &va, gpu_page), 0);
    int is_freed = -1;
    ASSERT_EQ(gdr_get_callback_flag(g, handle, &is_freed), 0);
    EXPECT_EQ(is_freed, 0);
    ASSERT_EQ(call("cuMemFree_v2", other), 0);
    ASSERT_EQ(gdr_get_callback_flag(g, handle, &is_freed), 0);
    EXPECT_EQ(is_freed, is_forced ? 0 : 1) << "the dma-buf holds the memory, a pointer does not";
    EXPECT_EQ(gdr_unmap(g, handle, va, gpu_page), 0);
    EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
  }
}

TEST_F(GdrapiDmabuf, DescriptorsCloseOnExec) {
  ASSERT_NO_FATAL_FAILURE(open_with("GDRKIT_BACKEND", "dmabuf"));
  const auto inheritable = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      const int flags = ::fcntl(fd, F_GETFD);
      count += flags >= 0 && (flags & FD_CLOEXEC) == 0;
    }
    return count;
  };
  const int before = inheritable();
  gdr_mh_t handle{};
  ASSERT_EQ(gdr_pin_buffer(g, memory, gpu_page, 0, 0, &handle), 0);
  EXPECT_EQ(inheritable(), before);
}

TEST_F(GdrapiDmabuf, ErrorsAreErrnoValues) {
  ASSERT_NO_FATAL_FAILURE(open_with("GDRKIT_BACKEND", "dmabuf"));
  gdr_mh_t handle{};
  EXPECT_EQ(gdr_pin_buffer(g, 0x1234000, gpu_page, 0, 0, &handle), EINVAL);
  EXPECT_EQ(gdr_pin_buffer_v2(g, memory, gpu_page, GDR_PIN_FLAG_FORCE_PCIE, &handle), EINVAL) << "as without C2C";
}

TEST_F(GdrapiDmabuf, IsTriedAndFallsBackWithEveryDriverVersion) {
  if (::access("/dev/gdrdrv", R_OK | W_OK) == 0) GTEST_SKIP() << "a gdrdrv kernel module is loaded, which comes first";
  for (const char* version : {"13000", "13030", "14010"}) {
    ASSERT_NO_FATAL_FAILURE(open_with("EMULATED_CUDA_VERSION", version));
    EXPECT_EQ(attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP), 1);
    EXPECT_EQ(gdr_close(g), 0);
  }
  g = nullptr;
  // The first refusal counts for the rest of the process, so all versions that map come before.
  ::setenv("EMULATED_CUDA_REFUSES_MMAP", "1", 1);
  for (const char* version : {"13000", "13030", "14010"}) {
    ::setenv("EMULATED_CUDA_VERSION", version, 1);
    gdr_t const other = gdr_open();  // another backend, where this machine has one
    if (other != nullptr) {
      EXPECT_EQ(attribute(other, GDR_ATTR_USING_DMA_BUF_MMAP), 0);
      EXPECT_EQ(gdr_close(other), 0);
    }
    ::setenv("GDRKIT_BACKEND", "dmabuf", 1);
    errno = 0;
    EXPECT_EQ(gdr_open(), nullptr);
    EXPECT_EQ(errno, ENODEV) << "mmap's own word";
    ::unsetenv("GDRKIT_BACKEND");
  }
  ::unsetenv("EMULATED_CUDA_REFUSES_MMAP");
}

}  // namespace
}  // namespace gdrkit::tests
