// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device: allocation, copies, streams and GPU kernels on a GPU or the emulated device, for shmem, tools and tests.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::driver {
struct CudaCalls;
}  // namespace gdrkit::driver

namespace gdrkit::platform {

using driver::CudaCalls;

enum class AllocationKind : std::uint8_t {
  cuda_malloc = 0,     ///< cuMemAlloc
  vmm = 1,             ///< cuMemCreate + cuMemMap, gpuDirectRDMACapable, without an exportable handle
  vmm_exportable = 2,  ///< like vmm, exportable as a POSIX file descriptor
  pool = 3,            ///< cuMemAllocAsync, the device's default pool
  managed = 4,         ///< cuMemAllocManaged
  host = 5,            ///< cuMemAllocHost
};
inline constexpr AllocationKind allocation_kinds[] = {AllocationKind::cuda_malloc,    AllocationKind::vmm,
                                                      AllocationKind::vmm_exportable, AllocationKind::pool,
                                                      AllocationKind::managed,        AllocationKind::host};
[[nodiscard]] const char* allocation_kind_name(AllocationKind kind) noexcept;  ///< "cuda_malloc" etc.

class Device;

/// Memory that the destructor frees. Must not outlive its Device.
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
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }  ///< as requested
  /// The device's actual size: at least size_bytes(), more for kinds with a granularity. It is the limit for ranges.
  [[nodiscard]] std::size_t extent_bytes() const noexcept { return extent_bytes_; }
  [[nodiscard]] AllocationKind kind() const noexcept { return kind_; }
  /// Frees now; empty afterwards, also after an error. Does nothing if empty.
  base::Status free() noexcept;

 private:
  Device* device_ = nullptr;  // nullptr: empty
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
  std::size_t extent_bytes_ = 0;
  AllocationKind kind_ = AllocationKind::cuda_malloc;
};

struct DeviceIdentity {
  int ordinal = 0;  ///< CUDA's number; CUDA_VISIBLE_DEVICES changes it
  char name[256] = "";
  char pci_bus_id[24] = "";  ///< "0000:3b:00.0", lower case
  unsigned pci_domain = 0;
  unsigned pci_bus = 0;
  unsigned pci_device = 0;
  driver::CudaUuid uuid{};
  char driver_version[96] = "";  ///< "CUDA 13.0, NVIDIA driver 580.159.04"
};

/// Opaque; the default-constructed one is the device's default stream.
struct Stream {
  std::uint64_t handle = 0;
};
struct Event {
  std::uint64_t handle = 0;
};
/// GPU code that a device has loaded, and one GPU kernel in it.
struct Module {
  std::uint64_t handle = 0;
};
struct Function {
  std::uint64_t handle = 0;
};

/// Of a device, in bytes.
struct DeviceMemory {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;  ///< in a block
};

/// Shape of a GPU kernel whose blocks all run at once, so that they may wait for each other.
struct CooperativeShape {
  unsigned grid[3] = {1, 1, 1};   ///< blocks
  unsigned block[3] = {1, 1, 1};  ///< threads
  unsigned shared_bytes = 0;
};

/// The location of a variable in GPU code.
struct Symbol {
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
};

/// The driver's numbers (CU_DEVICE_ATTRIBUTE_*).
enum class DeviceAttribute : int {
  multiprocessor_count = 16,
  copy_engine_count = 40,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};

