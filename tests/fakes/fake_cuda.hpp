// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeCuda: libcuda as a process uses it, on the memory of a FakeRm. One half is the table; the other is what an
// application does with CUDA (allocate, free, capture, fill), for tests to set up the scene.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fakes/cuda_memory_map.hpp"
#include "fakes/cuda_table.hpp"
#include "fakes/cuda_threads.hpp"
#include "fakes/fake_rm.hpp"

namespace gdrkit::fakes {

/// CUDA resources that the code under test currently holds.
struct CudaCensus {
  std::size_t streams = 0;
  std::size_t retained_contexts = 0;
  std::size_t allocation_handles = 0;
  std::size_t scratch_allocations = 0;
  std::size_t buffers = 0;
  std::size_t context_depth = 0;         ///< of this thread, above what the test pushed
  bool is_capture_mode_changed = false;  ///< of this thread

  bool operator==(const CudaCensus&) const = default;
};

/// Distinct 64-bit words, different for different seeds; what fill_pattern writes.
[[nodiscard]] std::vector<std::uint8_t> distinct_words(std::size_t size_bytes, std::uint64_t seed);

class FakeCuda final : public CudaTable<FakeCuda> {
 public:
  struct Options {
    std::vector<unsigned> gpus = {0};     ///< ordinal -> index in FakeRm::gpus(): CUDA_VISIBLE_DEVICES renumbers
    int process_id = FakeRm::process_id;  ///< owner of CUDA's RM client; another one with an MPS server
    bool is_initialised = true;           ///< cuInit was called, and device 0's primary context is current here
  };
  explicit FakeCuda(FakeRm& rm) : FakeCuda(rm, Options()) {}
  FakeCuda(FakeRm& rm, Options options);
  ~FakeCuda();

  // The application's part. Addresses are device addresses, which no CPU can access unless documented.
  std::uint64_t malloc(std::size_t size_bytes, int ordinal = 0);
  /// As malloc, at a given offset of a new block of a given size.
  std::uint64_t malloc_at(std::uint64_t block_bytes, std::uint64_t offset, std::size_t size_bytes, int ordinal = 0);
  /// As malloc, but the CPU can access the address too, as on a coherent platform.
  std::uint64_t malloc_for_cpu(std::size_t size_bytes);
  /// A reservation of `reservation_bytes` (0: as large as needed) with one handle of each size, mapped consecutively
  /// from its start.
  std::uint64_t vmm(const std::vector<std::uint64_t>& handle_bytes, bool is_exportable,
                    std::uint64_t reservation_bytes = 0, int ordinal = 0);
  std::uint64_t pool_malloc(std::size_t size_bytes, bool is_exportable = false, int ordinal = 0);
  std::uint64_t managed(std::size_t size_bytes, int ordinal = 0) {
    return allocate_block(CudaKind::managed, size_bytes, ordinal);
  }
  std::uint64_t host(std::size_t size_bytes, int ordinal = 0) {
    return allocate_block(CudaKind::host, size_bytes, ordinal);
  }
  /// Memory of another process.
  std::uint64_t ipc_import(std::size_t size_bytes, int ordinal = 0) {
    return allocate_block(CudaKind::ipc_import, size_bytes, ordinal);
  }
  void free(std::uint64_t address);
  /// Frees an allocation, and makes another one of the same size at the same address.
  void replace_allocation(std::uint64_t address);
  std::uint64_t make_context(int ordinal);
  void destroy_context(std::uint64_t context);
  void activate_primary(int ordinal);  ///< as the runtime API does; counted separately from the code under test
  [[nodiscard]] std::uint64_t primary(int ordinal) const {
    return primaries_[static_cast<std::size_t>(ordinal)].handle;
  }
  [[nodiscard]] CudaThreads& threads() noexcept { return threads_; }

  void write(std::uint64_t address, const void* source, std::size_t size_bytes);
  [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t address, std::size_t size_bytes) const;
  void fill_pattern(std::uint64_t address, std::size_t size_bytes, std::uint64_t seed = 1);
  [[nodiscard]] std::weak_ptr<PhysicalMemory> memory_at(std::uint64_t address) const;
  [[nodiscard]] CudaCensus census() const;
  [[nodiscard]] unsigned ipc_handles_taken() const { return ipc_handles_taken_; }
  [[nodiscard]] unsigned contexts_created() const { return contexts_created_; }
  [[nodiscard]] unsigned exports_made() const { return exports_made_; }

  [[nodiscard]] std::uint64_t last_export_flags() const { return export_flags_; }

  /// Whether ranges inside a block of a pool can be exported only from the block's start on, as in libcuda 580.
  void set_cuts_pool_exports(bool cuts) { map_.cuts_pool_pieces = cuts; }

  bool names_host_addresses = false;  ///< of device memory: cuPointerGetAttributes returns the address itself as its
                                      ///< host address, whether true or not
  bool is_hook_installable = true;
  bool is_pcie_export_supported = false;   ///< the driver supports the flag that requests a mapping over PCIe
  int export_result = 0;                   ///< result of cuMemGetHandleForAddressRange, if not 0
  bool is_memory_under_subdevice = false;  ///< for later allocations
  int driver_version = 13000;
  std::function<void()> before_gather;  ///< runs before each gather reads the memory
  std::function<void()> after_gather;   ///< runs after a gather has read the memory, before any caller is notified

