// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/gpu.hpp"

#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <new>

#include "driver/cuda.hpp"

namespace gdrkit::engine {

base::Result<PointerFacts> pointer_facts(const driver::CudaCalls& calls, std::uint64_t address) noexcept {
  PointerFacts facts;
  void* targets[] = {&facts.context,    &facts.memory_type, &facts.device_address, &facts.buffer_id,
                     &facts.is_managed, &facts.device,      &facts.range_start,    &facts.range_bytes};
  int numbers[] = {1, 2, 3, 7, 8, 9, 11, 12};  // CUpointer_attribute, in the order of targets
  static_assert(std::size(targets) == std::size(numbers));
  const int result = calls.pointer_get_attributes(static_cast<unsigned>(std::size(targets)), numbers, targets, address);
  if (result != 0)
    return driver::cuda_failure(result, "cannot read the attributes of a pointer: cuPointerGetAttributes");
  return facts;
}

base::Result<std::unique_ptr<Gpu>> Gpu::open(const driver::CudaCalls& calls, int device) noexcept {
  const bool is_whole = calls.event_create != nullptr && calls.event_destroy != nullptr &&
                        calls.event_record != nullptr && calls.event_synchronize != nullptr &&
                        calls.stream_query != nullptr && calls.mem_host_register != nullptr &&
                        calls.mem_host_unregister != nullptr && calls.mem_host_get_device_pointer != nullptr;
  if (!is_whole) {
    return base::fail_literal(
        EOPNOTSUPP, "cannot copy data with the GPU: libcuda lacks required functions; update the NVIDIA driver");
  }
  std::unique_ptr<Gpu> gpu(new (std::nothrow) Gpu(calls, device));
  if (gpu == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening a GPU for copies");
  if (const int result = calls.device_get(&gpu->handle_, device); result != 0) {
    return driver::cuda_failure(result, "cannot use the GPU for copies: cuDeviceGet");
  }
  if (const int result = calls.primary_ctx_retain(&gpu->context_, gpu->handle_); result != 0) {
    gpu->context_ = nullptr;
    return driver::cuda_failure(result, "cannot use the GPU for copies: cuDevicePrimaryCtxRetain");
  }
  return gpu;
}

Gpu::~Gpu() {
  if (context_ != nullptr) (void)calls_.primary_ctx_release(handle_);
}

base::Result<int> Gpu::attribute(int number) const noexcept {
  int value = 0;
  const int result = calls_.device_get_attribute == nullptr ? driver::cuda_error_not_supported
                                                            : calls_.device_get_attribute(&value, number, handle_);
  if (result != 0) return driver::cuda_failure(result, "cannot read an attribute of the GPU: cuDeviceGetAttribute");
  return value;
}

base::Result<std::string> Gpu::profile_name() const noexcept try {
  unsigned char uuid[16] = {};
  int driver = 0;
  if (const int result = calls_.device_get_uuid(uuid, handle_); result != 0) {
    return driver::cuda_failure(result, "cannot find the GPU's tuning profile: cuDeviceGetUuid");
  }
  if (const int result = calls_.driver_get_version(&driver); result != 0) {
    return driver::cuda_failure(result, "cannot find the GPU's tuning profile: cuDriverGetVersion");
  }
  std::string name = "engines-";
  for (const unsigned char byte : uuid) name += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
  return name + "-" + std::to_string(driver);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while building the name of the GPU's tuning profile");
}

base::Status Gpu::check_access(std::uint64_t address, const PointerFacts& facts) const noexcept {
  if (facts.memory_type != static_cast<std::uint32_t>(driver::cuda_memory_type_device) || facts.is_managed != 0) {
    return base::fail(EOPNOTSUPP, "cannot copy memory at 0x%llx with the GPU: it is not device memory",
                      static_cast<unsigned long long>(address));
  }
  if (facts.context != 0) {
    if (facts.context == context()) return {};
    return base::fail(EOPNOTSUPP,
                      "cannot copy memory at 0x%llx with the GPU: the memory belongs to a CUDA context other than the "
                      "primary context of "
                      "device %d; use copy engine 'cpu'",
                      static_cast<unsigned long long>(address), device_);
  }
  // Memory of cuMemCreate may be mapped without access for this device; a GPU kernel's fault would end the context.
  // Other memory, for instance of a pool, is always accessible by its own device.
  if (driver::has_access(calls_, address, device_, driver::cuda_mem_access_read_write).value_or(true)) return {};
  return base::fail(
      EOPNOTSUPP,
      "cannot copy memory at 0x%llx with the GPU: device %d has no access to the memory; call cuMemSetAccess",
      static_cast<unsigned long long>(address), device_);
}

base::Result<backend::CudaScope> Gpu::enter() const noexcept {
  return backend::CudaScope::enter(calls_, context_, device_);
}

base::Result<PinnedMemory> PinnedMemory::make(Gpu& gpu, std::size_t size_bytes) noexcept {
  void* const mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return base::fail(errno, "cannot allocate %zu bytes of host memory: %s", size_bytes, std::strerror(errno));
  }
  if (::madvise(mapped, size_bytes, MADV_DONTFORK) != 0) {
    const int error = errno;
    ::munmap(mapped, size_bytes);
    return base::fail(error, "cannot exclude %zu bytes of host memory from forked children: %s", size_bytes,
                      std::strerror(error));
  }
  const char* call = "cuMemHostRegister";
  std::uint64_t address = 0;
  int result = gpu.calls().mem_host_register(mapped, size_bytes, driver::cuda_host_register_portable_and_mapped);
  if (result == 0) {
    call = "cuMemHostGetDevicePointer";
    result = gpu.calls().mem_host_get_device_pointer(&address, mapped, 0);
    if (result != 0) (void)gpu.calls().mem_host_unregister(mapped);
  }
  if (result != 0) {
    ::munmap(mapped, size_bytes);
    return driver::cuda_failure(result, "cannot page-lock host memory for copies: %s", call);
  }
  PinnedMemory memory;
  memory.gpu_ = &gpu;
  memory.bytes_ = static_cast<char*>(mapped);
  memory.size_bytes_ = size_bytes;
  memory.device_address_ = address;
  return memory;
}

PinnedMemory::~PinnedMemory() {
  if (bytes_ == nullptr) return;
  const auto scope = gpu_->enter();  // if it fails, the rest is still released
  (void)gpu_->calls().mem_host_unregister(bytes_);
  ::munmap(bytes_, size_bytes_);
}

}  // namespace gdrkit::engine
