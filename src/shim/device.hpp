// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device: the application's part (allocate, copy, synchronise) for tools, benchmarks and tests, on a GPU or emulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "shim/cuda.hpp"

namespace gdrkit::shim {

struct CudaDeviceCalls;

enum class AllocationKind : std::uint8_t {
  cuda_malloc = 0,     ///< cuMemAlloc
  vmm = 1,             ///< cuMemCreate + cuMemMap, gpuDirectRDMACapable, no handle to export
  vmm_exportable = 2,  ///< as vmm, exportable as a POSIX file descriptor
  pool = 3,            ///< cuMemAllocAsync, the device's default pool
  managed = 4,         ///< cuMemAllocManaged
  host = 5,            ///< cuMemAllocHost
};
inline constexpr AllocationKind allocation_kinds[] = {AllocationKind::cuda_malloc,    AllocationKind::vmm,
                                                      AllocationKind::vmm_exportable, AllocationKind::pool,
                                                      AllocationKind::managed,        AllocationKind::host};
[[nodiscard]] const char* allocation_kind_name(AllocationKind kind) noexcept;  ///< "cuda_malloc" and so on
/// What backends are asked to serve; managed and host memory are not.
[[nodiscard]] constexpr bool is_device_kind(AllocationKind kind) noexcept {
  return kind != AllocationKind::managed && kind != AllocationKind::host;
}

class Device;

/// Memory that is freed with it. Must not outlive its Device.
class Allocation {
 public:
  Allocation() noexcept = default;
  Allocation(Device* device, std::uint64_t address, std::size_t size_bytes, std::size_t extent_bytes,
             AllocationKind kind) noexcept
      : device_(device), address_(address), size_bytes_(size_bytes), extent_bytes_(extent_bytes), kind_(kind) {}
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;
  ~Allocation();

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }  ///< as asked for
  /// What the device gave: at least size_bytes(), more for kinds with a granularity. The exact-range rule measures by
  /// it.
  [[nodiscard]] std::size_t extent_bytes() const noexcept { return extent_bytes_; }
  [[nodiscard]] AllocationKind kind() const noexcept { return kind_; }
  /// Frees now; empty afterwards, also after an error. Nothing to do for an empty one.
  base::Status free() noexcept;

 private:
  Device* device_ = nullptr;  // nullptr: empty
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
  std::size_t extent_bytes_ = 0;
  AllocationKind kind_ = AllocationKind::cuda_malloc;
};

struct DeviceIdentity {
  int ordinal = 0;  ///< CUDA's, so CUDA_VISIBLE_DEVICES renumbers it
  char name[256] = "";
  char pci_bus_id[24] = "";  ///< "0000:3b:00.0", lower case
  unsigned pci_domain = 0;
  unsigned pci_bus = 0;
  unsigned pci_device = 0;
  CudaUuid uuid{};
  char driver_version[96] = "";  ///< "CUDA 13.0, NVIDIA driver 580.159.04"
};

/// Opaque; the default-constructed one is the device's default stream.
struct Stream {
  std::uint64_t handle = 0;
};

/// Thread safe as the driver is: any thread may call anything, if the device is current there.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] const DeviceIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] virtual bool is_emulated() const noexcept = 0;
  /// Makes the device's primary context current on the calling thread (opening did so on the opening thread).
  virtual base::Status make_current() noexcept = 0;

  /// EOPNOTSUPP where device or driver lacks the kind, ENOMEM.
  [[nodiscard]] virtual base::Result<Allocation> allocate(AllocationKind kind, std::size_t size_bytes) noexcept = 0;
  /// cuPointerSetAttribute(SYNC_MEMOPS): synchronous copies of this memory wait for their end.
  virtual base::Status set_sync_memops(std::uint64_t address) noexcept = 0;

  /// When these three return, the bytes are where they belong: the default stream was waited for.
  virtual base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size_bytes) noexcept = 0;
  /// Exactly one cuMemcpyHtoD or cuMemcpyDtoH, to be timed. From pageable memory without SYNC_MEMOPS the first may
  /// return before the bytes have arrived.
  virtual base::Status driver_copy_to_device(std::uint64_t target, const void* source,
                                             std::size_t size_bytes) noexcept = 0;
  virtual base::Status driver_copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept = 0;

  [[nodiscard]] virtual base::Result<Stream> create_stream() noexcept = 0;  ///< non-blocking
  virtual base::Status destroy_stream(Stream stream) noexcept = 0;
  virtual base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                            Stream stream) noexcept = 0;
  virtual base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                          Stream stream) noexcept = 0;
  virtual base::Status synchronize(Stream stream) noexcept = 0;
  virtual base::Status synchronize_all() noexcept = 0;  ///< everything the context has been given

 protected:
  friend class Allocation;
  virtual base::Status free(std::uint64_t address, std::size_t extent_bytes, AllocationKind kind) noexcept = 0;

  DeviceIdentity identity_;
};

/// How many GPUs CUDA shows this process. The detail names the reason when there is no driver.
[[nodiscard]] base::Result<int> cuda_device_count() noexcept;
/// Initialises CUDA, retains the primary context and makes it current here. ENODEV when there is no such device.
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal) noexcept;
/// ENODEV for any ordinal but 0.
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_emulated_device(int ordinal) noexcept;

/// The same on given driver functions, for tests that play the driver; `calls` must outlive the device.
[[nodiscard]] base::Result<int> cuda_device_count(const CudaDeviceCalls& calls) noexcept;
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal,
                                                                     const CudaDeviceCalls& calls) noexcept;

}  // namespace gdrkit::shim
