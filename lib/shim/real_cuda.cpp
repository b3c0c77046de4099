// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Cuda on libcuda.so.1. The driver ABI used here is declared here: building needs no CUDA toolkit. Types follow the
// CUDA driver API reference: CUdevice int, CUdeviceptr 64 bit, handles pointers, enumerations int.
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <new>

#include "shim/cuda.hpp"
#include "shim/cuda_library.hpp"
#include "shim/ioctl_hook.hpp"

namespace gdrkit::shim {
namespace {

constexpr unsigned export_to_dmabuf_fd_number = 0xd9;
constexpr int handle_type_dmabuf_fd = 1;     // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr int handle_type_posix_fd = 1;      // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr unsigned stream_non_blocking = 1;  // CU_STREAM_NON_BLOCKING

/// CUpointer_attribute numbers, in the order of attribute_targets().
constexpr int attribute_numbers[] = {1, 2, 7, 8, 9, 10, 11, 12, 14, 18, 19};

/// CUDA_MEMCPY2D_v2.
struct Copy2d {
  std::size_t source_x, source_y;
  int source_type;
  const void* source_host;
  unsigned long long source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x, target_y;
  int target_type;
  void* target_host;
  unsigned long long target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width, height;
};
static_assert(sizeof(Copy2d) == 128);
constexpr int memory_type_host = 1;    // CU_MEMORYTYPE_HOST
constexpr int memory_type_device = 2;  // CU_MEMORYTYPE_DEVICE

struct Functions {
  int (*cuInit)(unsigned);
  int (*cuDriverGetVersion)(int*);
  int (*cuPointerGetAttributes)(unsigned, const int*, void**, unsigned long long);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDeviceGetPCIBusId)(char*, int, int);
  int (*cuDeviceGetUuid_v2)(void*, int);
  int (*cuCtxGetCurrent)(void**);
  int (*cuCtxPushCurrent_v2)(void*);
  int (*cuCtxPopCurrent_v2)(void**);
  int (*cuDevicePrimaryCtxGetState)(int, unsigned*, int*);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuThreadExchangeStreamCaptureMode)(int*);
  int (*cuMemGetHandleForAddressRange)(void*, unsigned long long, std::size_t, int, unsigned long long);
  int (*cuMemRetainAllocationHandle)(unsigned long long*, void*);
  int (*cuMemRelease)(unsigned long long);
  int (*cuMemExportToShareableHandle)(void*, unsigned long long, int, unsigned long long);
  int (*cuIpcGetMemHandle)(void*, unsigned long long);
  int (*cuStreamCreate)(void**, unsigned);
  int (*cuStreamDestroy_v2)(void*);
  int (*cuStreamSynchronize)(void*);
  int (*cuMemcpy2DAsync_v2)(const Copy2d*, void*);
  int (*cuMemcpyHtoDAsync_v2)(unsigned long long, const void*, std::size_t, void*);
  int (*cuMemAllocAsync)(unsigned long long*, std::size_t, void*);
  int (*cuMemFreeAsync)(unsigned long long, void*);
  int (*cuMemAlloc_v2)(unsigned long long*, std::size_t);
  int (*cuMemFree_v2)(unsigned long long);
  int (*cuMemcpyDtoHAsync_v2)(void*, unsigned long long, std::size_t, void*);
};