/// As thread-safe as the driver: any thread may call any function if the device is current on it.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] const DeviceIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] virtual bool is_emulated() const noexcept = 0;
  /// Makes the device's primary context current on the calling thread (opening did so on the opening thread).
  virtual base::Status make_current() noexcept = 0;
  /// The same, and returns the previous context for leave(); see DeviceScope.
  [[nodiscard]] virtual base::Result<std::uint64_t> enter() noexcept { return std::uint64_t{0}; }
  /// Restores the context that enter() returned on this thread.
  virtual void leave(std::uint64_t /*before*/) noexcept {}

  /// EOPNOTSUPP if device or driver does not support the kind, ENOMEM.
  [[nodiscard]] virtual base::Result<Allocation> allocate(AllocationKind kind, std::size_t size_bytes) noexcept = 0;
  /// EOPNOTSUPP if the driver cannot report it. For the emulated device it is this machine's memory.
  [[nodiscard]] virtual base::Result<DeviceMemory> memory() noexcept = 0;
  /// cuPointerSetAttribute(SYNC_MEMOPS): synchronous copies of this memory wait for their end.
  virtual base::Status set_sync_memops(std::uint64_t address) noexcept = 0;

  /// These three functions wait for the default stream, so the operation is complete on return. copy_to_host is exactly
  /// one cuMemcpyDtoH.
  virtual base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size_bytes) noexcept = 0;
  /// Exactly one cuMemcpyHtoD, for measurements. From pageable memory without SYNC_MEMOPS it may return before the
  /// bytes have arrived.
  virtual base::Status driver_copy_to_device(std::uint64_t target, const void* source,
                                             std::size_t size_bytes) noexcept = 0;

  [[nodiscard]] virtual base::Result<Stream> create_stream() noexcept = 0;  ///< non-blocking
  virtual base::Status destroy_stream(Stream stream) noexcept = 0;
  virtual base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                            Stream stream) noexcept = 0;
  virtual base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                          Stream stream) noexcept = 0;
  /// cuMemcpyDtoDAsync between any two addresses that the device can access: its own memory, memory of another GPU that
  /// is mapped for this device (by enable_peer_access, or imported), mapped host memory.
  virtual base::Status copy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size_bytes,
                                                   Stream stream) noexcept = 0;
  /// Stores a word of 4 or 8 bytes, aligned to its size, at any address that the device can access. The store follows
  /// the stream's earlier work, which is visible to the system before the word is (cuStreamWriteValue's fence). ENOSYS
  /// if the driver does not support it.
  virtual base::Status store_word_async(std::uint64_t /*target*/, std::uint64_t /*value*/, std::size_t /*size_bytes*/,
                                        Stream /*stream*/) noexcept {
    return base::fail_literal(ENOSYS, "this device does not support stream-ordered stores");
  }
  virtual base::Status synchronize(Stream stream) noexcept = 0;
  [[nodiscard]] virtual base::Result<bool> is_finished(Stream stream) noexcept = 0;  ///< does not wait
  /// Whether the stream is captured: its work goes into a graph and runs when that is launched.
  [[nodiscard]] virtual base::Result<bool> is_capturing(Stream /*stream*/) noexcept { return false; }
  virtual base::Status synchronize_all() noexcept = 0;  ///< all work of the context

  [[nodiscard]] virtual base::Result<Event> create_event() noexcept = 0;  ///< with timing
  virtual base::Status destroy_event(Event event) noexcept = 0;
  virtual base::Status record(Event event, Stream stream) noexcept = 0;
  virtual base::Status synchronize(Event event) noexcept = 0;
  /// Work that is enqueued on `stream` from now on starts after the work recorded by `event`, of any device.
  virtual base::Status wait(Stream stream, Event event) noexcept = 0;
  /// Both events must be recorded and complete.
  [[nodiscard]] virtual base::Result<double> elapsed_ms(Event begin, Event end) noexcept = 0;

  /// `image`: complete, valid GPU code (a fat binary, a cubin, or PTX text ending in a zero byte). The driver takes its
  /// size from the image itself. ENOEXEC if it contains no code for this GPU. EOPNOTSUPP on the emulated device.
  [[nodiscard]] virtual base::Result<Module> load_module(const void* image) noexcept = 0;
  virtual base::Status unload_module(Module module) noexcept = 0;
  [[nodiscard]] virtual base::Result<Function> get_function(Module module, const char* name) noexcept = 0;
  /// The CUmodule of a CUlibrary for this GPU.
  [[nodiscard]] virtual base::Result<Module> module_of_library(void* /*library*/) noexcept {
    return base::fail_literal(EOPNOTSUPP, "the emulated device does not support libraries of GPU code; use a GPU");
  }
  [[nodiscard]] virtual base::Result<Symbol> get_symbol(Module /*module*/, const char* name) noexcept {
    return base::fail(EOPNOTSUPP, "the emulated device does not support GPU code (symbol %s); use a GPU", name);
  }
  /// Loads the function now. Otherwise the driver may load it at the first launch and wait there for running GPU
  /// kernels, which may in turn wait for this one. ENOSYS: the driver has no choice of the time.
  virtual base::Status load_function(Function /*function*/) noexcept { return {}; }
  /// `parameters`: a pointer to each parameter; the call copies them.
  virtual base::Status launch(Function function, LaunchShape shape, Stream stream, void** parameters) noexcept = 0;
  virtual base::Status launch_cooperative(Function /*function*/, const CooperativeShape& /*shape*/, Stream /*stream*/,
                                          void** /*parameters*/) noexcept {
    return base::fail_literal(EOPNOTSUPP, "the emulated device does not run GPU code; use a GPU");
  }
  /// The maximum number of blocks of such a GPU kernel that run at once.
  [[nodiscard]] virtual base::Result<int> cooperative_blocks(Function /*function*/, unsigned /*threads*/,
                                                             std::size_t /*shared_bytes*/) noexcept {
    return base::fail_literal(EOPNOTSUPP, "the emulated device does not run GPU code; use a GPU");
  }
  /// Calls `function(argument)` on a thread of the device in the stream's order. On the emulated device it replaces GPU
  /// kernels and runs concurrently with the caller. It must not call CUDA.
  virtual base::Status launch_host_function(Stream stream, void (*function)(void*), void* argument) noexcept = 0;

  /// The address by which GPU kernels access memory of kind host, or registered host memory.
  [[nodiscard]] virtual base::Result<std::uint64_t> device_address(const void* host) noexcept = 0;

  [[nodiscard]] virtual base::Result<int> attribute(DeviceAttribute attribute) noexcept = 0;
  [[nodiscard]] virtual base::Result<bool> can_access_peer(Device& peer) noexcept = 0;
  /// Lets this device's GPU kernels and copies access `peer`'s memory. Succeeds if it is already enabled.
  virtual base::Status enable_peer_access(Device& peer) noexcept = 0;

 protected:
  friend class Allocation;
  virtual base::Status free(std::uint64_t address, std::size_t extent_bytes, AllocationKind kind) noexcept = 0;

  DeviceIdentity identity_;
};

