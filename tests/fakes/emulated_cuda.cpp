// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/emulated_cuda.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "driver/emulated_memory.hpp"
#include "fakes/cuda_table.hpp"
#include "fakes/emulated_cuda_parts.hpp"

namespace gdrkit::fakes {
namespace {

using namespace driver;  // the types in the list

std::atomic<int> held{0};

constexpr int device_count = 2;
constexpr std::uint32_t host_type = cuda_memory_type_host;

std::atomic<bool> is_initialised{false};
/// One per device; its address identifies the device's primary context.
std::atomic<int> references[device_count];
std::mutex peers_mutex;
std::set<std::pair<void*, void*>>& peers() {
  static auto* const enabled = new std::set<std::pair<void*, void*>>;
  return *enabled;
}
thread_local std::vector<void*> contexts_of_thread;
thread_local int capture_mode_of_thread = 0;

bool is_set(const char* variable) noexcept { return std::getenv(variable) != nullptr; }
void* at(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }
std::uint64_t to_word(const void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

/// Page-locked host memory, by its first byte. Like the other tables never destroyed: threads may call while the
/// process exits.
std::mutex registered_mutex;
struct Registered {
  std::size_t size_bytes = 0;
  std::uint64_t buffer_id = 0;  ///< never reused
};
std::map<std::uint64_t, Registered>& registered() {
  static auto* const ranges = new std::map<std::uint64_t, Registered>;
  return *ranges;
}

/// The memory files of device memory, by its first byte, for exports.
std::mutex files_mutex;
struct File {
  int descriptor = -1;
  std::size_t bytes = 0;
};
std::map<std::uint64_t, File>& files() {
  static auto* const all = new std::map<std::uint64_t, File>;
  return *all;
}

std::size_t whole_pages(std::size_t size) noexcept {
  return (size + emulated_page_bytes - 1) / emulated_page_bytes * emulated_page_bytes;
}

int allocate(std::uint64_t* address, std::size_t size, EmulatedKind kind) noexcept {
  if (!is_initialised) return not_initialised;
  return guarded([&] {
    int descriptor = -1;
    const auto allocated = emulated_allocate(size, kind, kind == EmulatedKind::device ? &descriptor : nullptr);
    if (!allocated) return allocated.error().errno_value == EINVAL ? invalid_value : out_of_memory;
    if (descriptor >= 0) add_export(*allocated, descriptor, whole_pages(size));
    return *address = *allocated, count_taken(success);
  });
}

int release(std::uint64_t address) noexcept {
  // First, because a new allocation may get the address as soon as it is free.
  if (const auto found = emulated_find(address); !found || found->start != address) return invalid_value;
  remove_export(address);
  if (!emulated_free(address)) return invalid_value;
  return count_released(success);
}

int copy_now(void* target, const void* source, std::size_t size, std::uint64_t address) noexcept {
  if (current_context() == nullptr) return invalid_context;
  const auto found = emulated_find(address);
  const std::uint64_t offset = found ? address - found->start : 0;
  if (!found || offset >= found->size_bytes || size > found->size_bytes - offset) return invalid_value;
  std::memcpy(target, source, size);
  return success;
}

PointerResults results_for(std::uint64_t address) {
  PointerResults results;
  driver::PointerAttributes& at = results.attributes;
  at.device_ordinal = -2;
  {
    const std::lock_guard lock(registered_mutex);
    auto after = registered().upper_bound(address);
    if (after != registered().begin() && address - std::prev(after)->first < std::prev(after)->second.size_bytes) {
      at.memory_type = cuda_memory_type_host;
      at.buffer_id = std::prev(after)->second.buffer_id;
      at.range_start = std::prev(after)->first;
      at.range_size = std::prev(after)->second.size_bytes;
    }
  }
  if (at.buffer_id == 0) {
    const auto found = emulated_find(address);
    // Addresses past the exact end belong to no allocation.
    if (!found || address - found->start >= found->size_bytes) return results;
    at.memory_type = found->kind == EmulatedKind::host ? cuda_memory_type_host : cuda_memory_type_device;
    at.is_managed = found->kind == EmulatedKind::managed ? 1 : 0;
    at.buffer_id = found->buffer_id;
    at.range_start = found->start;
    at.range_size = found->size_bytes;
    at.mapping_base = found->start;
    at.mapping_size = whole_pages(found->size_bytes);
    const bool is_for_cpu = found->kind != EmulatedKind::device || is_set("EMULATED_CUDA_IS_COHERENT");
    results.host_address = is_for_cpu ? address : 0;
  }
  at.context = &references[0];
  at.device_ordinal = 0;
  // As CUDA does on a thread without a current context.
  results.device_address = contexts_of_thread.empty() ? 0 : address;
  return results;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) {
  is_initialised = true;
  return success;
}
int cuDriverGetVersion(int* version) {
  const char* text = std::getenv("EMULATED_CUDA_VERSION");
  *version = text != nullptr ? std::atoi(text) : 13030;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = is_set("EMULATED_CUDA_HAS_NO_DEVICE") ? 0 : device_count;
  return is_initialised ? success : not_initialised;
}
int cuDeviceGet(int* device, int ordinal) {
  if (!is_initialised) return not_initialised;
  *device = ordinal;
  return ordinal >= 0 && ordinal < device_count ? success : invalid_device;
}
int cuDeviceGetName(char* text, int capacity, int) {
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", emulated_device_name);
  return success;
}
int cuDeviceGetPCIBusId(char* text, int capacity, int) {
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", emulated_pci_bus_id);
  return success;
}
int cuDeviceGetUuid_v2(void* uuid, int) {
  std::memcpy(uuid, "\x01\x23\x45\x67gdrkit thread", sizeof(CudaUuid));
  return success;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int unified_addressing = 41, pageable_memory_access_uses_host_page_tables = 100;
  *value = attribute == unified_addressing ||
                   (attribute == pageable_memory_access_uses_host_page_tables && is_set("EMULATED_CUDA_IS_COHERENT"))
               ? 1
               : 0;
  return success;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = references[device] > 0 ? 1 : 0;
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  ++references[device];
  *context = &references[device];
  return count_taken(success);
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  int before = references[device];
  while (before > 0 && !references[device].compare_exchange_weak(before, before - 1)) {
  }
  return count_released(before > 0 ? success : invalid_context);
}
int cuCtxGetCurrent(void** context) {
  *context = current_context();
  return is_initialised ? success : not_initialised;
}
int cuCtxSetCurrent(void* context) {
  return guarded([&] {
    if (!contexts_of_thread.empty()) contexts_of_thread.pop_back();
    if (context != nullptr) contexts_of_thread.push_back(context);
    return success;
  });
}
int cuCtxPushCurrent_v2(void* context) {
  return count_taken(guarded([&] { return contexts_of_thread.push_back(context), success; }));
}
int cuCtxPopCurrent_v2(void** context) {
  *context = current_context();
  if (*context == nullptr) return invalid_context;
  contexts_of_thread.pop_back();
  return count_released(success);
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode_of_thread);
  return is_initialised ? success : not_initialised;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t size) { return allocate(address, size, EmulatedKind::device); }
int cuMemAllocManaged(std::uint64_t* address, std::size_t size, unsigned flags) {
  if (flags != cuda_mem_attach_global) return invalid_value;
  return allocate(address, size, EmulatedKind::managed);
}
int cuMemAllocAsync(std::uint64_t* address, std::size_t size, void*) {
  return allocate(address, size, EmulatedKind::device);
}
int cuMemAllocHost_v2(void** pointer, std::size_t size) {
  std::uint64_t address = 0;
  const int result = allocate(&address, size, EmulatedKind::host);
  if (result == success) *pointer = at(address);
  return result;
}
int cuMemFree_v2(std::uint64_t address) { return release(address); }
int cuMemFreeAsync(std::uint64_t address, void*) { return release(address); }
int cuMemFreeHost(void* pointer) { return release(to_word(pointer)); }
int cuMemGetAddressRange_v2(std::uint64_t* start, std::size_t* size, std::uint64_t address) {
  const auto found = emulated_find(address);
  if (!found) return invalid_value;
  *start = found->start;
  *size = found->size_bytes;
  return success;
}
int cuPointerGetAttributes(unsigned count, int* numbers, void** targets, std::uint64_t address) {
  if (!is_initialised) return not_initialised;
  return guarded([&] { return results_for(address).put(count, numbers, targets); });
}
/// A memory file can be exported only from its start: ranges inside an allocation are rejected, as some drivers reject
/// those of pools.
int cuMemGetHandleForAddressRange(void* handle, std::uint64_t address, std::size_t size, int,
                                  unsigned long long flags) {
  constexpr unsigned long long over_pcie = 1;
  if (current_context() == nullptr) return invalid_context;
  if (flags != 0 && !(flags == over_pcie && is_set("EMULATED_CUDA_IS_COHERENT"))) return cuda_error_not_supported;
  const std::lock_guard lock(files_mutex);
  const auto found = files().find(address);
  if (found == files().end() || size > found->second.bytes) return invalid_value;
  // Without close-on-exec, as in NVIDIA's driver.
  const bool refuses_mmap = is_set("EMULATED_CUDA_REFUSES_MMAP");
  const int file = refuses_mmap ? ::open("/dev/null", O_RDWR) : ::dup(found->second.descriptor);
  if (file < 0) return operating_system;
  std::memcpy(handle, &file, sizeof file);
  return success;
}
int cuMemHostRegister_v2(void* address, std::size_t size, unsigned flags) {
  if (size == 0 || flags != cuda_host_register_portable_and_mapped) return invalid_value;
  return count_taken(guarded([&] {
    const std::lock_guard lock(registered_mutex);
    static std::uint64_t next_id = std::uint64_t{1} << 40;  // greater than those of device memory
    registered()[to_word(address)] = {size, next_id++};
    return success;
  }));
}
int cuMemHostUnregister(void* address) {
  const std::lock_guard lock(registered_mutex);
  return count_released(registered().erase(to_word(address)) == 1 ? success : invalid_value);
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* device, void* host, unsigned flags) {
  if (flags != 0) return invalid_value;
  *device = to_word(host);
  return guarded([&] { return results_for(*device).attributes.memory_type == host_type ? success : invalid_value; });
}
int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = std::size_t{3} << 30;
  *total_bytes = std::size_t{4} << 30;
  return success;
}
int cuPointerSetAttribute(const void* value, int attribute, std::uint64_t address) {
  if (*static_cast<const unsigned*>(value) != 1) return invalid_value;
  return attribute == cuda_pointer_attribute_sync_memops && emulated_find(address) ? success : invalid_value;
}
int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer ? 1 : 0;
  return success;
}
int cuCtxEnablePeerAccess(void* context, unsigned flags) {
  if (flags != 0) return invalid_value;
  return guarded([&] {
    const std::lock_guard lock(peers_mutex);
    const bool is_new = peers().emplace(current_context(), context).second;
    return is_new ? success : cuda_error_peer_access_already_enabled;
  });
}