void* to_pointer(std::uint64_t word) noexcept { return reinterpret_cast<void*>(word); }
std::uint64_t to_word(void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

class RealCuda final : public Cuda {
 public:
  explicit RealCuda(void* library, const Functions& functions) noexcept : library_(library), f_(functions) {}

  int driver_get_version(int* version) noexcept override { return f_.cuDriverGetVersion(version); }

  int pointer_get_attributes(std::uint64_t address, PointerAttributes* attributes) noexcept override {
    PointerAttributes got;
    void* context = nullptr;
    // Booleans are asked for as 32-bit words: the driver writes no more than its own type into them.
    void* targets[] = {&context,          &got.memory_type,    &got.buffer_id,
                       &got.is_managed,   &got.device_ordinal, &got.is_legacy_ipc_capable,
                       &got.range_start,  &got.range_size,     &got.allowed_handle_types,
                       &got.mapping_size, &got.mapping_base};
    static_assert(std::size(targets) == std::size(attribute_numbers));
    const int result =
        f_.cuPointerGetAttributes(static_cast<unsigned>(std::size(targets)), attribute_numbers, targets, address);
    if (result != 0) return result;
    got.context = to_word(context);
    *attributes = got;
    return 0;
  }

  int device_get_attribute(int ordinal, int attribute, int* value) noexcept override {
    return on_device(ordinal, [&](int device) { return f_.cuDeviceGetAttribute(value, attribute, device); });
  }
  int device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept override {
    return on_device(ordinal, [&](int device) { return f_.cuDeviceGetPCIBusId(text, capacity, device); });
  }
  int device_get_uuid(int ordinal, CudaUuid* uuid) noexcept override {
    return on_device(ordinal, [&](int device) { return f_.cuDeviceGetUuid_v2(uuid->data(), device); });
  }

  int ctx_get_current(std::uint64_t* context) noexcept override {
    void* current = nullptr;
    const int result = f_.cuCtxGetCurrent(&current);
    if (result == 0) *context = to_word(current);
    return result;
  }
  int ctx_push_current(std::uint64_t context) noexcept override { return f_.cuCtxPushCurrent_v2(to_pointer(context)); }
  int ctx_pop_current() noexcept override {
    void* popped = nullptr;
    return f_.cuCtxPopCurrent_v2(&popped);
  }
  int primary_ctx_is_active(int ordinal, int* active) noexcept override {
    unsigned flags = 0;
    return on_device(ordinal, [&](int device) { return f_.cuDevicePrimaryCtxGetState(device, &flags, active); });
  }
  int primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept override {
    void* retained = nullptr;
    const int result = on_device(ordinal, [&](int device) { return f_.cuDevicePrimaryCtxRetain(&retained, device); });
    if (result == 0) *context = to_word(retained);
    return result;
  }
  int primary_ctx_release(int ordinal) noexcept override {
    return on_device(ordinal, [&](int device) { return f_.cuDevicePrimaryCtxRelease_v2(device); });
  }
  int exchange_stream_capture_mode(int* mode) noexcept override { return f_.cuThreadExchangeStreamCaptureMode(mode); }

  int export_dmabuf(std::uint64_t address, std::size_t size, std::uint64_t flags,
                    ObservedExport* observed) noexcept override {
    *observed = {};
    const IoctlObserver observer(library_, export_to_dmabuf_fd_number, &observed->ioctls);
    observed->hook = observer.installed();
    int fd = -1;
    const int result = f_.cuMemGetHandleForAddressRange(&fd, address, size, handle_type_dmabuf_fd, flags);
    if (result == 0) observed->dmabuf_fd = fd;
    return result;
  }
  int mem_retain_allocation_handle(std::uint64_t address, std::uint64_t* handle) noexcept override {
    unsigned long long retained = 0;
    const int result = f_.cuMemRetainAllocationHandle(&retained, to_pointer(address));
    if (result == 0) *handle = retained;
    return result;
  }
  int mem_release(std::uint64_t handle) noexcept override { return f_.cuMemRelease(handle); }
  int mem_export_to_fd(std::uint64_t handle, int* fd) noexcept override {
    return f_.cuMemExportToShareableHandle(fd, handle, handle_type_posix_fd, 0);
  }
  int ipc_get_mem_handle(std::uint64_t address, CudaIpcHandle* handle) noexcept override {
    return f_.cuIpcGetMemHandle(handle->data(), address);
  }

  int stream_create_non_blocking(std::uint64_t* stream) noexcept override {
    void* created = nullptr;
    const int result = f_.cuStreamCreate(&created, stream_non_blocking);
    if (result == 0) *stream = to_word(created);
    return result;
  }
  int stream_destroy(std::uint64_t stream) noexcept override { return f_.cuStreamDestroy_v2(to_pointer(stream)); }
  int stream_synchronize(std::uint64_t stream) noexcept override { return f_.cuStreamSynchronize(to_pointer(stream)); }
  int gather_dtoh_async(void* target, std::uint64_t source, std::size_t pitch, std::size_t width, std::size_t rows,
                        std::uint64_t stream) noexcept override {
    Copy2d copy{};
    copy.source_type = memory_type_device;
    copy.source_device = source;
    copy.source_pitch = pitch;
    copy.target_type = memory_type_host;
    copy.target_host = target;
    copy.target_pitch = width;
    copy.width = width;
    copy.height = rows;
    return f_.cuMemcpy2DAsync_v2(&copy, to_pointer(stream));
  }
  int memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                        std::uint64_t stream) noexcept override {
    return f_.cuMemcpyHtoDAsync_v2(target, source, size, to_pointer(stream));
  }
  int mem_alloc_async(std::uint64_t* address, std::size_t size, std::uint64_t stream) noexcept override {
    unsigned long long allocated = 0;
    const int result = f_.cuMemAllocAsync(&allocated, size, to_pointer(stream));
    if (result == 0) *address = allocated;
    return result;
  }
  int mem_free_async(std::uint64_t address, std::uint64_t stream) noexcept override {
    return f_.cuMemFreeAsync(address, to_pointer(stream));
  }

  int init() noexcept override { return f_.cuInit(0); }
  int mem_alloc(std::uint64_t* address, std::size_t size) noexcept override {
    unsigned long long allocated = 0;
    const int result = f_.cuMemAlloc_v2(&allocated, size);
    if (result == 0) *address = allocated;
    return result;
  }
  int mem_free(std::uint64_t address) noexcept override { return f_.cuMemFree_v2(address); }
  int memcpy_dtoh_async(void* target, std::uint64_t source, std::size_t size, std::uint64_t stream) noexcept override {
    return f_.cuMemcpyDtoHAsync_v2(target, source, size, to_pointer(stream));
  }

 private:
  template <class Call>
  int on_device(int ordinal, Call call) noexcept {
    int device = 0;
    const int result = f_.cuDeviceGet(&device, ordinal);
    return result != 0 ? result : call(device);
  }

  void* library_;
  Functions f_;
};

