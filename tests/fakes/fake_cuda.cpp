// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The table: the results of libcuda. Numbers are CUresult codes.
#include "fakes/fake_cuda.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "fakes/export_encoder.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

enum Result : int {
  success = 0,
  invalid_value = 1,
  not_initialised = 3,
  no_such_device = 101,
  invalid_context = 201,
  invalid_handle = 400,
  not_supported = 801,
  context_is_destroyed = 709,
  capture_unsupported = 900,
};

/// Reads as a copy engine, while a program may write to the memory: not a race between this process's threads.
__attribute__((no_sanitize("thread"))) void read_as_device(std::uint8_t* target, const volatile std::uint8_t* source,
                                                           std::size_t size_bytes) noexcept {
  for (std::size_t i = 0; i < size_bytes; ++i) target[i] = source[i];
}

void* to_pointer(std::uint64_t word) noexcept { return reinterpret_cast<void*>(word); }
std::uint64_t to_word(void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

bool FakeCuda::is_device(int ordinal) const {
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < options_.gpus.size();
}

const FakeGpu& FakeCuda::gpu_of(int ordinal) const {
  return rm_.gpus()[options_.gpus.at(static_cast<std::size_t>(ordinal))];
}

int FakeCuda::context_error() const {
  if (!options_.is_initialised) return not_initialised;
  const std::uint64_t current = threads_.current();
  if (current == 0) return invalid_context;
  const auto context = contexts_.find(current);
  return context != contexts_.end() && context->second ? success : context_is_destroyed;
}

int FakeCuda::unsafe_during_capture(const char* call) {
  if (!threads_.disturbs_capture()) return success;
  rm_.violations().add(std::string(call) + " invalidated a stream capture");
  return capture_unsupported;
}

FakeCuda::Stream* FakeCuda::private_stream(void* stream, const char* call) {
  const auto found = streams_.find(to_word(stream));
  if (found != streams_.end()) return &found->second;
  rm_.violations().add(std::string(call) +
                       (stream == nullptr ? " on the default stream waits for other work" : " on an invalid stream"));
  return nullptr;
}

int FakeCuda::driver_get_version(int* version) noexcept {
  *version = driver_version;
  return success;
}

int FakeCuda::pointer_get_attributes(unsigned count, int* numbers, void** targets, std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  PointerResults results{map_.attributes(address), address, 0};
  if (names_host_addresses && results.attributes.buffer_id != 0) results.host_address = address;
  return results.put(count, numbers, targets);
}

int FakeCuda::device_get(int* device, int ordinal) noexcept {
  if (!options_.is_initialised) return not_initialised;
  if (!is_device(ordinal)) return no_such_device;
  *device = ordinal;
  return success;
}

int FakeCuda::device_get_attribute(int* value, int attribute, int ordinal) noexcept {
  constexpr int integrated = 18, host_page_tables = 100, dma_buf_supported = 124;
  *value = 0;
  if (attribute == integrated) *value = gpu_of(ordinal).is_integrated ? 1 : 0;
  if (attribute == host_page_tables) *value = gpu_of(ordinal).is_coherent ? 1 : 0;
  if (attribute == dma_buf_supported) *value = 1;
  return success;
}

int FakeCuda::device_get_pci_bus_id(char* text, int capacity, int ordinal) noexcept {
  std::string pci = gpu_of(ordinal).pci();
  // libcuda writes the digits in upper case.
  std::transform(pci.begin(), pci.end(), pci.begin(),
                 [](unsigned char digit) { return static_cast<char>(std::toupper(digit)); });
  std::strncpy(text, pci.c_str(), static_cast<std::size_t>(capacity));
  return success;
}

int FakeCuda::device_get_uuid(void* uuid, int ordinal) noexcept {
  std::memcpy(uuid, gpu_of(ordinal).cuda_uuid.data(), gpu_of(ordinal).cuda_uuid.size());
  return success;
}

int FakeCuda::ctx_get_current(void** context) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  *context = to_pointer(threads_.current());
  return success;
}

int FakeCuda::ctx_push_current(void* context) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  const auto found = contexts_.find(to_word(context));
  if (found == contexts_.end()) return invalid_context;
  if (!found->second) return context_is_destroyed;
  threads_.push(found->first);
  return success;
}