/// Makes a device current on this thread. The destructor restores the previous context.
class DeviceScope {
 public:
  explicit DeviceScope(Device& device) noexcept : device_(device), before_(device.enter()) {}
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    if (before_) device_.leave(*before_);
  }

  /// Fails with the reason if the device could not be made current.
  [[nodiscard]] base::Status status() const noexcept {
    if (before_) return {};
    return base::pass(before_);
  }

 private:
  Device& device_;
  const base::Result<std::uint64_t> before_;
};

/// "CUDA_ERROR_INVALID_VALUE" etc.; for unknown codes the number as text.
[[nodiscard]] const char* cuda_result_name(int result) noexcept;

/// The number of GPUs that CUDA shows to this process. The error text contains the reason if there is no driver.
[[nodiscard]] base::Result<int> cuda_device_count() noexcept;
/// "0000:3B:00.0" of a GPU, without opening it.
[[nodiscard]] base::Result<std::string> cuda_pci_bus_id(int ordinal) noexcept;
/// Initializes CUDA, retains the primary context and makes it current here. ENODEV if the device does not exist.
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal) noexcept;
/// The number in GDRKIT_EMULATED_DEVICES (1 to 16; 1 if not set); EINVAL for other values.
[[nodiscard]] base::Result<int> emulated_device_count() noexcept;
/// ENODEV if the ordinal is out of range.
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_emulated_device(int ordinal) noexcept;

/// The same with the given driver functions, for tests that emulate the driver; `calls` must outlive the device.
[[nodiscard]] base::Result<int> cuda_device_count(const CudaCalls& calls) noexcept;
[[nodiscard]] base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal, const CudaCalls& calls) noexcept;

}  // namespace gdrkit::platform