int cuMemcpyHtoD_v2(std::uint64_t target, const void* source, std::size_t size) {
  return copy_now(at(target), source, size, target);
}
int cuMemcpyDtoH_v2(void* target, std::uint64_t source, std::size_t size) {
  return copy_now(target, at(source), size, source);
}
int cuMemsetD8_v2(std::uint64_t target, unsigned char value, std::size_t size) {
  if (!emulated_find(target)) return invalid_value;
  std::memset(at(target), value, size);
  return success;
}
int cuMemcpy2DAsync_v2(const CudaMemcpy2d* copy, void*) {
  for (std::size_t row = 0; row < copy->height; ++row) {
    const std::uint64_t source = copy->source_device + row * copy->source_pitch;
    char* const target = static_cast<char*>(copy->target_host) + row * copy->target_pitch;
    if (const int result = copy_now(target, at(source), copy->width, source); result != success) return result;
  }
  return success;
}

}  // extern "C"
#pragma GCC visibility pop

void add_export(std::uint64_t address, int descriptor, std::size_t size_bytes) {
  const std::lock_guard lock(files_mutex);
  files()[address] = {descriptor, size_bytes};
}

void remove_export(std::uint64_t address) noexcept {
  const std::lock_guard lock(files_mutex);
  const auto found = files().find(address);
  if (found == files().end()) return;
  ::close(found->second.descriptor);
  files().erase(found);
}

void* current_context() noexcept { return contexts_of_thread.empty() ? nullptr : contexts_of_thread.back(); }

int count_taken(int result) noexcept {
  if (result == success) ++held;
  return result;
}

int count_released(int result) noexcept {
  if (result == success) --held;
  return result;
}

void initialise_emulated_cuda() noexcept { is_initialised = true; }

int held_of_emulated_cuda() noexcept { return held; }

}  // namespace gdrkit::fakes
