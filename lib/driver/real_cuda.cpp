// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Cuda on the functions of libcuda.so.1.
#include <iterator>
#include <new>

#include "driver/cuda.hpp"
#include "driver/cuda_calls.hpp"
#include "driver/cuda_library.hpp"
#include "driver/ioctl_hook.hpp"

namespace gdrkit::driver {
namespace {

constexpr unsigned export_to_dmabuf_fd_number = 0xd9;

void* to_pointer(std::uint64_t word) noexcept { return reinterpret_cast<void*>(word); }
std::uint64_t to_word(void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

class RealCuda final : public Cuda {
 public:
  RealCuda(void* library, const CudaCalls& calls) noexcept : library_(library), calls_(calls) {}

  int driver_get_version(int* version) noexcept override { return calls_.driver_get_version(version); }

  int pointer_get_attributes(std::uint64_t address, PointerAttributes* attributes) noexcept override {
    PointerAttributes got;
    void* context = nullptr;
    // Booleans are asked for as 32-bit words: the driver writes no more than its own type into them.
    void* targets[] = {&context,          &got.memory_type,    &got.buffer_id,
                       &got.is_managed,   &got.device_ordinal, &got.is_legacy_ipc_capable,
                       &got.range_start,  &got.range_size,     &got.allowed_handle_types,
                       &got.mapping_size, &got.mapping_base};
    int numbers[] = {1, 2, 7, 8, 9, 10, 11, 12, 14, 18, 19};  // CUpointer_attribute, in the order of targets
    static_assert(std::size(targets) == std::size(numbers));
    const int result =
        calls_.pointer_get_attributes(static_cast<unsigned>(std::size(targets)), numbers, targets, address);
    if (result != 0) return result;
    got.context = to_word(context);
    *attributes = got;
    return 0;
  }

  int device_get_attribute(int ordinal, int attribute, int* value) noexcept override {
    if (calls_.device_get_attribute == nullptr) return cuda_error_not_supported;
    return on_device(ordinal, [&](int device) { return calls_.device_get_attribute(value, attribute, device); });
  }
  int device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept override {
    return on_device(ordinal, [&](int device) { return calls_.device_get_pci_bus_id(text, capacity, device); });
  }
  int device_get_uuid(int ordinal, CudaUuid* uuid) noexcept override {
    return on_device(ordinal, [&](int device) { return calls_.device_get_uuid(uuid->data(), device); });
  }

  int ctx_get_current(std::uint64_t* context) noexcept override {
    void* current = nullptr;
    const int result = calls_.ctx_get_current(&current);
    if (result == 0) *context = to_word(current);
    return result;
  }
  int ctx_push_current(std::uint64_t context) noexcept override { return calls_.ctx_push_current(to_pointer(context)); }
  int ctx_pop_current() noexcept override {
    void* popped = nullptr;
    return calls_.ctx_pop_current(&popped);
  }
  int primary_ctx_is_active(int ordinal, int* active) noexcept override {
    unsigned flags = 0;
    return on_device(ordinal, [&](int device) { return calls_.primary_ctx_get_state(device, &flags, active); });
  }
  int primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept override {
    void* retained = nullptr;
    const int result = on_device(ordinal, [&](int device) { return calls_.primary_ctx_retain(&retained, device); });
    if (result == 0) *context = to_word(retained);
    return result;
  }
  int primary_ctx_release(int ordinal) noexcept override {
    return on_device(ordinal, [&](int device) { return calls_.primary_ctx_release(device); });
  }
  int exchange_stream_capture_mode(int* mode) noexcept override { return calls_.exchange_stream_capture_mode(mode); }

  int export_dmabuf(std::uint64_t address, std::size_t size, std::uint64_t flags,
                    ObservedExport* observed) noexcept override {
    *observed = {};
    if (calls_.mem_get_range_handle == nullptr) return cuda_error_not_supported;
    const IoctlObserver observer(library_, export_to_dmabuf_fd_number, &observed->ioctls);
    observed->hook = observer.installed();
    int fd = -1;
    const int result = calls_.mem_get_range_handle(&fd, address, size, cuda_mem_range_handle_type_dmabuf_fd, flags);
    if (result == 0) observed->dmabuf_fd = fd;
    return result;
  }
  int mem_retain_allocation_handle(std::uint64_t address, std::uint64_t* handle) noexcept override {
    std::uint64_t retained = 0;
    const int result = calls_.mem_retain_handle(&retained, to_pointer(address));
    if (result == 0) *handle = retained;
    return result;
  }
  int mem_release(std::uint64_t handle) noexcept override { return calls_.mem_release(handle); }
  int mem_export_to_fd(std::uint64_t handle, int* fd) noexcept override {
    return calls_.mem_export(fd, handle, cuda_mem_handle_type_posix_fd, 0);
  }
  int pointer_get_host_address(std::uint64_t address, std::uint64_t* host) noexcept override {
    void* host_pointer = nullptr;
    void* targets[] = {&host_pointer};
    int numbers[] = {4};  // CU_POINTER_ATTRIBUTE_HOST_POINTER
    const int result = calls_.pointer_get_attributes(1, numbers, targets, address);
    if (result == 0) *host = to_word(host_pointer);
    return result;
  }
  int mem_get_access(std::uint64_t address, int ordinal, bool* has_access) noexcept override {
    if (calls_.mem_get_access == nullptr) return cuda_error_not_supported;
    unsigned long long flags = 0;
    const CudaMemLocation location{cuda_mem_location_type_device, ordinal};
    const int result = calls_.mem_get_access(&flags, &location, address);
    if (result == 0) *has_access = flags != 0;
    return result;
  }
  int ipc_get_mem_handle(std::uint64_t address, CudaIpcHandle* handle) noexcept override {
    return calls_.ipc_get_mem_handle(handle->data(), address);
  }

  int stream_create_non_blocking(std::uint64_t* stream) noexcept override {
    void* created = nullptr;
    const int result = calls_.stream_create(&created, cuda_stream_non_blocking);
    if (result == 0) *stream = to_word(created);
    return result;
  }
  int stream_destroy(std::uint64_t stream) noexcept override { return calls_.stream_destroy(to_pointer(stream)); }
  int stream_synchronize(std::uint64_t stream) noexcept override {
    return calls_.stream_synchronize(to_pointer(stream));
  }
  int gather_dtoh_async(void* target, std::uint64_t source, std::size_t pitch, std::size_t width, std::size_t rows,
                        std::uint64_t stream) noexcept override {
    CudaMemcpy2d copy{};
    copy.source_type = cuda_memory_type_device;
    copy.source_device = source;
    copy.source_pitch = pitch;
    copy.target_type = cuda_memory_type_host;
    copy.target_host = target;
    copy.target_pitch = width;
    copy.width = width;
    copy.height = rows;
    return calls_.memcpy_2d_async(&copy, to_pointer(stream));
  }
  int memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                        std::uint64_t stream) noexcept override {
    return calls_.memcpy_host_to_device_async(target, source, size, to_pointer(stream));
  }
  int mem_alloc_async(std::uint64_t* address, std::size_t size, std::uint64_t stream) noexcept override {
    std::uint64_t allocated = 0;
    const int result = calls_.mem_alloc_async(&allocated, size, to_pointer(stream));
    if (result == 0) *address = allocated;
    return result;
  }
  int mem_free_async(std::uint64_t address, std::uint64_t stream) noexcept override {
    return calls_.mem_free_async(address, to_pointer(stream));
  }

  int init() noexcept override { return calls_.init(0); }
  int mem_alloc(std::uint64_t* address, std::size_t size) noexcept override {
    std::uint64_t allocated = 0;
    const int result = calls_.mem_alloc(&allocated, size);
    if (result == 0) *address = allocated;
    return result;
  }
  int mem_free(std::uint64_t address) noexcept override { return calls_.mem_free(address); }
  int memcpy_dtoh_async(void* target, std::uint64_t source, std::size_t size, std::uint64_t stream) noexcept override {
    return calls_.memcpy_device_to_host_async(target, source, size, to_pointer(stream));
  }

 private:
  template <class Call>
  int on_device(int ordinal, Call call) noexcept {
    int device = 0;
    const int result = calls_.device_get(&device, ordinal);
    return result != 0 ? result : call(device);
  }

  void* library_;
  const CudaCalls& calls_;
};

}  // namespace

base::Result<Cuda*> real_cuda() noexcept {
  auto library = cuda_library();
  if (!library) return base::pass(library);
  auto calls = cuda_calls();
  if (!calls) return base::pass(calls);
  // Never destroyed: other threads may still call while the process exits.
  alignas(RealCuda) static unsigned char storage[sizeof(RealCuda)];
  static RealCuda* const cuda = new (storage) RealCuda(*library, **calls);
  return cuda;
}

}  // namespace gdrkit::driver