int FakeCuda::ctx_pop_current(void** context) noexcept {
  const std::lock_guard lock(mutex_);
  *context = to_pointer(threads_.current());
  return threads_.pop() ? success : invalid_context;
}

int FakeCuda::primary_ctx_get_state(int ordinal, unsigned* flags, int* active) noexcept {
  const std::lock_guard lock(mutex_);
  *flags = 0;
  const Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  *active = primary.application + primary.others > 0 ? 1 : 0;
  return success;
}

int FakeCuda::primary_ctx_retain(void** context, int ordinal) noexcept {
  const std::lock_guard lock(mutex_);
  Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  if (primary.application + primary.others == 0) ++contexts_created_;
  ++primary.others;
  contexts_[primary.handle] = true;
  *context = to_pointer(primary.handle);
  return success;
}

int FakeCuda::primary_ctx_release(int ordinal) noexcept {
  const std::lock_guard lock(mutex_);
  Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  if (primary.others == 0) {
    rm_.violations().add("release of a primary context that was not retained");
    return invalid_context;
  }
  --primary.others;
  contexts_[primary.handle] = primary.application + primary.others > 0;
  return success;
}

int FakeCuda::exchange_stream_capture_mode(int* mode) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  if (*mode < 0 || *mode > 2) return invalid_value;
  *mode = static_cast<int>(threads_.exchange_mode(static_cast<CaptureMode>(*mode)));
  return success;
}

int FakeCuda::export_dmabuf(std::uint64_t address, std::size_t size, unsigned long long flags,
                            driver::ObservedExport* observed) noexcept {
  const std::lock_guard lock(mutex_);
  *observed = {};
  if (!is_hook_installable) observed->hook = base::fail_literal(EOPNOTSUPP, "the fake's hook cannot be installed");
  if (!options_.is_initialised) return not_supported;
  if (const int error = context_error(); error != success) return error;
  if (export_result != success) return export_result;
  const auto pieces = map_.export_pieces(address, size);
  if (!pieces || (address | size) % host_page != 0) return invalid_value;
  ExportResult exported;
  std::uint64_t sum = 0;
  std::vector<DmabufPiece> memory;
  for (const auto& piece : *pieces) {
    const auto object = map_.blocks();
    const auto block = std::find_if(object.begin(), object.end(),
                                    [&](const auto& entry) { return entry.second.object == piece.object; });
    const std::uint64_t bytes = block->second.size_bytes;
    if (piece.offset >= bytes || piece.size_bytes > bytes - piece.offset) exported.status = rm_status::invalid_argument;
    sum += piece.size_bytes;
    memory.push_back({block->second.memory, piece.offset, piece.size_bytes});
  }
  if (sum != size) exported.status = rm_status::invalid_argument;
  constexpr std::uint64_t pcie = 1;
  if (exported.status == rm_status::ok && flags == pcie && !is_pcie_export_supported)
    exported.status = rm_status::not_supported;
  if (exported.status == rm_status::ok) exported.fd = rm_.add_dmabuf(std::move(memory));
  constexpr int out_of_memory = 2;
  if (exported.status == rm_status::ok && exported.fd < 0) return out_of_memory;
  ++exports_made_;
  export_flags_ = flags;
  if (is_hook_installable) observed->ioctls = encode_export(rm_.model(), client_, size, *pieces, flags, exported);
  if (exported.status == rm_status::not_supported) return not_supported;
  if (exported.status != rm_status::ok) return invalid_value;
  observed->dmabuf_fd = exported.fd;
  return success;
}

int FakeCuda::mem_retain_handle(std::uint64_t* handle, void* address) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  const CudaBlock* block = map_.block_at(to_word(address));
  if (block == nullptr || block->kind != CudaKind::vmm) return invalid_value;
  // One counted handle for each allocation.
  auto& entry = allocation_handles_[block->base + 1];
  entry.first = block->base;
  ++entry.second;
  *handle = block->base + 1;
  return success;
}

int FakeCuda::mem_release(std::uint64_t handle) noexcept {
  const std::lock_guard lock(mutex_);
  if (created_.erase(handle) == 1) return success;
  const auto found = allocation_handles_.find(handle);
  if (found == allocation_handles_.end()) {
    rm_.violations().add("cuMemRelease of a handle that is not held");
    return invalid_value;
  }
  if (--found->second.second == 0) allocation_handles_.erase(found);
  return success;
}

