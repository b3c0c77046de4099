// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/local_buffers.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "support/device_access.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using tests::failed;
using tests::run_shmem_job;
using tests::succeeded;

TEST(LocalBuffers, FindsRangesInsideABuffer) {
  LocalBuffers buffers;
  EXPECT_FALSE(buffers.find(100, 1));
  ASSERT_TRUE(buffers.add(100, 50, transport::LocalMemory::device));
  ASSERT_TRUE(buffers.add(150, 50, transport::LocalMemory::pinned)) << "next to each other";
  EXPECT_EQ(buffers.find(100, 50), transport::LocalMemory::device);
  EXPECT_EQ(buffers.find(149, 1), transport::LocalMemory::device);
  EXPECT_EQ(buffers.find(150, 50), transport::LocalMemory::pinned);
  EXPECT_FALSE(buffers.find(149, 2)) << "reaches over the end";
  EXPECT_FALSE(buffers.find(99, 1));
  EXPECT_FALSE(buffers.find(200, 1));
  EXPECT_FALSE(buffers.find(110, UINT64_MAX));
  ASSERT_TRUE(buffers.remove(100));
  EXPECT_FALSE(buffers.find(100, 1));
  buffers.clear();
  EXPECT_FALSE(buffers.find(150, 1));
}

TEST(LocalBuffers, RejectsOverlappingAndInvalidRanges) {
  LocalBuffers buffers;
  ASSERT_TRUE(buffers.add(100, 50, transport::LocalMemory::device));
  const std::pair<int, int> overlapping[] = {{100, 50}, {99, 2}, {149, 1}, {90, 100}, {120, 1}};
  for (const auto& [address, size] : overlapping) {
    EXPECT_TRUE(failed(buffers.add(static_cast<std::uint64_t>(address), static_cast<std::uint64_t>(size),
                                   transport::LocalMemory::host),
                       EEXIST))
        << address;
  }
  EXPECT_TRUE(failed(buffers.add(0, 50, transport::LocalMemory::host), EINVAL));
  EXPECT_TRUE(failed(buffers.add(500, 0, transport::LocalMemory::host), EINVAL));
  EXPECT_TRUE(failed(buffers.add(500, UINT64_MAX, transport::LocalMemory::host), EINVAL));
  EXPECT_TRUE(failed(buffers.remove(101), EINVAL));
}

int queries = 0;
unsigned pointer_type = platform::cuda_memory_type_host;
int return_pointer_type(unsigned, int*, void** values, std::uint64_t) {
  ++queries;
  *static_cast<unsigned*>(values[0]) = pointer_type;
  return 0;
}

/// A driver that counts queries of addresses, and returns `type`.
platform::CudaCalls driver_with_type(unsigned type) {
  queries = 0;
  pointer_type = type;
  platform::CudaCalls calls{};
  calls.pointer_get_attributes = &return_pointer_type;
  return calls;
}

TEST(LocalBuffers, SmallStackAndHeapRangesRequireNoDriverQuery) {
  const LocalBuffers buffers;
  // The result for memory that cudaHostRegister has pinned.
  const auto calls = driver_with_type(platform::cuda_memory_type_host);
  auto* const heap = static_cast<char*>(::sbrk(8192));
  ASSERT_NE(heap, reinterpret_cast<char*>(-1));
  for (const std::size_t size : {8ul, 1024ul, 4096ul}) {
    EXPECT_EQ(buffers.kind_of(heap, size, &calls), transport::LocalMemory::host) << size;
  }
  EXPECT_EQ(buffers.kind_of(__builtin_frame_address(0), 8, &calls), transport::LocalMemory::host);
  EXPECT_EQ(queries, 0);
  // From here on it matters which of the two it is.
  EXPECT_EQ(buffers.kind_of(heap, 4097, &calls), transport::LocalMemory::pinned);
  EXPECT_EQ(queries, 1);
}

TEST(LocalBuffers, MemoryUnknownToTheDriverIsNotPinned) {
  const LocalBuffers buffers;
  constexpr std::size_t size = 65536;
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto calls = driver_with_type(0);  // as cuPointerGetAttributes does, and returns success
  EXPECT_EQ(buffers.kind_of(mapped, size, &calls), transport::LocalMemory::host);
  EXPECT_EQ(queries, 1);
  ::munmap(mapped, size);
}