  // The driver's functions.
  int init(unsigned flags) noexcept;
  int driver_get_version(int* version) noexcept;
  int device_get(int* device, int ordinal) noexcept;
  int device_get_attribute(int* value, int attribute, int device) noexcept;
  int device_get_pci_bus_id(char* text, int capacity, int device) noexcept;
  int device_get_uuid(void* uuid, int device) noexcept;
  int primary_ctx_get_state(int device, unsigned* flags, int* active) noexcept;
  int primary_ctx_retain(void** context, int device) noexcept;
  int primary_ctx_release(int device) noexcept;
  int ctx_get_current(void** context) noexcept;
  int ctx_push_current(void* context) noexcept;
  int ctx_pop_current(void** context) noexcept;
  int exchange_stream_capture_mode(int* mode) noexcept;
  int pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept;
  int export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                    driver::ObservedExport* observed) noexcept;
  int mem_retain_handle(std::uint64_t* handle, void* address) noexcept;
  int mem_release(std::uint64_t handle) noexcept;
  int mem_export(void* fd, std::uint64_t handle, int type, unsigned long long flags) noexcept;
  int ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept;
  int stream_create(void** stream, unsigned flags) noexcept;
  int stream_destroy(void* stream) noexcept;
  int stream_synchronize(void* stream) noexcept;
  int memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept;
  int memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size, void* stream) noexcept;
  int memcpy_device_to_host_async(void* target, std::uint64_t source, std::size_t size, void* stream) noexcept;
  int mem_alloc(std::uint64_t* address, std::size_t size) noexcept;
  int mem_free(std::uint64_t address) noexcept;
  int mem_get_granularity(std::size_t* size, const driver::CudaMemAllocationProp* properties, int option) noexcept;
  int mem_address_reserve(std::uint64_t* address, std::size_t size, std::size_t alignment, std::uint64_t hint,
                          unsigned long long flags) noexcept;
  int mem_address_free(std::uint64_t address, std::size_t size) noexcept;
  int mem_create(std::uint64_t* handle, std::size_t size, const driver::CudaMemAllocationProp* properties,
                 unsigned long long flags) noexcept;
  int mem_map(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle,
              unsigned long long flags) noexcept;
  int mem_set_access(std::uint64_t address, std::size_t size, const driver::CudaMemAccessDesc* access,
                     std::size_t count) noexcept;
  int mem_unmap(std::uint64_t address, std::size_t size) noexcept;

 private:
  struct Primary {
    std::uint64_t handle = 0;
    int application = 0;  ///< references of the application
    int others = 0;       ///< references of the code under test
  };
  struct Stream {
    std::uint64_t context = 0;
    std::vector<std::function<void()>> pending;
  };
  struct Pool {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
  };

  std::uint64_t add_block(CudaKind kind, int ordinal, std::uint64_t base, std::uint64_t bytes, bool is_exportable);
  /// Allocates the memory in a block of its own.
  std::uint64_t allocate_block(CudaKind kind, std::size_t size_bytes, int ordinal);
  std::uint64_t take_addresses(std::uint64_t bytes);
  /// One handle of a reservation, which starts at `range.first` and has `range.second` bytes.
  void add_vmm_block(std::uint64_t base, std::uint64_t bytes, std::pair<std::uint64_t, std::uint64_t> range,
                     int ordinal, bool is_exportable);
  void drop_if_empty(std::uint64_t base);
  void copy(std::uint64_t address, std::size_t size_bytes,
            const std::function<void(std::uint8_t*, std::size_t, std::size_t)>& part) const;
  [[nodiscard]] int context_error() const;  ///< 0, 201 or 709 for the calling thread
  [[nodiscard]] bool is_device(int ordinal) const;
  [[nodiscard]] const FakeGpu& gpu_of(int ordinal) const;
  [[nodiscard]] int unsafe_during_capture(const char* call);
  Stream* private_stream(void* stream, const char* call);
  [[nodiscard]] int current_ordinal() const;

  mutable std::recursive_mutex mutex_;
  FakeRm& rm_;
  Options options_;
  Handle client_;
  Handle next_object_ = 0x5c000096;
  CudaMemoryMap map_;
  CudaThreads threads_;
  std::thread::id test_thread_;
  std::size_t depth_of_test_ = 0;  ///< contexts that are current on the test's thread from the start
  std::vector<Primary> primaries_;
  std::map<std::uint64_t, bool> contexts_;  ///< handle -> is alive
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, std::pair<std::uint64_t, int>> allocation_handles_;  ///< handle -> block, references
  std::map<std::pair<int, bool>, Pool> pools_;                                 ///< (ordinal, exportable)
  std::map<int, std::uint64_t> small_blocks_;  ///< ordinal -> base of the block being filled
  std::map<std::uint64_t, std::uint64_t> used_of_block_;
  std::uint64_t next_address_ = 0x7feb00000000;
  std::uint64_t next_pool_ = 0x31c000000;
  std::uint64_t next_stream_ = 0x57000001;
  std::uint64_t next_context_ = 0x55be7ca15540;
  std::uint64_t next_created_ = 0x61000001;
  std::map<std::uint64_t, int> created_;               ///< handles of mem_create -> ordinal
  std::map<std::uint64_t, std::size_t> reservations_;  ///< of mem_address_reserve
  std::size_t buffers_ = 0;
  unsigned ipc_handles_taken_ = 0;
  unsigned contexts_created_ = 0;
  unsigned exports_made_ = 0;
  std::uint64_t export_flags_ = 0;
};

}  // namespace gdrkit::fakes