int FakeCuda::mem_export(void* fd, std::uint64_t handle, int type, unsigned long long) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = allocation_handles_.find(handle);
  if (found == allocation_handles_.end()) return invalid_handle;
  const CudaBlock* block = map_.block_at(found->second.first);
  if (block == nullptr || !block->is_exportable || type != driver::cuda_mem_handle_type_posix_fd) return invalid_value;
  const int made = rm_.add_exported_file(block->memory);
  constexpr int operating_system = 304;
  if (made < 0) return operating_system;
  std::memcpy(fd, &made, sizeof made);
  return success;
}

int FakeCuda::ipc_get_mem_handle(void* handle, std::uint64_t address) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  ++ipc_handles_taken_;
  const CudaAllocation* allocation = map_.allocation_at(address);
  const CudaBlock* block = map_.block_at(address);
  if (allocation == nullptr || allocation->kind != CudaKind::malloc) return invalid_value;
  std::memset(handle, 0, sizeof(driver::CudaIpcHandle));
  put(handle, 0, allocation->context);
  put(handle, 8, std::uint32_t{0x200});
  put(handle, 16, std::uint64_t{allocation->size_bytes});
  put(handle, 24, static_cast<std::uint32_t>(block->size_bytes / 4096));
  put(handle, 28, static_cast<std::uint32_t>(allocation->start - block->base));
  put(handle, 32, std::uint32_t{6});
  put(handle, 36, std::uint32_t{0xff00});
  put(handle, 48, client_);
  put(handle, 52, block->object);
  return success;
}

int FakeCuda::stream_create(void** stream, unsigned flags) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  if (flags != driver::cuda_stream_non_blocking) rm_.violations().add("cuStreamCreate of a stream that blocks");
  streams_[next_stream_] = {threads_.current(), {}};
  *stream = to_pointer(next_stream_++);
  return success;
}

int FakeCuda::stream_destroy(void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  Stream* found = private_stream(stream, "cuStreamDestroy");
  if (found == nullptr) return invalid_handle;
  for (const auto& work : found->pending) work();
  streams_.erase(to_word(stream));
  return success;
}

int FakeCuda::stream_synchronize(void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  Stream* found = private_stream(stream, "cuStreamSynchronize");
  if (found == nullptr) return invalid_handle;
  if (const int refused = unsafe_during_capture("cuStreamSynchronize"); refused != success) {
    // The caller abandoned the stream, so its results must not be written later.
    found->pending.clear();
    return refused;
  }
  // Work is executed here and not earlier, so that a read before the synchronisation returns no results.
  const auto pending = std::move(found->pending);
  found->pending.clear();
  for (const auto& work : pending) work();
  return success;
}

int FakeCuda::memcpy_2d_async(const driver::CudaMemcpy2d* copy, void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  Stream* found = private_stream(stream, "cuMemcpy2DAsync");
  if (found == nullptr) return invalid_handle;
  constexpr std::size_t largest_pitch = 0x7fffffff;
  const std::uint64_t source = copy->source_device;
  void* const target = copy->target_host;
  const std::size_t pitch = copy->source_pitch, width = copy->width, rows = copy->height;
  const bool is_packed_to_host = copy->source_type == driver::cuda_memory_type_device &&
                                 copy->target_type == driver::cuda_memory_type_host && copy->target_pitch == width &&
                                 (copy->source_x | copy->source_y | copy->target_x | copy->target_y) == 0;
  if (!is_packed_to_host) return invalid_value;
  if (pitch < width || pitch > largest_pitch || width == 0 || rows == 0) return invalid_value;
  const CudaBlock* block = map_.block_at(source);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t first = source + row * pitch;
    const bool is_allocated = map_.is_accessible(first) && map_.is_accessible(first + width - 1);
    if (!is_allocated || map_.block_at(first + width - 1) != block || block->memory == nullptr) return invalid_value;
  }
  const auto memory = block->memory;
  const std::uint64_t offset = source - block->base;
  found->pending.push_back([this, memory, offset, target, pitch, width, rows] {
    if (before_gather) before_gather();
    for (std::size_t row = 0; row < rows; ++row) {
      read_as_device(static_cast<std::uint8_t*>(target) + row * width, memory->bytes().data() + offset + row * pitch,
                     width);
    }
    if (after_gather) after_gather();
  });
  return success;
}

