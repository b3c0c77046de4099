// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A libcuda.so.1 of its own: one GPU whose memory is memory files, and whose dma-bufs are those files, so that a
// process maps them with the operating system's own mmap. Numbers are CUresult codes.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "driver/cuda_calls.hpp"

namespace {

using gdrkit::driver::CudaMemcpy2d;

enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialised = 3,
  invalid_device = 101,
  invalid_context = 201,
  operating_system = 304,
  not_supported = 801,
};

enum Kind : std::uint32_t { host = 1, device = 2, managed = 3 };

constexpr std::size_t page_bytes = 65536;
char the_context = 0;  // its address is the primary context's

struct Block {
  std::size_t size = 0;   ///< as asked for
  std::size_t pages = 0;  ///< the same in whole pages
  int file = -1;
  Kind kind = device;
  std::uint64_t id = 0;
};

std::mutex mutex;
std::map<std::uint64_t, Block> blocks;  // by address
std::atomic<bool> is_initialised{false};
int references = 0;
std::uint64_t next_id = 1;
thread_local std::vector<void*> contexts;

int version() {
  const char* text = std::getenv("STAND_IN_CUDA_VERSION");
  return text != nullptr ? std::atoi(text) : 13030;
}

bool has_no_device() { return std::getenv("STAND_IN_CUDA_HAS_NO_DEVICE") != nullptr; }

/// As drivers that export dma-bufs for adapters only.
bool refuses_mmap() { return std::getenv("STAND_IN_CUDA_REFUSES_MMAP") != nullptr; }

/// As on Grace with NVLink-C2C, for memory that CUDA lets the CPU use.
bool is_coherent() { return std::getenv("STAND_IN_CUDA_IS_COHERENT") != nullptr; }

int allocate(std::uint64_t* address, std::size_t size, Kind kind) {
  const std::lock_guard lock(mutex);
  if (!is_initialised) return not_initialised;
  constexpr std::size_t most = std::size_t{1} << 32;
  if (size == 0) return invalid_value;
  if (size > most) return out_of_memory;
  Block block{size, (size + page_bytes - 1) & ~(page_bytes - 1), -1, kind, next_id++};
  // The name makes counts of device memory in /proc/self/maps see it.
  block.file = ::memfd_create("/dmabuf:stand-in", MFD_CLOEXEC);
  if (block.file < 0 || ::ftruncate(block.file, static_cast<off_t>(block.pages)) != 0) return out_of_memory;
  void* room = ::mmap(nullptr, block.pages + page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return out_of_memory;
  const auto first = reinterpret_cast<std::uint64_t>(room);
  const std::uint64_t start = (first + page_bytes - 1) & ~(page_bytes - 1);
  if (start > first) ::munmap(room, start - first);
  const std::uint64_t rest = first + page_bytes - start;
  if (rest > 0) ::munmap(reinterpret_cast<void*>(start + block.pages), rest);
  if (::mmap(reinterpret_cast<void*>(start), block.pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, block.file,
             0) == MAP_FAILED) {
    return out_of_memory;
  }
  blocks[start] = block;
  *address = start;
  return success;
}

int release(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(address);
  if (found == blocks.end()) return invalid_value;
  ::munmap(reinterpret_cast<void*>(address), found->second.pages);
  ::close(found->second.file);
  blocks.erase(found);
  return success;
}

/// The block whose exact bytes hold [address, address + size); blocks.end() if none does.
auto block_of(std::uint64_t address, std::size_t size) {
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) return blocks.end();
  const auto found = std::prev(next);
  const std::uint64_t offset = address - found->first;
  return offset < found->second.size && size <= found->second.size - offset ? found : blocks.end();
}

int copy(void* target, const void* source, std::size_t size, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  if (contexts.empty()) return invalid_context;
  if (block_of(address, size) == blocks.end()) return invalid_value;
  std::memcpy(target, source, size);
  return success;
}

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

