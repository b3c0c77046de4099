// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares our declarations of the CUDA driver's ABI with NVIDIA's header. Built only if the header is installed.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "driver/cuda.hpp"
#include "driver/cuda_calls.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::driver {
namespace {

using platform::DeviceAttribute;

static_assert(sizeof(CudaMemLocation) == sizeof(CUmemLocation));
static_assert(offsetof(CudaMemLocation, id) == offsetof(CUmemLocation, id));
static_assert(sizeof(CudaMemAllocationProp) == sizeof(CUmemAllocationProp));
static_assert(offsetof(CudaMemAllocationProp, requested_handle_types) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(CudaMemAllocationProp, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(CudaMemAllocationProp, win32_handle_meta_data) ==
              offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(CudaMemAllocationProp, flags.gpu_direct_rdma_capable) ==
              offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(offsetof(CudaMemAllocationProp, flags.usage) == offsetof(CUmemAllocationProp, allocFlags.usage));
static_assert(sizeof(CudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(offsetof(CudaMemAccessDesc, flags) == offsetof(CUmemAccessDesc, flags));

static_assert(sizeof(CudaMemcpy2d) == sizeof(CUDA_MEMCPY2D));
static_assert(offsetof(CudaMemcpy2d, source_type) == offsetof(CUDA_MEMCPY2D, srcMemoryType));
static_assert(offsetof(CudaMemcpy2d, source_host) == offsetof(CUDA_MEMCPY2D, srcHost));
static_assert(offsetof(CudaMemcpy2d, source_device) == offsetof(CUDA_MEMCPY2D, srcDevice));
static_assert(offsetof(CudaMemcpy2d, source_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
static_assert(offsetof(CudaMemcpy2d, target_type) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
static_assert(offsetof(CudaMemcpy2d, target_host) == offsetof(CUDA_MEMCPY2D, dstHost));
static_assert(offsetof(CudaMemcpy2d, target_device) == offsetof(CUDA_MEMCPY2D, dstDevice));
static_assert(offsetof(CudaMemcpy2d, target_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
static_assert(offsetof(CudaMemcpy2d, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(offsetof(CudaMemcpy2d, height) == offsetof(CUDA_MEMCPY2D, Height));
static_assert(sizeof(CudaIpcHandle) == sizeof(CUipcMemHandle) && sizeof(CudaUuid) == sizeof(CUuuid));

static_assert(cuda_memory_type_host == CU_MEMORYTYPE_HOST && cuda_memory_type_device == CU_MEMORYTYPE_DEVICE);
static_assert(cuda_mem_range_handle_type_dmabuf_fd == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
static_assert(cuda_error_not_supported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(cuda_mem_allocation_type_pinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(cuda_mem_handle_type_posix_fd == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(cuda_mem_location_type_device == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(cuda_mem_access_read_write == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(cuda_mem_granularity_recommended == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
static_assert(cuda_mem_attach_global == CU_MEM_ATTACH_GLOBAL);
static_assert(cuda_stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda_pointer_attribute_device_ordinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(cuda_pointer_attribute_sync_memops == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
static_assert(cuda_event_default == CU_EVENT_DEFAULT);
static_assert(cuda_host_register_portable_and_mapped == (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
static_assert(cuda_error_not_ready == CUDA_ERROR_NOT_READY);
static_assert(cuda_error_peer_access_already_enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(static_cast<int>(DeviceAttribute::multiprocessor_count) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(static_cast<int>(DeviceAttribute::copy_engine_count) == CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
static_assert(static_cast<int>(DeviceAttribute::compute_capability_major) ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(static_cast<int>(DeviceAttribute::compute_capability_minor) ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(sizeof(CUevent) == 8 && sizeof(CUmodule) == 8 && sizeof(CUfunction) == 8);
static_assert(sizeof(CUdeviceptr) == 8 && sizeof(CUmemGenericAllocationHandle) == 8 && sizeof(CUstream) == 8);
static_assert(sizeof(CUdevice) == sizeof(int) && sizeof(CUresult) == sizeof(int) && sizeof(CUuuid) == 16);

/// Whether the ABI passes the parameters of two functions in the same way: their sizes and kinds (class or scalar) are
/// equal.
template <class Ours, class Theirs>
struct IsPassedAlike : std::false_type {};
template <class... Ours, class... Theirs>
struct IsPassedAlike<int (*)(Ours...), CUresult (*)(Theirs...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return ((sizeof(Ours) == sizeof(Theirs)) && ...) && ((std::is_class_v<Ours> == std::is_class_v<Theirs>)&&...) &&
             ((std::is_const_v<std::remove_pointer_t<Ours>> == std::is_const_v<std::remove_pointer_t<Theirs>>)&&...);
    }
  }
};

// cuda.h renames some functions by macro (cuMemAlloc to cuMemAlloc_v2). cuda_calls.def has the final names, which are
// not macros.
TEST(CudaAbi, ParametersMatchTheHeader) {
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  EXPECT_TRUE((IsPassedAlike<decltype(CudaCalls::member), decltype(&symbol)>::value())) << #symbol;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
}

TEST(CudaAbi, ComparisonDetectsADifference) {
  EXPECT_FALSE((IsPassedAlike<int (*)(int), CUresult (*)(std::size_t)>::value()));
  EXPECT_FALSE((IsPassedAlike<int (*)(int), CUresult (*)(int, int)>::value()));
  EXPECT_FALSE((IsPassedAlike<int (*)(const void*), CUresult (*)(void*)>::value()));
}

}  // namespace
}  // namespace gdrkit::driver