int FakeCuda::memcpy_host_to_device_async(std::uint64_t target, const void* source, std::size_t size,
                                          void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  Stream* found = private_stream(stream, "cuMemcpyHtoDAsync");
  if (found == nullptr) return invalid_handle;
  const CudaAllocation* allocation = map_.allocation_at(target);
  if (!map_.is_accessible(target) || size > allocation->start + allocation->size_bytes - target) return invalid_value;
  if (!allocation->is_scratch) rm_.violations().add("cuMemcpyHtoDAsync writes to the user's memory");
  const auto memory = map_.block_at(target)->memory;
  const std::uint64_t offset = target - map_.block_at(target)->base;
  const auto* bytes = static_cast<const std::uint8_t*>(source);
  found->pending.push_back([memory, offset, copy = std::vector<std::uint8_t>(bytes, bytes + size)] {
    std::memcpy(memory->bytes().data() + offset, copy.data(), copy.size());
  });
  return success;
}

int FakeCuda::mem_get_granularity(std::size_t* size, const driver::CudaMemAllocationProp* properties, int) noexcept {
  *size = 2 * mib;
  return is_device(properties->location.id) ? success : no_such_device;
}

int FakeCuda::mem_address_reserve(std::uint64_t* address, std::size_t size, std::size_t, std::uint64_t,
                                  unsigned long long) noexcept {
  const std::lock_guard lock(mutex_);
  if (!options_.is_initialised) return not_initialised;
  if (size == 0 || size % (2 * mib) != 0) return invalid_value;
  *address = take_addresses(size);
  reservations_[*address] = size;
  return success;
}

int FakeCuda::mem_address_free(std::uint64_t address, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size || map_.block_at(address) != nullptr) return invalid_value;
  reservations_.erase(found);
  return success;
}

int FakeCuda::mem_create(std::uint64_t* handle, std::size_t size, const driver::CudaMemAllocationProp* properties,
                         unsigned long long) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int error = context_error(); error != success) return error;
  if (const int refused = unsafe_during_capture("cuMemCreate"); refused != success) return refused;
  if (size == 0 || size % (2 * mib) != 0) return invalid_value;
  if (!is_device(properties->location.id)) return no_such_device;
  *handle = next_created_++;
  created_[*handle] = properties->location.id;
  return success;
}

int FakeCuda::mem_map(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle,
                      unsigned long long) noexcept {
  const std::lock_guard lock(mutex_);
  const auto reservation = reservations_.find(address);
  const auto created = created_.find(handle);
  if (reservation == reservations_.end() || created == created_.end()) return invalid_value;
  if (reservation->second != size || offset != 0 || map_.block_at(address) != nullptr) return invalid_value;
  add_vmm_block(address, size, {address, size}, created->second, false);
  map_.add_allocation({address, size, CudaKind::vmm, created->second, 0, 0, true, false});
  return success;
}

int FakeCuda::mem_set_access(std::uint64_t address, std::size_t size, const driver::CudaMemAccessDesc* access,
                             std::size_t count) noexcept {
  const std::lock_guard lock(mutex_);
  const CudaAllocation* allocation = map_.allocation_at(address);
  if (allocation == nullptr || allocation->start != address || allocation->size_bytes != size) return invalid_value;
  if (count != 1 || access->location.id != allocation->ordinal) return invalid_value;
  map_.allow_access(address);
  return success;
}

int FakeCuda::mem_unmap(std::uint64_t address, std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  const CudaAllocation* allocation = map_.allocation_at(address);
  if (allocation == nullptr || allocation->start != address || allocation->size_bytes != size) return invalid_value;
  if (!allocation->is_scratch) rm_.violations().add("cuMemUnmap of the user's memory");
  const CudaBlock* block = map_.block_at(address);
  if (rm_.is_mmapped(*block->memory, 0, size)) rm_.violations().add("cuMemUnmap while the memory is still mmapped");
  map_.remove_allocation(address);
  drop_if_empty(address);
  return success;
}

}  // namespace gdrkit::fakes