void answer(int attribute, void* target, std::uint64_t address) {
  const auto found = block_of(address, 1);
  const bool is_known = found != blocks.end();
  const auto word = [&](std::uint64_t value) { std::memcpy(target, &value, sizeof value); };
  const auto half = [&](std::uint32_t value) { std::memcpy(target, &value, sizeof value); };
  switch (attribute) {
    case 1: return word(is_known ? reinterpret_cast<std::uint64_t>(&the_context) : 0);
    case 2: return half(!is_known ? 0 : static_cast<std::uint32_t>(found->second.kind == host ? host : device));
    case 4: return word(is_known && (is_coherent() || found->second.kind != device) ? address : 0);
    case 7: return word(is_known ? found->second.id : 0);
    case 8: return half(is_known && found->second.kind == managed ? 1 : 0);
    case 9: return half(is_known ? 0 : static_cast<std::uint32_t>(-2));
    case 11:
    case 19: return word(is_known ? found->first : 0);
    case 12: return word(is_known ? found->second.size : 0);
    case 18: return word(is_known ? found->second.pages : 0);
    default: return;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) {
  is_initialised = true;
  return success;
}
int cuDriverGetVersion(int* number) {
  *number = version();
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = has_no_device() ? 0 : 1;
  return is_initialised ? success : not_initialised;
}
int cuDeviceGet(int* found, int ordinal) {
  if (!is_initialised) return not_initialised;
  *found = 0;
  return ordinal == 0 ? success : invalid_device;
}
int cuDeviceGetName(char* text, int capacity, int) {
  std::snprintf(text, static_cast<std::size_t>(capacity), "stand-in");
  return success;
}
int cuDeviceGetPCIBusId(char* text, int capacity, int) {
  std::snprintf(text, static_cast<std::size_t>(capacity), "0000:00:00.0");
  return success;
}
int cuDeviceGetUuid_v2(void* uuid, int) {
  std::memset(uuid, 0x5d, 16);
  return success;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int pageable_memory_access_uses_host_page_tables = 100;
  *value = attribute == pageable_memory_access_uses_host_page_tables && is_coherent() ? 1 : 0;
  return success;
}

int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  const std::lock_guard lock(mutex);
  *flags = 0;
  *active = references > 0 ? 1 : 0;
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  const std::lock_guard lock(mutex);
  ++references;
  *context = &the_context;
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(mutex);
  if (references == 0) return invalid_context;
  --references;
  return success;
}
int cuCtxGetCurrent(void** context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return is_initialised ? success : not_initialised;
}
int cuCtxSetCurrent(void* context) {
  if (!contexts.empty()) contexts.pop_back();
  if (context != nullptr) contexts.push_back(context);
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(context);
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return invalid_context;
  *context = contexts.back();
  contexts.pop_back();
  return success;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  *mode = 0;
  return is_initialised ? success : not_initialised;
}
int cuCtxSynchronize() { return success; }

int cuMemAlloc_v2(std::uint64_t* address, std::size_t size) { return allocate(address, size, device); }
int cuMemAllocManaged(std::uint64_t* address, std::size_t size, unsigned) { return allocate(address, size, managed); }
int cuMemAllocAsync(std::uint64_t* address, std::size_t size, void*) { return allocate(address, size, device); }
int cuMemAllocHost_v2(void** pointer, std::size_t size) {
  std::uint64_t address = 0;
  const int result = allocate(&address, size, host);
  if (result == success) *pointer = at(address);
  return result;
}
int cuMemFree_v2(std::uint64_t address) { return release(address); }
int cuMemFreeAsync(std::uint64_t address, void*) { return release(address); }
int cuMemFreeHost(void* pointer) { return release(reinterpret_cast<std::uint64_t>(pointer)); }
int cuMemGetAddressRange_v2(std::uint64_t* start, std::size_t* size, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto found = block_of(address, 1);
  if (found == blocks.end()) return invalid_value;
  *start = found->first;
  *size = found->second.size;
  return success;
}
int cuPointerGetAttributes(unsigned count, int* numbers, void** targets, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  if (!is_initialised) return not_initialised;
  for (unsigned i = 0; i < count; ++i) answer(numbers[i], targets[i], address);
  return success;
}

/// A memory file has no other offset than its start: ranges inside a block are refused, as some drivers refuse those
/// of pools.
int cuMemGetHandleForAddressRange(void* handle, std::uint64_t address, std::size_t size, int,
                                  unsigned long long flags) {
  const std::lock_guard lock(mutex);
  if (contexts.empty()) return invalid_context;
  constexpr unsigned long long over_pcie = 1;
  if (flags != 0 && !(flags == over_pcie && is_coherent())) return not_supported;
  const auto found = blocks.find(address);
  if (found == blocks.end() || found->second.kind != device || size > found->second.pages) return invalid_value;
  // Without close-on-exec, as NVIDIA's.
  const int file = refuses_mmap() ? ::open("/dev/null", O_RDWR) : ::dup(found->second.file);
  if (file < 0) return operating_system;
  std::memcpy(handle, &file, sizeof file);
  return success;
}

int cuMemcpyHtoD_v2(std::uint64_t target, const void* source, std::size_t size) {
  return copy(at(target), source, size, target);
}
int cuMemcpyDtoH_v2(void* target, std::uint64_t source, std::size_t size) {
  return copy(target, at(source), size, source);
}
int cuMemcpyHtoDAsync_v2(std::uint64_t target, const void* source, std::size_t size, void*) {
  return copy(at(target), source, size, target);
}
int cuMemcpyDtoHAsync_v2(void* target, std::uint64_t source, std::size_t size, void*) {
  return copy(target, at(source), size, source);
}
int cuMemcpy2DAsync_v2(const CudaMemcpy2d* wanted, void*) {
  for (std::size_t row = 0; row < wanted->height; ++row) {
    const std::uint64_t source = wanted->source_device + row * wanted->source_pitch;
    char* const target = static_cast<char*>(wanted->target_host) + row * wanted->target_pitch;
    if (const int result = copy(target, at(source), wanted->width, source); result != success) return result;
  }
  return success;
}

int cuStreamCreate(void** stream, unsigned) {
  *stream = &the_context;
  return contexts.empty() ? invalid_context : success;
}
int cuStreamDestroy_v2(void*) { return success; }
int cuStreamSynchronize(void*) { return success; }

}  // extern "C"
#pragma GCC visibility pop