/// Device memory may replace other mapped memory, so results are not cached.
TEST(LocalBuffers, QueriesTheDriverForMappedMemoryEveryTime) {
  LocalBuffers buffers;
  constexpr std::size_t size = 65536;
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto calls = driver_with_type(platform::cuda_memory_type_host);
  EXPECT_EQ(buffers.kind_of(mapped, 8, &calls), transport::LocalMemory::pinned);
  calls = driver_with_type(platform::cuda_memory_type_device);
  EXPECT_EQ(buffers.kind_of(mapped, 8, &calls), transport::LocalMemory::device);
  EXPECT_EQ(buffers.kind_of(mapped, 8, &calls), transport::LocalMemory::device);
  EXPECT_EQ(queries, 2);
  // Unless the application has registered it.
  ASSERT_TRUE(buffers.add(reinterpret_cast<std::uint64_t>(mapped), size, transport::LocalMemory::host));
  EXPECT_EQ(buffers.kind_of(mapped, size, &calls), transport::LocalMemory::host);
  EXPECT_EQ(queries, 2);
  EXPECT_EQ(buffers.kind_of(mapped, 8, nullptr), transport::LocalMemory::host) << "on the emulated device";
  ::munmap(mapped, size);
}

/// Of host memory, and on a GPU of device memory, also by the streams' GPU kernels.
TEST(ShmemLocalBuffers, TransfersFromRegisteredMemoryCopyTheSameBytes) {
  run_shmem_job({}, [](core::Pe& pe) {
    constexpr std::size_t size = 20000;
    auto* const target = tests::zeroed<char>(pe, size);
    auto& device = const_cast<platform::Device&>(pe.device());
    std::vector<std::uint8_t> host(size);
    auto own = [&] {
      const platform::DeviceScope scope(device);
      return device.allocate(platform::AllocationKind::cuda_malloc, size);
    }();
    ASSERT_TRUE(own) << own.error().text();
    auto* const on_device = reinterpret_cast<void*>(own->address());
    ASSERT_TRUE(succeeded(pe.transfers().register_buffer(host.data(), size)));
    ASSERT_TRUE(succeeded(pe.transfers().register_buffer(on_device, size)));
    EXPECT_TRUE(failed(pe.transfers().register_buffer(host.data() + 5, 1), EEXIST));
    EXPECT_TRUE(failed(pe.transfers().register_buffer(target, 8), EINVAL)) << "in the heap";
    if (!device.is_emulated()) {
      EXPECT_TRUE(failed(pe.transfers().register_buffer(static_cast<char*>(on_device) + size / 2, std::size_t{1} << 40),
                         EINVAL))
          << "leaves its allocation";
    }
    const int other = 1 - pe.pe();
    std::uint8_t round = 0;
    for (void* const local : {static_cast<void*>(host.data()), on_device}) {
      for (const bool on_stream : {false, true}) {
        const auto mine = tests::make_pattern(size, static_cast<unsigned>(10 * pe.pe() + ++round));
        const auto theirs = tests::make_pattern(size, static_cast<unsigned>(10 * other + round));
        {
          const platform::DeviceScope scope(device);
          if (local == on_device) {
            ASSERT_TRUE(succeeded(device.copy_to_device(own->address(), mine.data(), size)));
          } else {
            std::copy(mine.begin(), mine.end(), host.begin());
          }
        }
        ASSERT_TRUE(succeeded(on_stream ? pe.streams().put(target, local, size, other, nullptr)
                                        : pe.transfers().put(target, local, size, other, false)));
        ASSERT_TRUE(succeeded(pe.synchronize_stream(nullptr)));
        ASSERT_TRUE(succeeded(pe.barrier_all()));
        EXPECT_EQ(tests::device_bytes(pe, target, size), theirs);
        ASSERT_TRUE(succeeded(pe.barrier_all()));
      }
    }
    ASSERT_TRUE(succeeded(pe.transfers().unregister_buffer(host.data())));
    EXPECT_TRUE(failed(pe.transfers().unregister_buffer(host.data()), EINVAL));
    pe.transfers().unregister_all_buffers();
    EXPECT_TRUE(failed(pe.transfers().unregister_buffer(on_device), EINVAL));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const platform::DeviceScope scope(device);
    ASSERT_TRUE(succeeded(own->free()));
  });
}

TEST(ShmemGpuCode, RejectsInvalidFunctionsAndModules) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    EXPECT_TRUE(failed(pe.gpu_code().cooperative_blocks(nullptr, 32, 0), EINVAL));
    EXPECT_TRUE(failed(pe.gpu_code().initialise_module(nullptr), EINVAL));
    if (!pe.device().is_emulated()) return;
    auto* const function = reinterpret_cast<void*>(std::uintptr_t{8});
    EXPECT_TRUE(failed(pe.gpu_code().cooperative_blocks(function, 32, 0), EOPNOTSUPP));
    EXPECT_TRUE(failed(pe.gpu_code().launch_cooperative(function, {}, nullptr, nullptr), EOPNOTSUPP));
    EXPECT_TRUE(failed(pe.gpu_code().initialise_module(function), EOPNOTSUPP));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