template <class Function>
base::Status resolve(const char* name, Function* function) noexcept {
  auto symbol = cuda_symbol(name);
  if (!symbol) return base::pass(symbol);
  std::memcpy(function, &*symbol, sizeof *symbol);
  return {};
}

base::Result<Functions> resolve_all() noexcept {
  Functions f{};
#define GDRKIT_RESOLVE(name) \
  if (auto status = resolve(#name, &f.name); !status) return base::pass(status)
  GDRKIT_RESOLVE(cuInit);
  GDRKIT_RESOLVE(cuDriverGetVersion);
  GDRKIT_RESOLVE(cuPointerGetAttributes);
  GDRKIT_RESOLVE(cuDeviceGet);
  GDRKIT_RESOLVE(cuDeviceGetAttribute);
  GDRKIT_RESOLVE(cuDeviceGetPCIBusId);
  GDRKIT_RESOLVE(cuDeviceGetUuid_v2);
  GDRKIT_RESOLVE(cuCtxGetCurrent);
  GDRKIT_RESOLVE(cuCtxPushCurrent_v2);
  GDRKIT_RESOLVE(cuCtxPopCurrent_v2);
  GDRKIT_RESOLVE(cuDevicePrimaryCtxGetState);
  GDRKIT_RESOLVE(cuDevicePrimaryCtxRetain);
  GDRKIT_RESOLVE(cuDevicePrimaryCtxRelease_v2);
  GDRKIT_RESOLVE(cuThreadExchangeStreamCaptureMode);
  GDRKIT_RESOLVE(cuMemGetHandleForAddressRange);
  GDRKIT_RESOLVE(cuMemRetainAllocationHandle);
  GDRKIT_RESOLVE(cuMemRelease);
  GDRKIT_RESOLVE(cuMemExportToShareableHandle);
  GDRKIT_RESOLVE(cuIpcGetMemHandle);
  GDRKIT_RESOLVE(cuStreamCreate);
  GDRKIT_RESOLVE(cuStreamDestroy_v2);
  GDRKIT_RESOLVE(cuStreamSynchronize);
  GDRKIT_RESOLVE(cuMemcpy2DAsync_v2);
  GDRKIT_RESOLVE(cuMemcpyHtoDAsync_v2);
  GDRKIT_RESOLVE(cuMemAllocAsync);
  GDRKIT_RESOLVE(cuMemFreeAsync);
  GDRKIT_RESOLVE(cuMemAlloc_v2);
  GDRKIT_RESOLVE(cuMemFree_v2);
  GDRKIT_RESOLVE(cuMemcpyDtoHAsync_v2);
#undef GDRKIT_RESOLVE
  return f;
}

}  // namespace

base::Result<Cuda*> real_cuda() noexcept {
  auto library = cuda_library();
  if (!library) return base::pass(library);
  auto functions = resolve_all();
  if (!functions) return base::pass(functions);
  // Never destroyed: other threads may still call while the process exits.
  alignas(RealCuda) static unsigned char storage[sizeof(RealCuda)];
  static RealCuda* const cuda = new (storage) RealCuda(*library, *functions);
  return cuda;
}

}  // namespace gdrkit::shim
